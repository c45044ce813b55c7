"""`yurt job scale`: change the count of a group."""

from collections.abc import Sequence
from typing import Annotated, Any

from yurt.cli.command import Command, Session
from yurt.cli.common_options import FollowOptions, follow
from yurt.cli.errors import CommandError, failing_as
from yurt.cli.job_warnings import show_warnings
from yurt.cli.lookup import find_job
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.options import Flag
from yurt.sdk import Client, jobs

MESSAGE = "submitted using the Yurt CLI"


class Options(FollowOptions, frozen=True, kw_only=True):
    """The flags of `job scale`."""

    check_index: Annotated[
        int | None,
        Flag("check-index", "Scale only if the job modify index is the given one.", "<n>", form="index"),
    ] = None


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Scale a group of a job."""
    if len(arguments) not in {2, 3}:
        raise CommandError("Command requires at least two arguments and no more than three")
    count = _count(arguments[-1])
    is_machine_output = wants_machine_output(options)
    job_id, client = find_job(session, arguments[0])
    group = _group(client, job_id, arguments[1] if len(arguments) == 3 else "")
    request: dict[str, Any] = {
        "Count": count,
        "Target": {"Group": group, "Job": job_id},
        "Message": MESSAGE,
    }
    if options.check_index is not None:
        request["JobModifyIndex"] = options.check_index
    with failing_as("Error submitting scaling request"):
        answer = jobs.scale(client, job_id, request)
    if is_machine_output:
        show_record(session.console, options, answer.body)
        return 0
    show_warnings(session.console, answer.value.warnings)
    return follow(session, client, answer.value.eval_id, options, done="Job scale successful")


def _count(text: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise CommandError(
            f'Failed to convert count string to int: strconv.Atoi: parsing "{text}": invalid syntax'
        ) from error


def _group(client: Client, job_id: str, name: str) -> str:
    with failing_as("Error querying job"):
        names = [group.name for group in jobs.read(client, job_id).value.task_groups]
    if not name:
        if len(names) != 1:
            raise CommandError("Group name required")
        return names[0]
    if name not in names:
        raise CommandError(f"Group {name} not found within job")
    return name


COMMAND = Command(
    path="job scale",
    options=Options,
    run=run,
    usage="[options] <job> [<group>] <count>",
    description="""
        Perform a scaling action by altering the count within a job group. The group may be left out where
        a job has only one.

        When ACLs are enabled, this command requires a token with the 'read-job-scaling' and either the
        'scale-job' or 'submit-job' capabilities for the job's namespace. The 'list-jobs' capability is
        required to run the command with a job prefix instead of the exact job ID.
    """,
)
