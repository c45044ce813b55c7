"""`yurt login`: exchange the token of an identity provider for one of the cluster."""

import secrets
from collections.abc import Sequence
from typing import Annotated

from yurt.cli.arguments import no_arguments
from yurt.cli.command import Command, Session
from yurt.cli.errors import CommandError, failing_as
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.oidc_callback import CALLBACK_PATH, callback_listener
from yurt.cli.options import Flag, FormatOptions
from yurt.cli.token_view import show_token
from yurt.sdk import acl
from yurt.sdk.client import Answer
from yurt.sdk.types.acl import AuthMethod, Token

OIDC = "OIDC"
NONCE_BYTES = 24


class Options(FormatOptions, frozen=True, kw_only=True):
    """The flags of `login`."""

    method: Annotated[str, Flag("method", "The auth method to use. Default = the default one", "<name>")] = ""
    login_token: Annotated[
        str, Flag("login-token", "The signed token of the identity provider.", "<token>")
    ] = ""
    callback_address: Annotated[
        str,
        Flag(
            "oidc-callback-addr",
            "Where to wait for the browser to come back. Default = localhost:4649",
            "<host:port>",
        ),
    ] = "localhost:4649"


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Log in with a signed token, or at the page of an identity provider."""
    no_arguments(arguments)
    is_machine_output = wants_machine_output(options)
    method = _method(session, options.method)
    if method.type == OIDC:
        answer = _log_in_at_provider(session, method, options.callback_address)
    elif not options.login_token:
        raise CommandError("A login token is required: give it with -login-token")
    else:
        with failing_as("Error performing login"):
            answer = acl.login(session.client, method.name, options.login_token)
    if is_machine_output:
        show_record(session.console, options, answer.body)
    else:
        session.console.output(f"Successfully logged in via {method.type} and {method.name}\n")
        show_token(session, answer.value)
    return 0


def _log_in_at_provider(session: Session, method: AuthMethod, address: str) -> Answer[Token]:
    """Send somebody to their provider's page, and wait for them to come back."""
    import webbrowser  # noqa: PLC0415 # rarely needed, and slow to import

    nonce = secrets.token_urlsafe(NONCE_BYTES)
    began = {
        "AuthMethodName": method.name,
        "ClientNonce": nonce,
        "RedirectURI": f"http://{address}{CALLBACK_PATH}",
    }
    with callback_listener(address) as listener:
        with failing_as("Error performing login"):
            url = acl.oidc_auth_url(session.client, began).value.auth_url
        # Standard output is for the token.
        session.console.warn(f"Log in at {url}\n")
        webbrowser.open(url)
        brought = listener.wait()
    if brought.error:
        raise CommandError(f"The identity provider refused the login: {brought.error}")
    completed = {**began, "State": brought.state, "Code": brought.code, "Iss": brought.issuer}
    with failing_as("Error performing login"):
        return acl.oidc_complete_auth(session.client, completed)


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
