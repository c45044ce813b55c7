"""`yurt acl auth-method create`."""

import json
from collections.abc import Sequence
from typing import Annotated, Any

from yurt.cli.arguments import no_arguments
from yurt.cli.auth_view import show_auth_method
from yurt.cli.command import Command, Session
from yurt.cli.errors import CommandError, failing_as
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.options import Flag, FormatOptions
from yurt.cli.spec_file import read_text
from yurt.sdk import acl


class MethodOptions(FormatOptions, frozen=True, kw_only=True):
    """The flags that describe an auth method."""

    type: Annotated[str, Flag("type", "OIDC or JWT.", "<type>")] = ""
    max_token_ttl: Annotated[
        str, Flag("max-token-ttl", "How long the tokens of a login may live.", "<duration>")
    ] = ""
    token_locality: Annotated[str, Flag("token-locality", "local or global.", "<locality>")] = ""
    token_name_format: Annotated[
        str, Flag("token-name-format", "How the tokens of a login are named.", "<format>")
    ] = ""
    default: Annotated[bool | None, Flag("default", "Use this method where none is named.")] = None
    config: Annotated[str, Flag("config", "The configuration as JSON, @file, or - for stdin.", "<json>")] = ""


class Options(MethodOptions, frozen=True, kw_only=True):
    """The flags of `acl auth-method create`."""

    name: Annotated[str, Flag("name", "The name of the method. Required.", "<name>")] = ""


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Create an auth method."""
    no_arguments(arguments)
    is_machine_output = wants_machine_output(options)
    for flag, value in (
        ("name", options.name),
        ("max-token-ttl", options.max_token_ttl),
        ("type", options.type),
        ("config", options.config),
    ):
        if not value:
            raise CommandError(f"ACL auth method {flag} must be specified using the -{flag} flag")
    method = {"Name": options.name, **described(session, options)}
    method.setdefault("TokenLocality", "local")
    with failing_as("Error creating ACL auth method"):
        answer = acl.write_auth_method(session.client, method)
    if is_machine_output:
        show_record(session.console, options, answer.body)
    else:
        show_auth_method(session, answer.value)
    return 0


def described(session: Session, options: MethodOptions) -> dict[str, Any]:
    """The members that flags give."""
    method: dict[str, Any] = {
        "Type": options.type.upper(),
        "MaxTokenTTL": options.max_token_ttl,
        "TokenLocality": options.token_locality,
        "TokenNameFormat": options.token_name_format,
    }
    method = {name: value for name, value in method.items() if value}
    if options.default is not None:
        method["Default"] = options.default
    if options.config:
        method["Config"] = _config(session, options.config)
    return method


def _config(session: Session, source: str) -> Any:  # noqa: ANN401 # the server judges it
    text = source
    if source == "-" or source.startswith("@"):
        text = read_text(session, source.removeprefix("@"), "auth method configuration")
    try:
        return json.loads(text)
    except ValueError as error:
        raise CommandError(f"Error parsing auth method configuration: {error}") from error


COMMAND = Command(
    path="acl auth-method create",
    options=Options,
    run=run,
    usage="[options]",
    description="""
        Create is used to create new ACL auth methods. Use requires a management token.
    """,
)
