"""`yurt job tag apply`: name a version of a job."""

from collections.abc import Sequence
from typing import Annotated, Any

from yurt.cli.command import Command, Session
from yurt.cli.errors import UsageError, failing_as
from yurt.cli.lookup import find_job
from yurt.cli.options import Flag, GeneralOptions
from yurt.sdk import jobs


class Options(GeneralOptions, frozen=True, kw_only=True):
    """The flags of `job tag apply`."""

    name: Annotated[str, Flag("name", "The name of the tag. Required.", "<name>")] = ""
    description: Annotated[str, Flag("description", "What the version is about.", "<text>")] = ""
    version: Annotated[
        int | None, Flag("version", "The version to tag. Default = the current one", "<n>", form="index")
    ] = None


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Tag a version."""
    if len(arguments) != 1:
        raise UsageError("This command takes one argument: <job>")
    if not options.name:
        raise UsageError("A version tag name is required")
    job_id, client = find_job(session, arguments[0])
    version = options.version
    with failing_as("Error tagging job version"):
        if version is None:
            version = jobs.read(client, job_id).value.version
        request: dict[str, Any] = {"Version": version, "Description": options.description}
        jobs.tag_version(client, job_id, options.name, request)
    session.console.output(f'Job version {version} tagged with name "{options.name}"')
    return 0


COMMAND = Command(
    path="job tag apply",
    options=Options,
    run=run,
    usage="[options] <job>",
    description="""
        Save a job version to prevent it from being garbage collected, and give it a name that can be used
        with "yurt job history -diff-tag" and "yurt job revert".

          $ yurt job tag apply -name "My Golden Version" -description "The version that works" <job>
    """,
)
