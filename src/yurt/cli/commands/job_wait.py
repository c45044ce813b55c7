"""`yurt job wait`: wait for a job's end, and take over its exit code."""

from collections.abc import Sequence

from yurt.cli.command import Command, Session
from yurt.cli.errors import UsageError
from yurt.cli.job_waiting import JobWaiting, LogsFlag, TimeoutFlag
from yurt.cli.lookup import find_job
from yurt.cli.options import GeneralOptions


class Options(GeneralOptions, frozen=True, kw_only=True):
    """The flags of `job wait`."""

    logs: LogsFlag = False
    timeout: TimeoutFlag = None


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Wait for a job."""
    if len(arguments) != 1:
        raise UsageError("This command takes one argument: <job>")
    job_id, client = find_job(session, arguments[0])
    return JobWaiting(session, client, job_id, logs=options.logs, timeout=options.timeout).wait()


COMMAND = Command(
    path="job wait",
    options=Options,
    run=run,
    usage="[options] <job>",
    description="""
        Waits until a batch job has come to its end, and exits with the exit code of its task: the largest,
        if there are several tasks or allocations, 1 for a task that failed without one. For a service it
        waits until its deployment is successful (exit code 0) or has failed (1), without a deployment until
        everything runs.

        While it waits it says what it waits for, and why nothing is placed.

        When ACLs are enabled, this command requires a token with the 'read-job' capability for the job's
        namespace, and 'read-logs' for -logs.
    """,
)
