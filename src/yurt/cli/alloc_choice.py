"""Which allocation and task a command means, when it may be named by its job."""

import random
from collections.abc import Sequence

from yurt.cli.command import Session
from yurt.cli.errors import CommandError, failing_as
from yurt.cli.lookup import find_alloc, find_job
from yurt.sdk import allocs, jobs
from yurt.sdk.types.allocs import Alloc, AllocStub


def choose_alloc(session: Session, name: str, *, by_job: bool, group: str = "", task: str = "") -> Alloc:
    """Find the allocation `name`; `by_job` takes it for a job and picks one of its allocations at random.

    Running allocations are preferred. `group` and `task` narrow the choice.
    """
    if not by_job:
        return find_alloc(session, name)
    job_id, client = find_job(session, name)
    with failing_as("Error fetching allocations"):
        found = jobs.allocations(client, job_id).value
    candidates = [
        alloc
        for alloc in found
        if (not group or alloc.task_group == group) and (not task or task in alloc.task_states)
    ]
    if not candidates:
        where = f' in group "{group}"' if group else f' with task "{task}"' if task else ""
        raise CommandError(f'No allocations of job "{job_id}"{where} found')
    chosen = _pick(candidates)
    with failing_as("Error querying allocation"):
        return allocs.read(session.client, chosen.id).value


def _pick(candidates: Sequence[AllocStub]) -> AllocStub:
    running = [alloc for alloc in candidates if alloc.client_status == "running"]
    return random.choice(running or candidates)


def only_task(alloc: Alloc) -> str:
    """The task of an allocation that has one; several raise a `CommandError` that lists them."""
    names = task_names(alloc)
    if len(names) == 1:
        return names[0]
    if not names:
        raise CommandError(f'Allocation "{alloc.id[:8]}" has no tasks')
    listing = "\n".join(f"  * {name}" for name in names)
    raise CommandError(
        f'Allocation "{alloc.id[:8]}" is running the following tasks:\n{listing}\n\nPlease specify the task.'
    )


def task_names(alloc: Alloc) -> list[str]:
    """The names of an allocation's tasks, sorted."""
    names = {task.name for task in alloc.group().tasks} or {*alloc.task_states}
    return sorted(names)


def check_task(alloc: Alloc, task: str) -> None:
    """Raise a `CommandError` that lists the known tasks when `task` is none of them."""
    names = task_names(alloc)
    if task not in names:
        raise CommandError(f"Could not find task named: {task}, found:\n" + "\n".join(names))


def check_running(alloc: Alloc, task: str) -> None:
    """Raise a `CommandError` when nothing can be run in `task` now."""
    state = alloc.task_states.get(task)
    if state is None or state.state != "running":
        raise CommandError(f'failed to exec into task: task "{task}" is not running.')
