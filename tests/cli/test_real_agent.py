"""Recorded scenarios against a real agent."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.scenario_player import ScenarioPlayer, differences
from tests.support.real_agent import running_agent

SCENARIOS = (
    "alloc-exec",
    "alloc-fs",
    "alloc-lifecycle",
    "alloc-logs",
    "alloc-status",
    "deployment-auto-revert",
    "deployment-canary",
    "eval",
    "job-dispatch",
    "job-errors",
    "job-history",
    "job-inspect",
    "job-json",
    "job-periodic",
    "job-placement-failure",
    "job-plan",
    "job-plan-diff",
    "job-prefix",
    "job-run-batch",
    "job-run-check-index",
    "job-run-service",
    "job-scale",
    "job-status-more",
    "namespace",
    "node-status",
    "operator",
    "service",
    "terminal",
    "usage",
    "var",
    # Last, as a node remembers its drains.
    "node-drain",
)


@pytest.fixture(scope="module")
def player(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ScenarioPlayer]:
    """A player with an agent that all scenarios share."""
    with running_agent(tmp_path_factory.mktemp("agent")) as agent:
        yield ScenarioPlayer(agent)


def test_access_is_controlled_as_recorded(tmp_path: Path) -> None:
    with running_agent(tmp_path / "agent", more_config="acl {\n  enabled = true\n}\n") as agent:
        played = ScenarioPlayer(agent).play("acl", tmp_path)
        found = [text for one in played if (text := differences(one))]
    assert not found, "\n\n".join(found)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_scenario_prints_what_was_recorded(player: ScenarioPlayer, tmp_path: Path, scenario: str) -> None:
    found = [text for played in player.play(scenario, tmp_path) if (text := differences(played))]
    player.clear()
    assert not found, "\n\n".join(found)
