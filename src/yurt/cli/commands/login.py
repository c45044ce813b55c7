"""`yurt login`: exchange the token of an identity provider for one of the cluster."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.arguments import no_arguments
from yurt.cli.command import Command, Session
from yurt.cli.errors import CommandError, failing_as
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.options import Flag, FormatOptions
from yurt.cli.token_view import show_token
from yurt.sdk import acl
from yurt.sdk.types.acl import AuthMethod


class Options(FormatOptions, frozen=True, kw_only=True):
    """The flags of `login`."""

    method: Annotated[str, Flag("method", "The auth method to use. Default = the default one", "<name>")] = ""
    login_token: Annotated[
        str, Flag("login-token", "The signed token of the identity provider.", "<token>")
    ] = ""


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Log in with a JWT."""
    no_arguments(arguments)
    is_machine_output = wants_machine_output(options)
    method = _method(session, options.method)
    if method.type != "JWT":
        raise CommandError(
            f"Auth method {method.name!r} is of type {method.type}; this command logs in with JWT methods, "
            "use the web UI for others"
        )
    if not options.login_token:
        raise CommandError("A login token is required: give it with -login-token")
    with failing_as("Error performing login"):
        answer = acl.login(session.client, method.name, options.login_token)
    if is_machine_output:
        show_record(session.console, options, answer.body)
    else:
        session.console.output(f"Successfully logged in via {method.type} and {method.name}\n")
        show_token(session, answer.value)
    return 0


def _method(session: Session, name: str) -> AuthMethod:
    with failing_as("Error listing ACL auth methods"):
        found = acl.list_auth_methods(session.client).value
    for method in found:
        if method.name == name or (not name and method.default):
            return method
    if name:
        raise CommandError(f"Auth method {name!r} not found; 'yurt acl auth-method list' shows all")
    raise CommandError("Must specify an auth method name with -method, no default found")


COMMAND = Command(
    path="login",
    options=Options,
    run=run,
    usage="[options]",
    description="""
        The login command will exchange the provided third party credentials with the requested auth
        method for a newly minted ACL token.
    """,
)
