"""Which tasks of an allocation may run, and when some must end because of others."""

from __future__ import annotations

import enum
from collections.abc import Mapping

import msgspec

from yurt.model.task import Task
from yurt.model.task_state import TASK_DEAD, TASK_PENDING, TASK_RUNNING, TaskState

PRESTART = "prestart"
POSTSTART = "poststart"
POSTSTOP = "poststop"


class Role(enum.Enum):
    """What a task is for in its group."""

    MAIN = enum.auto()
    PRESTART = enum.auto()
    PRESTART_SIDECAR = enum.auto()
    POSTSTART = enum.auto()
    POSTSTART_SIDECAR = enum.auto()
    POSTSTOP = enum.auto()

    @property
    def is_sidecar(self) -> bool:
        """Whether the task runs beside the main tasks and ends with them."""
        return self in (Role.PRESTART_SIDECAR, Role.POSTSTART_SIDECAR)


class Phase(enum.IntEnum):
    """How far an allocation has come. Phases only follow each other, until all tasks are restarted."""

    INIT = 0
    PRESTART = 1
    MAIN = 2
    POSTSTART = 3
    WAIT = 4
    POSTSTOP = 5


_ALLOWED = {
    Phase.INIT: frozenset[Role](),
    Phase.PRESTART: frozenset((Role.PRESTART, Role.PRESTART_SIDECAR)),
    Phase.MAIN: frozenset((Role.PRESTART, Role.PRESTART_SIDECAR, Role.MAIN)),
    Phase.POSTSTART: frozenset(Role) - {Role.POSTSTOP},
    Phase.WAIT: frozenset((Role.MAIN, Role.PRESTART_SIDECAR, Role.POSTSTART_SIDECAR)),
    Phase.POSTSTOP: frozenset((Role.POSTSTOP,)),
}


class SiblingFailed(msgspec.Struct, frozen=True, tag=True):
    """A task failed, so the others must end."""

    task: str


class LeaderDead(msgspec.Struct, frozen=True, tag=True):
    """The leader ended, so the others must."""


class MainTasksDead(msgspec.Struct, frozen=True, tag=True):
    """Only sidecars are left, so they must end."""


def role(task: Task) -> Role:
    """What `task` is for."""
    lifecycle = task.lifecycle
    match lifecycle.hook if lifecycle else "":
        case "prestart":
            return Role.PRESTART_SIDECAR if lifecycle and lifecycle.sidecar else Role.PRESTART
        case "poststart":
            return Role.POSTSTART_SIDECAR if lifecycle and lifecycle.sidecar else Role.POSTSTART
        case "poststop":
            return Role.POSTSTOP
        case _:
            return Role.MAIN


def may_run(role: Role, phase: Phase) -> bool:
    """Whether a task of this role may be started in this phase."""
    return role in _ALLOWED[phase]


def next_phase(phase: Phase, roles: Mapping[str, Role], states: Mapping[str, TaskState]) -> Phase:
    """Go on to the phase that the states of the tasks allow."""
    while phase < Phase.POSTSTOP:
        if _all_dead_but_poststop(roles, states):
            return Phase.POSTSTOP
        if not _is_over(phase, roles, states):
            break
        phase = Phase(phase + 1)
    return phase


def kill_cause(
    tasks: Mapping[str, Task], roles: Mapping[str, Role], states: Mapping[str, TaskState]
) -> SiblingFailed | LeaderDead | MainTasksDead | None:
    """Why the tasks that still live must end now; None when they need not, or none is left."""
    ordinary = [name for name, role in roles.items() if role is not Role.POSTSTOP]
    dead = [name for name in ordinary if states[name].state == TASK_DEAD]
    live = [name for name in ordinary if states[name].state != TASK_DEAD]
    if not live:
        return None
    for name in dead:
        if states[name].failed:
            return SiblingFailed(name)
    if any(tasks[name].leader for name in dead):
        return LeaderDead()
    if all(roles[name].is_sidecar for name in live):
        return MainTasksDead()
    return None


def _is_over(phase: Phase, roles: Mapping[str, Role], states: Mapping[str, TaskState]) -> bool:
    def states_of(*wanted: Role) -> list[TaskState]:
        return [states[name] for name, role in roles.items() if role in wanted]

    match phase:
        case Phase.INIT:
            return all(state.state == TASK_PENDING for state in states.values())
        case Phase.PRESTART:
            return all(
                state.state == TASK_DEAD and not state.failed for state in states_of(Role.PRESTART)
            ) and all(state.state == TASK_RUNNING for state in states_of(Role.PRESTART_SIDECAR))
        case Phase.MAIN:
            return all(state.state != TASK_PENDING for state in states_of(Role.MAIN))
        case Phase.POSTSTART:
            return all(state.state == TASK_DEAD for state in states_of(Role.POSTSTART))
        case _:
            return False  # the end of WAIT is that all are dead, which the caller looks at


def _all_dead_but_poststop(roles: Mapping[str, Role], states: Mapping[str, TaskState]) -> bool:
    return all(states[name].state == TASK_DEAD for name, role in roles.items() if role is not Role.POSTSTOP)
