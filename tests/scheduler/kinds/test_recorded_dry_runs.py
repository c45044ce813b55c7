"""Recorded dry runs come out the same: the diff, its notes, and what would be done."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import msgspec
import pytest

from tests.scheduler.kinds import recorded_outlines as outlines
from tests.scheduler.kinds.test_recorded_decisions import RECORDINGS, Replay
from yurt.scheduler.dry_run import DryRun, dry_run

Step = tuple[int, dict[str, Any]]


def planned_steps(name: str) -> list[Step]:
    steps = json.loads((RECORDINGS / f"{name}.json").read_text())["Steps"]
    return [
        (number, step)
        for number, step in enumerate(steps)
        if step["Do"] == "plan job" and isinstance(step["Response"], dict)
    ]


def run_dry(replay: Replay, step: dict[str, Any]) -> DryRun:
    cluster = replay.cluster
    job = cluster.canonical(step["Request"]["Job"])
    before = cluster.state.index
    run = dry_run(cluster.state, job, now=cluster.now, rng=Random(1), with_diff=True)
    assert cluster.state.index == before
    return run


def in_json(value: Any) -> Any:
    return json.loads(msgspec.json.encode(value))


def counts(metrics: dict[str, Any] | None) -> dict[str, Any]:
    """Why groups were not placed, without how long that took."""
    return {
        group: {name: value for name, value in metric.items() if name != "AllocationTime"}
        for group, metric in (metrics or {}).items()
    }


@pytest.mark.parametrize(
    "name", ["plan-diff", "rolling-update", "canary-promote", "system-update", "preemption-system-many"]
)
def test_recorded_dry_runs(name: str) -> None:
    replay = Replay(name)
    planned = dict(planned_steps(name))
    for number, step in enumerate(replay.recording["Steps"]):
        replay.play(number)
        if number not in planned:
            continue
        run, recorded = run_dry(replay, step), step["Response"]
        where = f"step {number}"
        desired = {g: outlines.counts_of(d) for g, d in (run.annotations.desired_tg_updates or {}).items()}
        assert desired == {
            group: {name: n for name, n in counts.items() if n}
            for group, counts in recorded["Annotations"]["DesiredTGUpdates"].items()
        }, where
        assert counts(in_json(run.failed_tg_allocs)) == counts(recorded["FailedTGAllocs"]), where
        created = [(one.triggered_by, one.status) for one in run.created_evals or ()]
        assert created == [(e["TriggeredBy"], e["Status"]) for e in recorded["CreatedEvals"] or []], where
        assert in_json(run.diff) == recorded["Diff"], where


def test_one_changed_field_at_a_time_is_in_place_or_destructive() -> None:
    replay = Replay("update-kinds")
    replay.play(0)
    for number, step in planned_steps("update-kinds"):
        run = run_dry(replay, step)
        desired = (run.annotations.desired_tg_updates or {})["g"]
        recorded = step["Response"]["Annotations"]["DesiredTGUpdates"]["g"]
        expected = {name: n for name, n in recorded.items() if n}
        assert outlines.counts_of(desired) == expected, f"step {number}: {step['Change']}"
