"""`yurt job revert`: go back to an older version of a job."""

from collections.abc import Sequence

from yurt.cli.command import Command, Session
from yurt.cli.common_options import FollowOptions, follow
from yurt.cli.errors import CommandError, UsageError, failing_as
from yurt.cli.job_warnings import show_warnings
from yurt.cli.lookup import find_job
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.sdk import Client, jobs


def run(session: Session, options: FollowOptions, arguments: Sequence[str]) -> int:
    """Revert a job."""
    if len(arguments) != 2:
        raise UsageError("This command takes two arguments: <job> <version|tag>")
    is_machine_output = wants_machine_output(options)
    job_id, client = find_job(session, arguments[0])
    version = _version(client, job_id, arguments[1])
    with failing_as("Error retrieving job versions"):
        answer = jobs.revert(client, job_id, version)
    if is_machine_output:
        show_record(session.console, options, answer.body)
        return 0
    show_warnings(session.console, answer.value.warnings)
    return follow(session, client, answer.value.eval_id, options)


def _version(client: Client, job_id: str, text: str) -> int:
    """Read a version number, or find the version that a tag names."""
    if text.isascii() and text.isdigit():
        return int(text)
    with failing_as("Error retrieving job versions"):
        found = jobs.versions(client, job_id).value.versions
    for job in found:
        if job.version_tag is not None and job.version_tag.name == text:
            return job.version
    raise CommandError(f"Error retrieving job versions: version tag {text} not found for job {job_id}")


COMMAND = Command(
    path="job revert",
    options=FollowOptions,
    run=run,
    usage="[options] <job> <version|tag>",
    description="""
        Revert is used to revert a job to a prior version of the job. The available versions to revert to
        can be found using the "yurt job history" command. A number is a version, anything else the tag of
        one.

        When ACLs are enabled, this command requires a token with the 'submit-job' and 'read-job'
        capabilities for the job's namespace. The 'list-jobs' capability is required to run the command
        with a job prefix instead of the exact job ID.
    """,
)
