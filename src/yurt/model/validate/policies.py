"""Problems with the policies of a group."""

from __future__ import annotations

from yurt.model.durations import duration_text
from yurt.model.go_text import quoted, quoted_list
from yurt.model.job import BATCH, SERVICE
from yurt.model.policies import (
    DisconnectStrategy,
    EphemeralDisk,
    MigrateStrategy,
    ReschedulePolicy,
    ScalingPolicy,
    UpdateStrategy,
)
from yurt.model.task_parts import RestartPolicy
from yurt.model.times import SECOND_NS
from yurt.model.wire import Nanoseconds

RESTART_INTERVAL_MIN_NS = 5 * SECOND_NS
RESCHEDULE_DELAY_MIN_NS = 5 * SECOND_NS
RESCHEDULE_INTERVAL_MIN_NS = 15 * SECOND_NS
DISK_MB_MIN = 10

DELAY_FUNCTIONS = ("constant", "exponential", "fibonacci")
UPDATE_HEALTH_CHECKS = ("checks", "task_states", "manual")
MIGRATE_HEALTH_CHECKS = ("checks", "task_states")
RECONCILE_CHOICES = ("best_score", "longest_running", "keep_original", "keep_replacement")
SCALING_TYPES = ("horizontal",)


def restart_errors(policy: RestartPolicy) -> list[str]:
    """Check how often tasks are restarted."""
    errors = []
    if policy.mode not in ("fail", "delay"):
        errors.append(f"Unsupported restart mode: {quoted(policy.mode)}")
    if policy.mode == "delay" and policy.attempts == 0:
        errors.append(f"Restart policy {quoted(policy.mode)} with 0 attempts is ambiguous")
    if policy.interval < RESTART_INTERVAL_MIN_NS:
        least, got = duration_text(RESTART_INTERVAL_MIN_NS), duration_text(policy.interval)
        errors.append(f"Interval can not be less than {least} (got {got})")
    if policy.attempts * policy.delay > policy.interval:
        interval, delay = duration_text(policy.interval), duration_text(policy.delay)
        errors.append(
            f"Nomad can't restart the TaskGroup {policy.attempts} times in an interval of {interval} "
            f"with a delay of {delay}"
        )
    return errors


def reschedule_errors(policy: ReschedulePolicy) -> list[str]:
    """Check when failed allocations are placed anew; a policy that never does is not looked at."""
    if policy.attempts <= 0 and not policy.unlimited:
        return []
    errors = []
    if policy.attempts > 0:
        if policy.interval <= 0:
            errors.append("Interval must be a non zero value if Attempts > 0")
        if policy.unlimited:
            errors.append(
                f"Reschedule Policy with Attempts = {policy.attempts}, "
                f"Interval = {duration_text(policy.interval)}, and Unlimited = true is ambiguous"
            )
            errors.append("If Attempts >0, Unlimited cannot also be set to true")
    delay_errors = _delay_errors(policy)
    errors += delay_errors
    if policy.unlimited:
        return errors
    if policy.interval < RESCHEDULE_INTERVAL_MIN_NS:
        least, got = duration_text(RESCHEDULE_INTERVAL_MIN_NS), duration_text(policy.interval)
        errors.append(f"Interval cannot be less than {least} (got {got})")
    return errors if delay_errors else errors + _attempts_errors(policy)


def _delay_errors(policy: ReschedulePolicy) -> list[str]:
    errors = []
    delay, least = duration_text(policy.delay), duration_text(RESCHEDULE_DELAY_MIN_NS)
    if policy.delay < RESCHEDULE_DELAY_MIN_NS:
        errors.append(f"Delay cannot be less than {least} (got {delay})")
    if policy.delay_function not in DELAY_FUNCTIONS:
        errors.append(
            f"Invalid delay function {quoted(policy.delay_function)}, "
            f"must be one of {quoted_list(DELAY_FUNCTIONS)}"
        )
    if policy.delay_function != "constant":
        if policy.max_delay < RESCHEDULE_DELAY_MIN_NS:
            errors.append(f"Max Delay cannot be less than {least} (got {delay})")
        if policy.max_delay < policy.delay:
            ceiling = duration_text(policy.max_delay)
            errors.append(f"Max Delay cannot be less than Delay {delay} (got {ceiling})")
    return errors


def _attempts_errors(policy: ReschedulePolicy) -> list[str]:
    """Check that the attempts fit into their interval."""
    possible, needed = _attempts_in_interval(policy)
    if possible >= policy.attempts:
        return []
    interval, delay = duration_text(policy.interval), duration_text(policy.delay)
    can = f"Nomad can only make {possible} attempts in {interval} with initial delay {delay}"
    if policy.delay_function == "constant":
        can += ' and delay function "constant"'
    else:
        ceiling = duration_text(policy.max_delay)
        can += f", delay function {quoted(policy.delay_function)}, and delay ceiling {ceiling}"
    wanted = duration_text(needed)
    return [can, f"Set the interval to at least {wanted} to accommodate {policy.attempts} attempts"]


