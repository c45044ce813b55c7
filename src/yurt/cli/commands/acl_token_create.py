"""`yurt acl token create`."""

import json
from collections.abc import Sequence
from typing import Annotated, Any

from yurt.cli.command import Command, Session
from yurt.cli.errors import UsageError, failing_as
from yurt.cli.machine_output import show_value, wants_machine_output
from yurt.cli.options import Flag, FormatOptions
from yurt.cli.spec_file import read_text
from yurt.cli.token_view import show_token
from yurt.sdk import acl


class Options(FormatOptions, frozen=True, kw_only=True):
    """The flags of `acl token create`."""

    name: Annotated[str, Flag("name", "Sets the human readable name for the token.", "<name>")] = ""
    type: Annotated[str, Flag("type", "client or management. Default = client", "<type>")] = "client"
    is_global: Annotated[bool, Flag("global", "Make the token valid in all regions.")] = False
    policies: Annotated[
        tuple[str, ...], Flag("policy", "A policy of the token. May be given several times.", "<policy>")
    ] = ()
    role_ids: Annotated[
        tuple[str, ...], Flag("role-id", "A role of the token, by ID. May be given several times.", "<id>")
    ] = ()
    role_names: Annotated[
        tuple[str, ...],
        Flag("role-name", "A role of the token, by name. May be given several times.", "<name>"),
    ] = ()
    ttl: Annotated[str, Flag("ttl", "How long the token is good for.", "<duration>")] = ""
    accessor: Annotated[
        str, Flag("accessor", "The accessor ID to use; the argument then supplies the secret.", "<uuid>")
    ] = ""


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Create a token."""
    if len(arguments) > 1:
        raise UsageError("This command takes 0 or 1 argument: <path>")
    is_machine_output = wants_machine_output(options)
    token: dict[str, Any] = {
        "Name": options.name,
        "Type": options.type,
        "Policies": list(options.policies),
        "Roles": roles_of(options.role_ids, options.role_names),
        "Global": options.is_global,
    }
    if options.ttl:
        token["ExpirationTTL"] = options.ttl
    if options.accessor:
        token["AccessorID"] = options.accessor
    if arguments:
        token["SecretID"] = read_text(session, arguments[0], "token secret").strip()
    with failing_as("Error creating token"):
        answer = acl.create_token(session.client, token)
    if not is_machine_output:
        show_token(session, answer.value)
    elif options.json:
        # One line, in the order of the record: that is how scripts have always got it.
        session.console.output(json.dumps(json.loads(answer.body), separators=(",", ":"), ensure_ascii=False))
    else:
        show_value(session.console, options, json.loads(answer.body))
    return 0


def roles_of(ids: Sequence[str], names: Sequence[str]) -> list[dict[str, str]]:
    """Name roles the way the API wants it."""
    return [*({"ID": role_id} for role_id in ids), *({"Name": name} for name in names)]


COMMAND = Command(
    path="acl token create",
    options=Options,
    run=run,
    usage="[options] [<path>]",
    description="""
        Create is used to issue new ACL tokens. Requires a management token.
    """,
)
