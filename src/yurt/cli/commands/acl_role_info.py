"""`yurt acl role info`."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.arguments import one_argument
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.options import Flag, FormatOptions
from yurt.cli.token_view import role_record
from yurt.sdk import acl


class Options(FormatOptions, frozen=True, kw_only=True):
    """The flags of `acl role info`."""

    by_name: Annotated[bool, Flag("by-name", "Look up the role by its name instead of its ID.")] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Show a role."""
    name = one_argument(arguments, "<acl_role_id>")
    is_machine_output = wants_machine_output(options)
    with failing_as("Error reading ACL role"):
        answer = acl.read_role(session.client, name, by_name=options.by_name)
    if is_machine_output:
        show_record(session.console, options, answer.body)
    else:
        session.console.output(role_record(answer.value))
    return 0


COMMAND = Command(
    path="acl role info",
    options=Options,
    run=run,
    usage="[options] <acl_role_id>",
    description="""
        Info is used to fetch information on an existing ACL role. Requires a management token, or one
        that has the role.
    """,
)
