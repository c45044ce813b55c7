"""`yurt acl role create`."""

from collections.abc import Sequence
from typing import Annotated, Any

from yurt.cli.arguments import no_arguments
from yurt.cli.command import Command, Session
from yurt.cli.errors import CommandError, failing_as
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.options import Flag, FormatOptions
from yurt.cli.token_view import role_record
from yurt.sdk import acl


class RoleOptions(FormatOptions, frozen=True, kw_only=True):
    """The flags that describe a role."""

    name: Annotated[str, Flag("name", "Sets the human readable name for the role.", "<name>")] = ""
    description: Annotated[str, Flag("description", "What the role is for.", "<text>")] = ""
    policies: Annotated[
        tuple[str, ...], Flag("policy", "A policy of the role. May be given several times.", "<policy>")
    ] = ()


def run(session: Session, options: RoleOptions, arguments: Sequence[str]) -> int:
    """Create a role."""
    no_arguments(arguments)
    is_machine_output = wants_machine_output(options)
    if not options.name:
        raise CommandError("ACL role name must be specified using the -name flag")
    if not options.policies:
        raise CommandError("At least one policy name must be specified using the -policy flag")
    role: dict[str, Any] = {
        "Name": options.name,
        "Description": options.description,
        "Policies": [{"Name": name} for name in options.policies],
    }
    with failing_as("Error creating ACL role"):
        answer = acl.write_role(session.client, role)
    if is_machine_output:
        show_record(session.console, options, answer.body)
    else:
        session.console.output(role_record(answer.value))
    return 0


COMMAND = Command(
    path="acl role create",
    options=RoleOptions,
    run=run,
    usage="[options]",
    description="""
        Create is used to create new ACL roles. Use requires a management token.
    """,
)
