"""`yurt acl role update`."""

import json
from collections.abc import Sequence
from typing import Annotated, Any

from yurt.cli.arguments import one_argument
from yurt.cli.command import Command, Session
from yurt.cli.commands.acl_role_create import RoleOptions
from yurt.cli.errors import failing_as
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.options import Flag
from yurt.cli.token_view import role_record
from yurt.sdk import acl


class Options(RoleOptions, frozen=True, kw_only=True):
    """The flags of `acl role update`."""

    no_merge: Annotated[bool, Flag("no-merge", "Replace the role instead of changing what is given.")] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Change a role."""
    role_id = one_argument(arguments, "<acl_role_id>")
    is_machine_output = wants_machine_output(options)
    role: dict[str, Any] = {"ID": role_id}
    with failing_as("Error reading ACL role"):
        current = json.loads(acl.read_role(session.client, role_id).body)
    if not options.no_merge:
        role = current
    if options.name or options.no_merge:
        role["Name"] = options.name
    if options.description or options.no_merge:
        role["Description"] = options.description
    if options.policies or options.no_merge:
        role["Policies"] = [{"Name": name} for name in options.policies]
    with failing_as("Error updating ACL role"):
        answer = acl.write_role(session.client, role, role_id)
    if is_machine_output:
        show_record(session.console, options, answer.body)
    else:
        session.console.output(role_record(answer.value))
    return 0


COMMAND = Command(
    path="acl role update",
    options=Options,
    run=run,
    usage="[options] <acl_role_id>",
    description="""
        Update is used to update an existing ACL role. Use requires a management token.
    """,
)
