"""`yurt job stop`: stop jobs, and follow what that sets in motion."""

import json
from collections.abc import Sequence
from typing import Annotated, NamedTuple

from yurt.cli.command import Command, Session
from yurt.cli.confirm import confirm
from yurt.cli.errors import CommandError, UsageError, failing_as
from yurt.cli.lookup import find_job
from yurt.cli.machine_output import show_value, wants_machine_output
from yurt.cli.monitor import follow_evaluation
from yurt.cli.options import Flag, FormatOptions
from yurt.sdk import Client, jobs


class Options(FormatOptions, frozen=True, kw_only=True):
    """The flags of `job stop`."""

    detach: Annotated[
        bool,
        Flag("detach", "Return immediately instead of entering monitor mode; print the evaluation ID."),
    ] = False
    eval_priority: Annotated[
        int | None,
        Flag("eval-priority", "Override the priority of the evaluations produced by the stop.", "<n>"),
    ] = None
    is_global: Annotated[
        bool, Flag("global", "Stop a multi-region job in all its regions, not only in one.")
    ] = False
    no_shutdown_delay: Annotated[
        bool,
        Flag(
            "no-shutdown-delay",
            "Ignore the group and task shutdown_delay configuration, so that tasks are stopped at once.",
        ),
    ] = False
    purge: Annotated[
        bool,
        Flag(
            "purge",
            "Stop the job and remove it from the system, instead of leaving it to the garbage collector.",
        ),
    ] = False
    yes: Annotated[bool, Flag("yes", "Automatic yes to prompts.")] = False
    verbose: Annotated[bool, Flag("verbose", "Display full information.")] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Stop one job or several."""
    if not arguments:
        raise UsageError("This command takes at least one argument: <job>")
    is_machine_output = wants_machine_output(options)
    if len(arguments) == 1:
        job_id, client = find_job(session, arguments[0])
        if not options.yes and job_id != arguments[0]:
            question = f'Are you sure you want to stop job "{job_id}"?'
            refused = confirm(session, question, cancelled="Cancelling job stop")
            if refused is not None:
                return refused
        stopped, exit_code = [_stop(client, job_id, options)], 0
    else:
        stopped, exit_code = _stop_all(session, options, arguments)
    if is_machine_output:
        records = [{"JobID": one.job_id, **json.loads(one.body)} for one in stopped]
        show_value(session.console, options, records)
        return exit_code
    for one in stopped:
        if not one.eval_id:
            continue
        if options.detach:
            session.console.output(one.eval_id)
        else:
            code = follow_evaluation(session, one.client, one.eval_id, verbose=options.verbose)
            exit_code = exit_code or code
    return exit_code


class _Stopped(NamedTuple):
    """A job that was stopped, and the evaluation that this set in motion, if any."""

    job_id: str
    client: Client
    eval_id: str
    body: bytes


def _stop_all(session: Session, options: Options, names: Sequence[str]) -> tuple[list[_Stopped], int]:
    """Stop several jobs, each for itself: one that fails is told, and does not keep others from stopping."""
    stopped = []
    exit_code = 0
    for name in names:
        try:
            job_id, client = find_job(session, name)
            stopped.append(_stop(client, job_id, options))
        except CommandError as error:
            session.console.error(str(error))
            exit_code = exit_code or error.exit_code
    return stopped, exit_code


def _stop(client: Client, job_id: str, options: Options) -> _Stopped:
    with failing_as("Error deregistering job"):
        answer = jobs.deregister(
            client,
            job_id,
            **{
                "purge": options.purge,
                "global": options.is_global,
                "no_shutdown_delay": options.no_shutdown_delay,
                "eval_priority": options.eval_priority or "",
            },
        )
    return _Stopped(job_id, client, answer.value.eval_id, answer.body)


COMMAND = Command(
    path="job stop",
    aliases=("stop",),
    options=Options,
    run=run,
    usage="[options] <job>...",
    description="""
        Stop an existing job. This command is used to signal allocations to shut down for the given job
        IDs. The shutdown is followed until it is complete; an interrupt leaves the monitor, not the
        shutdown.

        When ACLs are enabled, this command requires a token with the 'submit-job' and 'read-job'
        capabilities for the job's namespace. The 'list-jobs' capability is required to run the command
        with job prefixes instead of exact job IDs.
    """,
)
