"""Ways out of an allocation's directory: through the file API, templates, artifacts, payloads, volumes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.support.real_agent import RealAgent, running_agent

SECRET = "what-nobody-should-see"


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("outside")
    (directory / "secret").write_text(SECRET)
    return directory


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealAgent]:
    with running_agent(tmp_path_factory.mktemp("escapes")) as agent:
        yield agent


def a_job(job_id: str, script: str = "exit 0", **task: Any) -> dict[str, Any]:
    whole = {
        "Name": "t",
        "Driver": "raw_exec",
        "Config": {"command": "/bin/sh", "args": ["-c", script]},
        "RestartPolicy": {"Attempts": 0, "Mode": "fail"},
        **task,
    }
    group = {
        "Name": "g",
        "Tasks": [whole],
        "RestartPolicy": {"Attempts": 0, "Mode": "fail"},
        "ReschedulePolicy": {"Attempts": 0, "Unlimited": False},
    }
    return {"ID": job_id, "Type": "batch", "TaskGroups": [group]}


def ended(agent: RealAgent, job: dict[str, Any]) -> dict[str, Any]:
    """Run a job to its end; returns its allocation."""
    registered = agent.call("PUT", "/v1/jobs", {"Job": job})
    assert registered.status == 200, registered.text
    allocs = agent.wait_for(
        f"/v1/job/{job['ID']}/allocations",
        lambda found: found and found[0]["ClientStatus"] in ("complete", "failed"),
    )
    alloc: dict[str, Any] = allocs[0]
    return alloc


def events_of(alloc: dict[str, Any]) -> str:
    return "\n".join(event["DisplayMessage"] for event in alloc["TaskStates"]["t"]["Events"])


@pytest.fixture(scope="module")
def linked(agent: RealAgent, outside: Path) -> dict[str, Any]:
    """An allocation whose task has left links that lead out of it."""
    script = (
        f"ln -s {outside}/secret $NOMAD_TASK_DIR/file; ln -s {outside} $NOMAD_TASK_DIR/dir; "
        f"ln -s ../../../../../../../../../..{outside}/secret $NOMAD_TASK_DIR/dots; "
        f"ln -s /proc/self/root $NOMAD_TASK_DIR/root; mkfifo $NOMAD_TASK_DIR/pipe; "
        f"rm -rf $NOMAD_ALLOC_DIR/logs/t.stdout.9; ln -s {outside}/secret $NOMAD_ALLOC_DIR/logs/t.stdout.9"
    )
    return ended(agent, a_job("linked", script))


@pytest.mark.parametrize("route", ["cat", "readat", "stat", "ls", "stream"])
@pytest.mark.parametrize(
    "path",
    [
        "../../../../../../../../../..{outside}/secret",
        "t/local/../../../../../../../../..{outside}/secret",
        "t/local/file",
        "t/local/dir/secret",
        "t/local/dots",
        "t/local/root{outside}/secret",
        "t/local/root/etc/passwd",
        "t/local/./dir/../dir/secret",
    ],
)
def test_the_file_api_shows_nothing_outside(
    agent: RealAgent, linked: dict[str, Any], outside: Path, route: str, path: str
) -> None:
    asked = quote(path.format(outside=outside), safe="")
    more = "&offset=0&limit=100&follow=false"
    answer = agent.call("GET", f"/v1/client/fs/{route}/{linked['ID']}?path={asked}{more}")
    assert SECRET not in answer.text
    assert "root:" not in answer.text
    if route in ("cat", "readat"):  # which tell of failures in their text
        assert answer.text == "Path escapes the alloc directory"


def test_a_pipe_does_not_hold_the_agent(agent: RealAgent, linked: dict[str, Any]) -> None:
    assert agent.call("GET", f"/v1/client/fs/cat/{linked['ID']}?path=t/local/pipe").status in (200, 500)
    assert agent.call("GET", "/v1/status/leader").status == 200


def test_logs_that_are_links_show_nothing_outside(agent: RealAgent, linked: dict[str, Any]) -> None:
    answer = agent.call(
        "GET", f"/v1/client/fs/logs/{linked['ID']}?task=t&type=stdout&plain=true&follow=false"
    )
    assert SECRET not in answer.text


@pytest.mark.parametrize("name", ["t/../../../secret", "..", "t%2f..%2f..", "/etc/passwd"])
def test_log_names_are_names(agent: RealAgent, linked: dict[str, Any], name: str) -> None:
    task = quote(name, safe="")
    answer = agent.call("GET", f"/v1/client/fs/logs/{linked['ID']}?task={task}&type=stdout&plain=true")
    assert answer.status >= 400


@pytest.mark.parametrize(
    ("job_id", "template", "complaint"),
    [
        pytest.param(
            "template-to",
            {"EmbeddedTmpl": "x", "DestPath": "../../../../../../../../../../..{outside}/written"},
            "escapes",
            id="written outside",
        ),
        pytest.param(
            "template-from",
            {"SourcePath": "../../../../../../../../../../..{outside}/secret", "DestPath": "local/x"},
            "escapes",
            id="read from outside",
        ),
    ],
)
def test_templates_stay_inside(
    agent: RealAgent, outside: Path, job_id: str, template: dict[str, str], complaint: str
) -> None:
    filled = {key: value.format(outside=outside) for key, value in template.items()}
    job = a_job(job_id, "cat local/x", Templates=[filled])
    registered = agent.call("PUT", "/v1/jobs", {"Job": job})
    if registered.status == 200:
        alloc = ended(agent, job)
        assert alloc["ClientStatus"] == "failed"
        assert complaint in events_of(alloc)
        assert SECRET not in events_of(alloc)
    else:
        assert complaint in registered.text
    assert sorted(path.name for path in outside.iterdir()) == ["secret"]


def test_templates_read_no_files_outside(agent: RealAgent, outside: Path) -> None:
    read = f'{{{{ file "{outside}/secret" }}}}'
    job = a_job("template-file", Templates=[{"EmbeddedTmpl": read, "DestPath": "local/x"}])
    alloc = ended(agent, job)
    assert alloc["ClientStatus"] == "failed"
    assert "is outside of sandbox" in events_of(alloc)
    assert SECRET not in events_of(alloc)


def test_artifacts_stay_inside(agent: RealAgent, outside: Path) -> None:
    artifact = {"GetterSource": f"file://{outside}/secret", "RelativeDest": "local"}
    from_host = ended(agent, a_job("artifact-from", Artifacts=[artifact]))
    assert from_host["ClientStatus"] == "failed"
    escaping = {**artifact, "RelativeDest": f"../../../../../../../../../..{outside}"}
    job = a_job("artifact-to", Artifacts=[escaping])
    assert agent.call("PUT", "/v1/jobs", {"Job": job}).status >= 400
    assert sorted(path.name for path in outside.iterdir()) == ["secret"]


def test_payloads_stay_inside(agent: RealAgent, outside: Path) -> None:
    job = a_job("payload", DispatchPayload={"File": f"../../../../../../../../../..{outside}/written"})
    job["ParameterizedJob"] = {"Payload": "required"}
    registered = agent.call("PUT", "/v1/jobs", {"Job": job})
    if registered.status == 200:
        sent = agent.call("POST", "/v1/job/payload/dispatch", {"Payload": "eA=="})
        child = sent.json["DispatchedJobID"]
        (alloc,) = agent.wait_for(
            f"/v1/job/{quote(child, safe='')}/allocations",
            lambda found: found and found[0]["ClientStatus"] in ("complete", "failed"),
        )
        assert alloc["ClientStatus"] == "failed"
    assert sorted(path.name for path in outside.iterdir()) == ["secret"]


def test_volumes_are_those_the_operator_named(agent: RealAgent) -> None:
    job = a_job("volume")
    job["TaskGroups"][0]["Volumes"] = {"v": {"Name": "v", "Type": "host", "Source": "../../etc"}}
    agent.call("PUT", "/v1/jobs", {"Job": job})
    evals = agent.wait_for(
        "/v1/job/volume/evaluations", lambda found: any(one["Status"] == "complete" for one in found)
    )
    assert any(one.get("FailedTGAllocs") for one in evals)
    assert agent.call("GET", "/v1/job/volume/allocations").json == []