def _attempts_in_interval(policy: ReschedulePolicy) -> tuple[int, Nanoseconds]:
    """Say how many attempts the interval holds, and which interval would hold all of them.

    Growing delays count by themselves until they reach their ceiling, then they add up.
    """
    if policy.delay_function == "constant":
        needed = policy.attempts * policy.delay
        return min(policy.attempts, policy.interval // policy.delay), needed
    reached: Nanoseconds = 0
    possible = 0
    before, delay, capped = 0, policy.delay, False
    for attempt in range(policy.attempts):
        if attempt > 0 and not capped:
            grown = delay * 2 if policy.delay_function == "exponential" else (before + delay)
            before, delay = delay, grown
        if not capped and delay > policy.max_delay:
            capped = True
        reached = reached + policy.max_delay if capped else delay
        possible += reached < policy.interval
    return possible, reached


def update_strategy_errors(update: UpdateStrategy) -> list[str]:
    """Check how a new version replaces the old one."""
    errors = []
    if update.health_check not in UPDATE_HEALTH_CHECKS:
        errors.append(f"Invalid health check given: {quoted(update.health_check)}")
    if update.max_parallel < 0:
        errors.append(f"Max parallel can not be less than zero: {update.max_parallel} < 0")
    if update.canary < 0:
        errors.append(f"Canary count can not be less than zero: {update.canary} < 0")
    if update.canary == 0 and update.auto_promote:
        errors.append("Auto Promote requires a Canary count greater than zero")
    least, deadline = duration_text(update.min_healthy_time), duration_text(update.healthy_deadline)
    progress = duration_text(update.progress_deadline)
    if update.min_healthy_time < 0:
        errors.append(f"Minimum healthy time may not be less than zero: {least}")
    if update.healthy_deadline <= 0:
        errors.append(f"Healthy deadline must be greater than zero: {deadline}")
    if update.progress_deadline < 0:
        errors.append(f"Progress deadline must be zero or greater: {progress}")
    if update.min_healthy_time >= update.healthy_deadline:
        errors.append(f"Minimum healthy time must be less than healthy deadline: {least} > {deadline}")
    if update.progress_deadline != 0 and update.healthy_deadline >= update.progress_deadline:
        errors.append(f"Healthy deadline must be less than progress deadline: {deadline} > {progress}")
    if update.stagger <= 0:
        errors.append(f"Stagger must be greater than zero: {duration_text(update.stagger)}")
    return errors


def migrate_errors(migrate: MigrateStrategy) -> list[str]:
    """Check how allocations leave a draining node."""
    errors = []
    if migrate.max_parallel < 0:
        errors.append(f"MaxParallel must be >= 0 but found {migrate.max_parallel}")
    if not migrate.health_check:
        errors.append("Missing HealthCheck")
    elif migrate.health_check not in MIGRATE_HEALTH_CHECKS:
        errors.append(f"Invalid HealthCheck: {quoted(migrate.health_check)}")
    if migrate.min_healthy_time < 0:
        errors.append(f"MinHealthyTime is {duration_text(migrate.min_healthy_time)} and must be >= 0")
    if migrate.healthy_deadline < 0:
        errors.append(f"HealthyDeadline is {duration_text(migrate.healthy_deadline)} and must be >= 0")
    if migrate.min_healthy_time > migrate.healthy_deadline:
        errors.append("MinHealthyTime must be less than HealthyDeadline")
    return errors


def disk_errors(disk: EphemeralDisk) -> list[str]:
    """Check the size of the group's disk."""
    return (
        [] if disk.size_mb >= DISK_MB_MIN else [f"minimum DiskMB value is {DISK_MB_MIN}; got {disk.size_mb}"]
    )


def disconnect_errors(disconnect: DisconnectStrategy, *, job_type: str) -> list[str]:
    """Check what happens to allocations whose node falls silent."""
    errors = []
    stop_after = disconnect.stop_on_client_after
    if stop_after is not None and job_type not in (SERVICE, BATCH):
        errors.append("stop_after can only be used with service or batch job types")
    if stop_after is not None and stop_after < 0:
        errors.append("stop_after cannot be a negative duration")
    if disconnect.lost_after < 0:
        errors.append("lost_after cannot be a negative duration")
    if stop_after is not None and disconnect.lost_after != 0:
        errors.append("Disconnect cannot be configured with both lost_after and stop_after")
    if disconnect.reconcile not in RECONCILE_CHOICES:
        errors.append(f"reconcile option is invalid: {disconnect.reconcile}")
    return errors


def scaling_errors(scaling: ScalingPolicy, *, count: int) -> list[str]:
    """Check the bounds of a group's scaling policy against each other and the group's count."""
    problems = []
    if not scaling.type:
        problems.append("missing scaling policy type")
    elif scaling.type not in SCALING_TYPES:
        problems.append(f"scaling policy type {quoted(scaling.type)} is not valid")
    if scaling.max < 0:
        problems.append("maximum count must be specified and non-negative")
    elif scaling.max < scaling.min:
        problems.append("maximum count must not be less than minimum count")
    if scaling.min < 0:
        problems.append("minimum count must be specified and non-negative")
    if count > scaling.max:
        problems.append("task group count must not be greater than maximum count in scaling policy")
    if count < scaling.min:
        problems.append("task group count must not be less than minimum count in scaling policy")
    return [f"Scaling policy invalid: {problem}" for problem in problems]
