"""Recorded scenarios against a real agent."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.real_agent import RealAgent, differences

SCENARIOS = (
    "alloc-fs",
    "alloc-logs",
    "eval",
    "job-history",
    "job-inspect",
    "job-periodic",
    "job-prefix",
    "job-run-batch",
    "job-run-check-index",
    "job-run-service",
    "job-scale",
    "namespace",
    "node-status",
    "usage",
)


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealAgent]:
    started = RealAgent(tmp_path_factory.mktemp("agent"))
    try:
        started.wait_until_ready()
        yield started
    finally:
        started.stop()


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_scenario_prints_what_was_recorded(agent: RealAgent, tmp_path: Path, scenario: str) -> None:
    found = [text for played in agent.play(scenario, tmp_path) if (text := differences(played))]
    agent.clear()
    assert not found, "\n\n".join(found)
