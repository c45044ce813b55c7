"""`yurt job restart`: restart the allocations of a job, batch by batch."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.arguments import one_argument
from yurt.cli.command import Command, Session
from yurt.cli.common_options import VerboseOptions
from yurt.cli.errors import CommandError, failing_as
from yurt.cli.lookup import find_job
from yurt.cli.options import Flag
from yurt.cli.restart_batches import RestartPlan, batch_size_of, restart_in_batches
from yurt.model.durations import parse_duration
from yurt.sdk import Client, jobs
from yurt.sdk.types.allocs import AllocStub

ACTIVE_DEPLOYMENTS = frozenset({"running", "pending", "blocked", "unblocking", "initializing"})


class Options(VerboseOptions, frozen=True, kw_only=True):
    """The flags of `job restart`."""

    all_tasks: Annotated[bool, Flag("all-tasks", "Restart all tasks, also those that have already run.")] = (
        False
    )
    batch_size: Annotated[
        str, Flag("batch-size", "How many allocations to restart at once. Default = 1", "<n|n%>")
    ] = "1"
    batch_wait: Annotated[
        str, Flag("batch-wait", "How long to wait between batches, or ask. Default = 0s", "<duration|ask>")
    ] = "0s"
    groups: Annotated[
        tuple[str, ...], Flag("group", "Restart only this group. May be given several times.", "<group>")
    ] = ()
    tasks: Annotated[
        tuple[str, ...], Flag("task", "Restart only this task. May be given several times.", "<task>")
    ] = ()
    no_shutdown_delay: Annotated[
        bool, Flag("no-shutdown-delay", "Ignore shutdown_delay. Used only with -reschedule.")
    ] = False
    on_error: Annotated[
        str, Flag("on-error", "What to do when a restart fails: ask or fail. Default = ask", "<ask|fail>")
    ] = "ask"
    reschedule: Annotated[
        bool, Flag("reschedule", "Stop and reschedule allocations instead of restarting them in place.")
    ] = False
    yes: Annotated[bool, Flag("yes", "Automatic yes to prompts.")] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Restart a job's allocations."""
    name = one_argument(arguments, "<job>")
    plan = _plan(session, options)
    job_id, client = find_job(session, name)
    _refuse_active_deployment(client, job_id)
    with failing_as("Error retrieving job"):
        job = jobs.read(client, job_id).value
        found = jobs.allocations(client, job_id).value
    if job.type == "sysbatch" and options.reschedule:
        raise CommandError("Jobs of type 'sysbatch' are not allowed to be rescheduled")
    chosen = [alloc for alloc in found if _is_chosen(alloc, options)]
    if not chosen:
        session.console.output("No allocations to restart")
        return 0
    return restart_in_batches(
        session, client, plan, job_id, chosen, batch_size_of(options.batch_size, len(chosen))
    )


def _plan(session: Session, options: Options) -> RestartPlan:
    if options.on_error not in {"ask", "fail"}:
        raise CommandError(f"Invalid -on-error value {options.on_error!r}: use ask or fail")
    is_asking = options.batch_wait == "ask" or (options.on_error == "ask" and not options.yes)
    if is_asking and not session.console.is_terminal:
        raise CommandError(
            "-on-error and -batch-wait cannot be 'ask' without a terminal; use -on-error=fail or -yes"
        )
    if options.tasks and (options.all_tasks or options.reschedule):
        raise CommandError("The -task option cannot be used with -all-tasks or -reschedule")
    if options.all_tasks and options.reschedule:
        raise CommandError("The -all-tasks option cannot be used with -reschedule")
    batch_size_of(options.batch_size, 1)
    wait_ns = None
    if options.batch_wait != "ask":
        try:
            wait_ns = parse_duration(options.batch_wait)
        except ValueError as error:
            raise CommandError(f"Invalid -batch-wait value {options.batch_wait!r}: {error}") from error
    return RestartPlan(
        tasks=options.tasks,
        all_tasks=options.all_tasks,
        reschedule=options.reschedule,
        no_shutdown_delay=options.no_shutdown_delay,
        batch_wait_ns=wait_ns,
        asks_on_error=options.on_error == "ask" and not options.yes,
        goes_on_after_error=options.yes and options.on_error == "ask",
        verbose=options.verbose,
    )


def _refuse_active_deployment(client: Client, job_id: str) -> None:
    with failing_as("Error retrieving deployments"):
        latest = jobs.latest_deployment(client, job_id).value
    if latest is not None and latest.status in ACTIVE_DEPLOYMENTS:
        raise CommandError(
            f"Deployment {latest.id[:8]!r} of the job is still {latest.status}; wait until it has ended"
        )


def _is_chosen(alloc: AllocStub, options: Options) -> bool:
    if alloc.client_status != "running" or alloc.desired_status != "run":
        return False
    if options.groups and alloc.task_group not in options.groups:
        return False
    return not options.tasks or any(task in alloc.task_states for task in options.tasks)


COMMAND = Command(
    path="job restart",
    options=Options,
    run=run,
    usage="[options] <job>",
    description="""
        Restart or reschedule allocations for a particular job. Allocations are restarted in place by
        default, one after the other; -reschedule stops them and waits for their replacements.

        When ACLs are enabled, this command requires a token with the 'alloc-lifecycle' and 'read-job'
        capabilities for the job's namespace. The 'list-jobs' capability is required to run the command
        with a job prefix instead of the exact job ID.
    """,
)
