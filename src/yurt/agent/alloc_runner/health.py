"""Whether an allocation is healthy enough for its deployment, or its drain, to go on."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from yurt.agent.alloc_runner.lifecycle import Role
from yurt.model.client_protocol import ClientAlloc
from yurt.model.durations import duration_text
from yurt.model.group import TaskGroup
from yurt.model.job import SERVICE, SYSTEM
from yurt.model.policies import MigrateStrategy
from yurt.model.task_state import TASK_DEAD, TASK_PENDING, TaskState
from yurt.model.times import MINUTE_NS, SECOND_NS, time_ns
from yurt.model.wire import Nanoseconds

MANUAL = "manual"
CHECKS = "checks"
# What a job without a `migrate` block gets.
_MIGRATE_DEFAULT = MigrateStrategy(min_healthy_time=10 * SECOND_NS, healthy_deadline=5 * MINUTE_NS)


class HealthRules(msgspec.Struct, frozen=True, kw_only=True):
    """When an allocation counts as healthy."""

    min_healthy_time: Nanoseconds
    healthy_deadline: Nanoseconds
    uses_checks: bool


class Healthy(msgspec.Struct, frozen=True, tag=True):
    """All is well, for good."""


class Unhealthy(msgspec.Struct, frozen=True, tag=True):
    """It did not work out, for good."""


class Undecided(msgspec.Struct, frozen=True, tag=True):
    """Look again when a task's state changes, at the latest at `until`."""

    until: Nanoseconds


def health_rules(alloc: ClientAlloc, group: TaskGroup) -> HealthRules | None:
    """The rules for an allocation; None when nobody waits for its health."""
    if alloc.job.type not in (SERVICE, SYSTEM):
        return None
    if alloc.deployment_id:
        update = group.update
        if update is None or update.health_check == MANUAL or update.max_parallel == 0:
            return None
        return HealthRules(
            min_healthy_time=update.min_healthy_time,
            healthy_deadline=update.healthy_deadline,
            uses_checks=update.health_check == CHECKS,
        )
    migrate = group.migrate or _MIGRATE_DEFAULT
    return HealthRules(
        min_healthy_time=migrate.min_healthy_time,
        healthy_deadline=migrate.healthy_deadline,
        uses_checks=migrate.health_check == CHECKS,
    )


def judge_health(
    rules: HealthRules,
    roles: Mapping[str, Role],
    states: Mapping[str, TaskState],
    *,
    checks_passing_since: Nanoseconds | None,
    watched_since: Nanoseconds,
    now: Nanoseconds,
) -> Healthy | Unhealthy | Undecided:
    """Judge by the tasks, all up for `min_healthy_time` and none failed, and by their services' checks.

    `checks_passing_since` is None while a check does not pass, and 0 when there is none.
    """
    counted = {name: states[name] for name, role in roles.items() if role is not Role.POSTSTOP}
    if any(_is_bad(roles[name], state) for name, state in counted.items()):
        return Unhealthy()
    deadline = watched_since + rules.healthy_deadline
    if now >= deadline:
        return Unhealthy()
    if any(state.state == TASK_PENDING for state in counted.values()):
        return Undecided(deadline)
    well_since = max((time_ns(state.started_at) for state in counted.values()), default=0)
    if rules.uses_checks:
        if checks_passing_since is None:
            return Undecided(deadline)
        well_since = max(well_since, checks_passing_since)
    healthy_at = well_since + rules.min_healthy_time
    return Healthy() if now >= healthy_at else Undecided(min(healthy_at, deadline))


def unhealthy_reasons(
    rules: HealthRules,
    roles: Mapping[str, Role],
    states: Mapping[str, TaskState],
    *,
    are_checks_passing: bool,
    now: Nanoseconds,
) -> dict[str, str]:
    """Say for each task what it lacked; tasks that did their part are left out."""
    reasons = {}
    by_deadline = f"by healthy_deadline of {duration_text(rules.healthy_deadline)}"
    for name, role in roles.items():
        state = states[name]
        if role is Role.POSTSTOP:
            continue
        if state.failed:
            reasons[name] = "Unhealthy because of failed task"
        elif state.state == TASK_PENDING:
            reasons[name] = f"Task not running {by_deadline}"
        elif state.state == TASK_DEAD:
            if _is_bad(role, state):
                reasons[name] = "Unhealthy because of dead task"
        elif not are_checks_passing and _has_been_up(state, rules, now):
            reasons[name] = "Services not healthy by deadline"
        else:
            least = duration_text(rules.min_healthy_time)
            reasons[name] = f"Task not running for min_healthy_time of {least} {by_deadline}"
    return reasons


def _has_been_up(state: TaskState, rules: HealthRules, now: Nanoseconds) -> bool:
    return rules.uses_checks and now >= time_ns(state.started_at) + rules.min_healthy_time


def _is_bad(role: Role, state: TaskState) -> bool:
    may_end = role in (Role.PRESTART, Role.POSTSTART)
    return state.failed or (state.state == TASK_DEAD and not may_end)
