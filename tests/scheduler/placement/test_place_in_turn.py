"""What is kept from one job to the next, and placing a few at once, change no decision."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.scheduler.placement.builders import a_state, requests
from tests.scheduler.placement.clusters import clusters, jobs
from yurt.model.job import Job
from yurt.model.scheduler_configuration import SchedulerConfiguration
from yurt.model.wire import JobID
from yurt.scheduler.place import place_group
from yurt.scheduler.requests import PlacedGroup
from yurt.scheduler.selection import Selection
from yurt.scheduler.view import View
from yurt.state.state import State

some = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def place_in_turn(
    state: State, turns: list[tuple[Job, int]], algorithm: str, before_each: Callable[[View], None]
) -> list[PlacedGroup]:
    view = View(state)
    placed = []
    for number, (job, count) in enumerate(turns):
        before_each(view)
        placed.append(
            place_group(
                view,
                replace(job, id=JobID(f"job-{number}")),
                job.task_groups[0],
                requests(count),
                rng=Random(number),
                configuration=SchedulerConfiguration(scheduler_algorithm=algorithm),
            )
        )
    return placed


def drawn(data: st.DataObject) -> tuple[State, list[tuple[Job, int]], str]:
    kinds = data.draw(st.lists(jobs(special=data.draw(st.booleans())), min_size=1, max_size=3))
    made, allocs = data.draw(clusters(kinds[0]))
    turns = data.draw(
        st.lists(st.tuples(st.sampled_from(kinds), st.sampled_from([1, 1, 2, 7, 20])), min_size=2, max_size=8)
    )
    return a_state(made, allocs), turns, data.draw(st.sampled_from(["binpack", "spread", "balanced"]))


@some
@given(data=st.data())
def test_jobs_that_take_over_a_ranking_are_placed_as_without(data: st.DataObject) -> None:
    state, turns, algorithm = drawn(data)
    kept = place_in_turn(state, turns, algorithm, lambda view: None)
    assert kept == place_in_turn(state, turns, algorithm, lambda view: view.memo.clear())


@some
@given(data=st.data())
def test_a_few_are_placed_as_one_by_one(data: st.DataObject) -> None:
    state, turns, algorithm = drawn(data)
    at_once = place_in_turn(state, turns, algorithm, lambda view: None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Selection, "is_simple", False)
        assert at_once == place_in_turn(state, turns, algorithm, lambda view: None)
