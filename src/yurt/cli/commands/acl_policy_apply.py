"""`yurt acl policy apply`."""

from collections.abc import Sequence
from typing import Annotated, Any

from yurt.cli.command import Command, Session
from yurt.cli.errors import CommandError, UsageError, failing_as
from yurt.cli.options import Flag, GeneralOptions
from yurt.cli.spec_file import read_text
from yurt.sdk import acl


class Options(GeneralOptions, frozen=True, kw_only=True):
    """The flags of `acl policy apply`; `-namespace` here is that of the workload."""

    description: Annotated[str, Flag("description", "A human readable description.", "<text>")] = ""
    job: Annotated[
        str, Flag("job", "Attach the policy to the workload identity of this job; needs -namespace.", "<job>")
    ] = ""
    group: Annotated[str, Flag("group", "Restrict it to a group of the job; needs -job.", "<group>")] = ""
    task: Annotated[str, Flag("task", "Restrict it to a task of the group; needs -group.", "<task>")] = ""


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Write a policy."""
    if len(arguments) != 2:
        raise UsageError("This command takes two arguments: <name> and <path>")
    name, path = arguments
    for flag, needed, is_wrong in (
        ("-job", "-namespace", options.job and not options.namespace),
        ("-group", "-job", options.group and not options.job),
        ("-task", "-group", options.task and not options.group),
    ):
        if is_wrong:
            raise CommandError(f"{flag} can only be used together with {needed}")
    policy: dict[str, Any] = {
        "Name": name,
        "Description": options.description,
        "Rules": read_text(session, path, "policy file"),
    }
    if options.job:
        policy["JobACL"] = {
            "Namespace": options.namespace,
            "JobID": options.job,
            "Group": options.group,
            "Task": options.task,
        }
    with failing_as("Error writing policy"):
        acl.write_policy(session.client, name, policy)
    session.console.output(f'Successfully wrote "{name}" ACL policy!')
    return 0


COMMAND = Command(
    path="acl policy apply",
    options=Options,
    run=run,
    usage="[options] <name> <path>",
    description="""
        Apply is used to create or update an ACL policy. The policy is sourced from <path> or from stdin
        if path is "-".

        This command requires a management ACL token.
    """,
)
