"""Yurt answers as Nomad answered: every recorded conversation, played against a real agent."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.api.recordings.expected import EXPECTED_DIFFERENCES
from tests.api.recordings.player import FOLDER, Player, Scenario
from tests.api.recordings.unrecorded import CORRECTED, IMPATIENT, UNRECORDED
from tests.support.real_agent import running_agent

# These leave traces, so they come last: a node remembers its drain, and one that was forgotten is back
# only with its next sign of life.
LAST = ("", "node_drain", "node_purge")
SCENARIOS = sorted(
    # Those with ACLs on need an agent of their own: see test_acl_recordings.py.
    (path.stem for path in FOLDER.glob("*.json") if not path.stem.startswith("acl_")),
    key=lambda name: (LAST.index(name) if name in LAST else 0, name),
)


@pytest.fixture(scope="module")
def player(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Player]:
    """A player with an agent that all scenarios share."""
    directory = tmp_path_factory.mktemp("recordings")
    with running_agent(directory, more_config="telemetry {\n  prometheus_metrics = true\n}\n") as agent:
        yield Player(agent)


@pytest.mark.parametrize("name", SCENARIOS)
def test_answers_are_those_recorded(player: Player, name: str) -> None:
    scenario = Scenario(name)
    player.begin(scenario)
    before = UNRECORDED.get(name, {})
    found: list[str] = []
    for step in scenario.steps:
        if step["step"] in before:
            before[step["step"]](player)
        place = (name, step["step"])
        found += player.play(step, CORRECTED.get(place), is_waited_for=place not in IMPATIENT)
    player.clear()
    meant = [start for where, start in EXPECTED_DIFFERENCES if where == name]
    unexpected = [one for one in found if not any(one.startswith(start) for start in meant)]
    assert not unexpected, "\n".join(unexpected)
    gone = [start for start in meant if not any(one.startswith(start) for one in found)]
    assert not gone, f"these differences are gone, take them off their list: {gone}"
