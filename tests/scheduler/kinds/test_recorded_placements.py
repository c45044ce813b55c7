"""Recorded placements come out the same: what failed and why, which nodes, and with which scores.

Exact where the recordings agree with each other. Which of equal nodes is taken is up to chance, and so
is how many nodes were looked at before: here it is always all of them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from tests.scheduler.kinds import recorded_outlines as outlines
from tests.scheduler.kinds.test_recorded_decisions import Replay
from tests.scheduler.kinds.test_recorded_dry_runs import in_json, run_dry
from yurt.api.v1.alloc_views import alloc_metric
from yurt.model.alloc import Allocation

Recording = dict[str, Any]

SCENARIOS = [
    "affinities",
    "binpack-two-nodes",
    "constraint-operators",
    "devices",
    "distinct-hosts",
    "driver-health-class",
    "exhausted-dimensions",
    "job-anti-affinity",
    "memory-oversubscription",
    "node-pools",
    "ports",
    "ports-ignore-collision",
    "preemption-defaults",
    "preemption-many-small",
    "preemption-service",
    "preemption-system-many",
    "sampling-and-classes",
    "spread-even",
    "spread-percent",
    "spread-two-groups",
]
# Where we decided otherwise, or chance decided there: docs/decisions/0004-scheduling-quirks.md.
NOT_COMPARED = {
    # Q15: there, the weights of a job's spreads add up over its groups.
    "spread-two-groups": {"scores"},
}
# Of what follows, Nomad leaves some to chance that came out the same way twice.
BY_CHANCE_FROM = {
    # A port shared through ignore_collision makes every later selection on the node a coin-flip there.
    "ports": 7,
}
# Nodes whose names begin alike are alike.
ALIKE = {"spread-percent"}
FAILED, NODES, ALLOCS = "FailedTGAllocs", "NodeChoice", "Allocations"
SCORE_DIGITS = 9
# These were recorded as soon as nothing was left to place.
SETTLE_S = 1.0
# Always another time; and as many as were looked at until enough were found.
_VOLATILE = {"AllocationTime", "ScoreMetaData"}


def failed_metric(metric: Recording) -> Recording:
    return {name: value for name, value in metric.items() if name not in _VOLATILE}


def failures(evaluation: Recording) -> Recording:
    return {group: failed_metric(metric) for group, metric in (evaluation.get(FAILED) or {}).items()}


def scores(metric: Recording) -> dict[str, Recording]:
    """The scores of each node, those that are zero left out."""
    return {
        one["NodeID"]: {
            name: round(value, SCORE_DIGITS)
            for name, value in (*one["Scores"].items(), ("mean", one["NormScore"]))
            if value
        }
        for one in metric.get("ScoreMetaData") or ()
    }


class Differing:
    """The steps at which one aspect differed between the two recordings, and all after them."""

    def __init__(self, recording: Recording) -> None:
        self._steps: dict[str, list[int]] = recording["DiffersBetweenRecordings"]

    def is_exact(self, aspect: str, number: int) -> bool:
        """Whether an aspect was the same both times, up to this step."""
        return all(step > number for step in self._steps.get(aspect, ()))


@pytest.mark.parametrize("name", SCENARIOS)
def test_recorded_placements(name: str) -> None:
    replay = Replay(name, settle_s=SETTLE_S)
    exact = Differing(replay.recording)
    problems: list[str] = []
    for number, step in enumerate(replay.recording["Steps"][: BY_CHANCE_FROM.get(name)]):
        replay.play(number)
        where = f"step {number}, {step['Do']} {((step.get('Request') or {}).get('Job') or {}).get('ID', '')}"
        if step["Do"] == "plan job":
            if isinstance(step["Response"], dict):
                run, recorded = run_dry(replay, step), step["Response"]
                ours = {g: failed_metric(in_json(m)) for g, m in (run.failed_tg_allocs or {}).items()}
                check(problems, where, FAILED, ours, failures(recorded))
            continue
        compare(problems, where, replay, partial(exact.is_exact, number=number))
    assert not problems, "\n".join(problems)


def check(problems: list[str], where: str, what: str, ours: Any, theirs: Any) -> None:
    if ours == theirs:
        return
    if isinstance(ours, Counter):
        problems.append(f"{where}: {what}\n   ours   {dict(ours - theirs)}\n   theirs {dict(theirs - ours)}")
    elif isinstance(ours, list):
        problems.append(
            f"{where}: {what}\n   ours   {[o for o in ours if o not in theirs]}\n"
            f"   theirs {[o for o in theirs if o not in ours]}"
        )
    else:
        problems.append(f"{where}: {what}\n   ours   {ours}\n   theirs {theirs}")


def compare(problems: list[str], where: str, replay: Replay, exact: Callable[[str], bool]) -> None:
    """Compare what was placed where and why; when deployments move on is up to the moment."""
    state, recorded = replay.cluster.state, replay.recorded
    if exact(ALLOCS):
        check(problems, where, ALLOCS, Counter(map(placed, state.allocs)), recorded_placed(recorded))
    if exact(FAILED):
        ours = [in_json(one) for one in state.evals]
        check(problems, where, FAILED, failed_of(ours), failed_of(recorded.all("Evaluations")))
    if exact(NODES):
        size = 1 if replay.name in ALIKE else None
        mine = [
            (alloc.name, alloc.node_name[:size]) for alloc in state.allocs if alloc.desired_status == "run"
        ]
        other = [
            (a["Name"], a["NodeName"][:size])
            for a in recorded.all("Allocations")
            if a["DesiredStatus"] == "run"
        ]
        check(problems, where, NODES, Counter(mine), Counter(other))
    if "scores" in NOT_COMPARED.get(replay.name, ()):
        return
    by_place = {(a["Name"], a["NodeID"]): a["Metrics"] for a in recorded.all("Allocations")}
    for alloc in state.allocs:
        if (alloc.name, alloc.node_id) in by_place and exact(NODES):
            mine_here = scores(in_json(alloc_metric(alloc.metrics)))
            there = scores(by_place[alloc.name, alloc.node_id])
            both = mine_here.keys() & there.keys()
            what = f"scores of {alloc.name}"
            check(problems, where, what, {n: mine_here[n] for n in both}, {n: there[n] for n in both})


def placed(alloc: Allocation) -> str:
    victims = len(alloc.preempted_allocations)
    return f"{alloc.name} {alloc.desired_status} {alloc.client_status} victims {victims}"


def recorded_placed(recorded: outlines.Recorded) -> Counter[str]:
    return Counter(
        f"{one['Name']} {one['DesiredStatus']} {one['ClientStatus']} "
        f"victims {len(one.get('PreemptedAllocations') or ())}"
        for one in recorded.all("Allocations")
    )


def failed_of(evaluations: list[Recording]) -> list[str]:
    """What registrations could not place; later evaluations come at moments of their own."""
    return sorted(
        json.dumps([one["JobID"], failures(one)], sort_keys=True)
        for one in evaluations
        if one.get(FAILED) and one["TriggeredBy"] == "job-register"
    )
