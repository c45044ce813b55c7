"""`yurt acl token update`."""

import json
from collections.abc import Sequence
from typing import Annotated, Any

from yurt.cli.arguments import one_argument
from yurt.cli.command import Command, Session
from yurt.cli.commands.acl_token_create import roles_of
from yurt.cli.errors import failing_as
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.options import Flag, FormatOptions
from yurt.cli.token_view import show_token
from yurt.sdk import acl


class Options(FormatOptions, frozen=True, kw_only=True):
    """The flags of `acl token update`; what is not given stays as it is."""

    name: Annotated[str | None, Flag("name", "Sets the human readable name for the token.", "<name>")] = None
    type: Annotated[str | None, Flag("type", "client or management.", "<type>")] = None
    is_global: Annotated[bool | None, Flag("global", "Make the token valid in all regions.")] = None
    policies: Annotated[
        tuple[str, ...],
        Flag("policy", "A policy of the token; replaces all. May be given several times.", "<policy>"),
    ] = ()
    role_ids: Annotated[
        tuple[str, ...],
        Flag("role-id", "A role of the token, by ID; replaces all. May be given several times.", "<id>"),
    ] = ()
    role_names: Annotated[
        tuple[str, ...],
        Flag("role-name", "A role of the token, by name; replaces all. May be repeated.", "<name>"),
    ] = ()


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Change a token."""
    accessor = one_argument(arguments, "<token_accessor_id>")
    is_machine_output = wants_machine_output(options)
    with failing_as("Error fetching token"):
        token: dict[str, Any] = json.loads(acl.read_token(session.client, accessor).body)
    changes: dict[str, Any] = {"Name": options.name, "Type": options.type, "Global": options.is_global}
    token |= {name: value for name, value in changes.items() if value is not None}
    if options.policies:
        token["Policies"] = list(options.policies)
    if options.role_ids or options.role_names:
        token["Roles"] = roles_of(options.role_ids, options.role_names)
    with failing_as("Error updating token"):
        answer = acl.update_token(session.client, accessor, token)
    if is_machine_output:
        show_record(session.console, options, answer.body)
    else:
        show_token(session, answer.value)
    return 0


COMMAND = Command(
    path="acl token update",
    options=Options,
    run=run,
    usage="[options] <token_accessor_id>",
    description="""
        Update is used to update an existing ACL token. Requires a management token.
    """,
)
