"""The verdict of every node, over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.real_agent import RealAgent, running_agent


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealAgent]:
    directory: Path = tmp_path_factory.mktemp("placements")
    with running_agent(directory) as agent:
        yield agent


def _job(job_id: str, **group: object) -> dict[str, object]:
    task = {
        "Name": "t",
        "Driver": "raw_exec",
        "Config": {"command": "/bin/sleep", "args": ["1000"]},
        "Resources": {"CPU": 10, "MemoryMB": 10},
    }
    return {"Job": {"ID": job_id, "TaskGroups": [{"Name": "g", "Tasks": [task], **group}]}}


def test_a_node_that_suits_tells_its_scores(agent: RealAgent) -> None:
    registered = agent.call("PUT", "/v1/jobs", _job("fits")).json

    answer = agent.call("GET", f"/v1/evaluation/{registered['EvalID']}/placements")

    (verdict,) = answer.json["Groups"]["g"]
    assert (verdict["Verdict"], verdict["NodeName"]) == ("suits", "node1")
    assert 0 < verdict["Scores"]["binpack"] < 1


def test_a_node_that_is_turned_away_tells_the_rule_and_the_values(agent: RealAgent) -> None:
    constraint = {"LTarget": "${attr.kernel.name}", "Operand": "=", "RTarget": "plan9"}
    agent.call("PUT", "/v1/jobs", _job("elsewhere", Constraints=[constraint]))

    (verdict,) = agent.call("GET", "/v1/job/elsewhere/placements").json["Groups"]["g"]

    assert verdict["Verdict"] == "filtered"
    assert verdict["Rule"] == "${attr.kernel.name} = plan9"
    assert (verdict["Found"], verdict["Wanted"]) == ("linux", "plan9")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        pytest.param("/v1/job/nothing/placements", "job not found", id="unknown job"),
        pytest.param("/v1/job/fits/placements?group=x", 'job "fits" has no group "x"', id="unknown group"),
        pytest.param(
            "/v1/evaluation/00000000-0000-0000-0000-000000000000/placements",
            "eval not found",
            id="unknown evaluation",
        ),
    ],
)
def test_what_is_not_there_is_a_404(agent: RealAgent, path: str, text: str) -> None:
    agent.call("PUT", "/v1/jobs", _job("fits"))
    answer = agent.call("GET", path)
    assert (answer.status, answer.text) == (404, text)
