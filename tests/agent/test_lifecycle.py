"""Tasks of a group run in order, and end because of each other, as their lifecycle says."""

from __future__ import annotations

import pytest

from tests.agent.builders import a_task
from yurt.agent.alloc_runner.lifecycle import (
    LeaderDead,
    MainTasksDead,
    Phase,
    Role,
    SiblingFailed,
    kill_cause,
    may_run,
    next_phase,
    role,
)
from yurt.model.task_parts import TaskLifecycle
from yurt.model.task_state import TASK_DEAD, TASK_PENDING, TASK_RUNNING, TaskState

STATES = {
    "pending": TaskState(state=TASK_PENDING),
    "running": TaskState(state=TASK_RUNNING),
    "dead": TaskState(state=TASK_DEAD),
    "failed": TaskState(state=TASK_DEAD, failed=True),
}
TASKS = {
    "pre": a_task("pre", lifecycle=TaskLifecycle(hook="prestart")),
    "preside": a_task("preside", lifecycle=TaskLifecycle(hook="prestart", sidecar=True)),
    "main": a_task("main"),
    "post": a_task("post", lifecycle=TaskLifecycle(hook="poststart")),
    "postside": a_task("postside", lifecycle=TaskLifecycle(hook="poststart", sidecar=True)),
    "stop": a_task("stop", lifecycle=TaskLifecycle(hook="poststop")),
}


def states(**given: str) -> dict[str, TaskState]:
    return {name: STATES[state] for name, state in given.items()}


def roles(*names: str) -> dict[str, Role]:
    return {name: role(TASKS[name]) for name in names}


@pytest.mark.parametrize(
    ("before", "given", "after"),
    [
        pytest.param(Phase.INIT, {"main": "pending"}, Phase.MAIN, id="no prestart tasks"),
        pytest.param(Phase.INIT, {"pre": "pending", "main": "pending"}, Phase.PRESTART, id="prestart first"),
        pytest.param(Phase.INIT, {"pre": "pending", "main": "running"}, Phase.INIT, id="all must be pending"),
        pytest.param(
            Phase.PRESTART,
            {"pre": "dead", "preside": "pending", "main": "pending"},
            Phase.PRESTART,
            id="sidecar not up yet",
        ),
        pytest.param(
            Phase.PRESTART,
            {"pre": "dead", "preside": "running", "main": "pending"},
            Phase.MAIN,
            id="prestart over",
        ),
        pytest.param(
            Phase.PRESTART,
            {"pre": "failed", "main": "pending"},
            Phase.PRESTART,
            id="a failed prestart task lets nobody past",
        ),
        pytest.param(
            Phase.MAIN,
            {"main": "running", "post": "pending"},
            Phase.POSTSTART,
            id="main tasks up",
        ),
        pytest.param(
            Phase.POSTSTART, {"main": "running", "post": "running"}, Phase.POSTSTART, id="poststart"
        ),
        pytest.param(Phase.POSTSTART, {"main": "running", "post": "dead"}, Phase.WAIT, id="poststart over"),
        pytest.param(Phase.WAIT, {"main": "running", "stop": "pending"}, Phase.WAIT, id="main still runs"),
        pytest.param(Phase.WAIT, {"main": "dead", "stop": "pending"}, Phase.POSTSTOP, id="poststop's turn"),
        pytest.param(
            Phase.PRESTART,
            {"pre": "failed", "main": "dead", "stop": "pending"},
            Phase.POSTSTOP,
            id="poststop runs after failures, too",
        ),
    ],
)
def test_phases(before: Phase, given: dict[str, str], after: Phase) -> None:
    assert next_phase(before, roles(*given), states(**given)) is after


@pytest.mark.parametrize(
    ("phase", "allowed"),
    [
        (Phase.INIT, set()),
        (Phase.PRESTART, {"pre", "preside"}),
        (Phase.MAIN, {"pre", "preside", "main"}),
        (Phase.POSTSTART, {"pre", "preside", "main", "post", "postside"}),
        (Phase.WAIT, {"preside", "main", "postside"}),
        (Phase.POSTSTOP, {"stop"}),
    ],
)
def test_who_may_run(phase: Phase, allowed: set[str]) -> None:
    assert {name for name, task in TASKS.items() if may_run(role(task), phase)} == allowed


@pytest.mark.parametrize(
    ("given", "cause"),
    [
        pytest.param({"main": "running", "pre": "dead"}, None, id="all well"),
        pytest.param({"main": "pending", "pre": "failed"}, SiblingFailed("pre"), id="sibling"),
        pytest.param({"main": "failed"}, None, id="nobody left to kill"),
        pytest.param({"main": "dead", "preside": "running"}, MainTasksDead(), id="sidecars left"),
        pytest.param({"main": "pending", "preside": "running"}, None, id="the main task is still to come"),
        pytest.param({"main": "dead", "stop": "running"}, None, id="poststop tasks are let alone"),
        pytest.param({"main": "running", "stop": "failed"}, None, id="a failed poststop task kills nobody"),
    ],
)
def test_why_the_others_must_end(given: dict[str, str], cause: object) -> None:
    assert kill_cause(TASKS, roles(*given), states(**given)) == cause


def test_a_dead_leader_takes_the_others_along() -> None:
    tasks = TASKS | {"main": a_task("main", leader=True), "other": a_task("other")}
    given = states(main="dead", other="running")
    cause = kill_cause(tasks, {"main": Role.MAIN, "other": Role.MAIN}, given)

    assert cause == LeaderDead()
