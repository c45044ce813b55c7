"""`yurt job tag unset`: take the name of a version away."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.command import Command, Session
from yurt.cli.errors import UsageError, failing_as
from yurt.cli.lookup import find_job
from yurt.cli.options import Flag, GeneralOptions
from yurt.sdk import jobs


class Options(GeneralOptions, frozen=True, kw_only=True):
    """The flags of `job tag unset`."""

    name: Annotated[str, Flag("name", "The name of the tag. Required.", "<name>")] = ""


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Remove a tag."""
    if len(arguments) != 1:
        raise UsageError("This command takes one argument: <job>")
    if not options.name:
        raise UsageError("A version tag name is required")
    job_id, client = find_job(session, arguments[0])
    with failing_as("Error tagging job version"):
        jobs.untag_version(client, job_id, options.name)
    session.console.output(f'Tag "{options.name}" removed from job "{job_id}"')
    return 0


COMMAND = Command(
    path="job tag unset",
    options=Options,
    run=run,
    usage="[options] <job>",
    description="""
        Remove a tag from a job version. The version may then be garbage collected like any other.

          $ yurt job tag unset -name "My Golden Version" <job>
    """,
)
