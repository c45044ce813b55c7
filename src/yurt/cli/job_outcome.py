"""What has become of a job: whether there is something to wait for, and the exit code of its end."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from yurt.sdk.allocs import ENDED
from yurt.sdk.types.allocs import AllocStub, TaskState
from yurt.sdk.types.deployments import TERMINAL_STATUSES, Deployment
from yurt.sdk.types.jobs import GroupCounts, Job

EXIT_FAILED = 1
RUNS_TO_ITS_END = frozenset({"batch", "sysbatch"})


class Outcome(NamedTuple):
    """Where a job stands: `exit_code` is None while there is something to wait for, which `text` names.

    The text is empty in the moment between the end of the last allocation and that of the job.
    """

    exit_code: int | None
    text: str


def outcome(
    job: Job,
    found: Sequence[AllocStub],
    *,
    deployment: Deployment | None,
    groups: Mapping[str, GroupCounts],
) -> Outcome:
    """Say where a job stands.

    A batch job has come to its end when all its work has; the code is the largest of its tasks' exit codes.
    A service is there once its deployment is successful or, without one, once everything runs.
    """
    current = [alloc for alloc in found if alloc.job_version == job.version and not alloc.next_allocation]
    if job.status == "dead":
        return _ended(job, current)
    if job.type in RUNS_TO_ITS_END:
        return Outcome(None, _counted("the end of", groups))
    if deployment is not None and deployment.job_version == job.version:
        if deployment.status in TERMINAL_STATUSES:
            code = 0 if deployment.status == "successful" else EXIT_FAILED
            return Outcome(code, f"Deployment {deployment.status}: {deployment.status_description}")
        return Outcome(None, progress(deployment))
    counts = groups.values()
    if counts and not any(group.queued or group.starting for group in counts):
        if any(group.running for group in counts):
            return Outcome(0, "Everything is running")
        if current:
            return Outcome(EXIT_FAILED, "Nothing is running")
    return Outcome(None, _counted("the start of", groups))


def exit_code_of(state: TaskState) -> int:
    """The exit code of a task's last end; 1 for a task that failed without one, such as one never started."""
    ends = [event for event in state.events if event.type == "Terminated"]
    code = max(ends, key=lambda event: event.time).exit_code if ends else 0
    return code or (EXIT_FAILED if state.failed else 0)


def _ended(job: Job, current: Sequence[AllocStub]) -> Outcome:
    if job.stop and any(alloc.client_status not in ENDED or not _ran_out(alloc) for alloc in current):
        return Outcome(EXIT_FAILED, "Job was stopped")
    code = 0
    lines = []
    for alloc in sorted(current, key=lambda alloc: alloc.name):
        codes = {task: exit_code_of(state) for task, state in sorted(alloc.task_states.items())}
        lines += [
            f'task "{task}" of allocation "{alloc.id[:8]}" ended with exit code {ended}'
            for task, ended in codes.items()
            if ended and alloc.client_status != "complete"
        ]
        if alloc.client_status != "complete":
            code = max([code, EXIT_FAILED, *codes.values()])
            if not any(codes.values()):
                lines.append(f'allocation "{alloc.id[:8]}" is {alloc.client_status}')
    if not current:
        return Outcome(0, "Job ended without an allocation")
    return Outcome(code, f"Job failed: {'; '.join(lines)}" if code else "Job ended successfully")


def _ran_out(alloc: AllocStub) -> bool:
    """Whether an allocation ended by itself."""
    return alloc.desired_status == "run"


def progress(deployment: Deployment) -> str:
    """What a deployment that runs waits for."""
    groups = sorted(deployment.task_groups.items())
    ready = [
        f'"{name}"'
        for name, group in groups
        if group.desired_canaries and not group.promoted and group.healthy_allocs >= group.desired_canaries
    ]
    if ready and "manual promotion" in deployment.status_description:
        return (
            f"the promotion of healthy canaries in {', '.join(ready)}: 'yurt job promote {deployment.job_id}'"
        )
    parts = []
    for name, group in groups:
        wanted = group.desired_total
        part = f'"{name}" ({group.healthy_allocs} of {wanted} healthy, {group.placed_allocs} placed'
        if group.desired_canaries and not group.promoted:
            part += f", {group.desired_canaries} canaries to be promoted"
        parts.append(part + ")")
    waiting = "healthy allocations"
    if deployment.status == "paused":
        waiting = f"'yurt deployment resume {deployment.id[:8]}'"
    return f"{waiting}: {', '.join(parts)}"


def _counted(what: str, groups: Mapping[str, GroupCounts]) -> str:
    parts = []
    for name, counts in sorted(groups.items()):
        shown = {"queued": counts.queued, "starting": counts.starting, "running": counts.running}
        states = ", ".join(f"{count} {state}" for state, count in shown.items() if count)
        if states:
            parts.append(f'"{name}" ({states})')
    return f"{what} {', '.join(parts)}" if parts else ""
