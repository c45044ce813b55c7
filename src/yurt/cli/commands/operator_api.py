"""`yurt operator api`: call the HTTP API directly."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Annotated
from urllib.parse import parse_qsl, urlsplit

from yurt.cli.arguments import one_argument
from yurt.cli.command import Command, Session
from yurt.cli.errors import CommandError, failing_as
from yurt.cli.options import Flag, GeneralOptions
from yurt.sdk import Client
from yurt.sdk.settings import ClientSettings
from yurt.sdk.transport import query_text


class Options(GeneralOptions, frozen=True, kw_only=True):
    """The flags of `operator api`."""

    method: Annotated[
        str, Flag("X", "The HTTP method. Default = GET, or POST when there is a body", "<method>")
    ] = ""
    headers: Annotated[
        tuple[str, ...], Flag("H", "A header to send. May be given several times.", "<name: value>")
    ] = ()
    filter: Annotated[str, Flag("filter", "A filter expression for lists.", "<expression>")] = ""
    dryrun: Annotated[bool, Flag("dryrun", "Print an equivalent curl command instead.")] = False
    verbose: Annotated[bool, Flag("verbose", "Print the headers of request and answer to stderr.")] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Send one request and print the body of the answer, whatever its status."""
    target = one_argument(arguments, "<path>")
    client, path, query = _target(session, target)
    query = {"region": client.settings.region, "namespace": client.settings.namespace, **query}
    if options.filter:
        query["filter"] = options.filter
    stdin = session.console.stdin
    body = None if stdin.isatty() else stdin.read().encode() or None
    method = options.method.upper() or ("GET" if body is None else "POST")
    headers = _headers(options.headers)
    url = client.address + path + query_text(query)
    if options.dryrun:
        session.console.output(_curl(client, method, url, headers, has_body=body is not None))
        return 0
    if options.verbose:
        _show_headers(session, ">", f"{method} {url}", headers)
    try:
        with failing_as("Error querying the API"):
            answer = client.transport.request(
                method, path, params=query, headers=headers, body=body, timeout_s=None
            )
            if options.verbose:
                _show_headers(session, "<", f"{answer.status} {answer.reason}", dict(answer.getheaders()))
            sink = session.console.stdout.buffer
            while chunk := answer.read1():
                sink.write(chunk)
                session.console.stdout.flush()
    finally:
        client.close()
    return 0


def _target(session: Session, text: str) -> tuple[Client, str, dict[str, str]]:
    """Split a path, `host:port/path` or URL into the client to ask, the path and the query."""
    if text.startswith("/") or "/" not in text or text.startswith("v1/"):
        parts = urlsplit(text if text.startswith("/") else f"/{text}")
        return session.client, parts.path, dict(parse_qsl(parts.query, keep_blank_values=True))
    parts = urlsplit(text if "://" in text else f"http://{text}")
    settings = session.settings
    client = Client.of(
        ClientSettings(
            address=f"{parts.scheme}://{parts.netloc}",
            region=settings.region,
            namespace=settings.namespace,
            token=settings.token,
            basic_auth=settings.basic_auth,
            tls=settings.tls,
        )
    )
    return client, parts.path or "/", dict(parse_qsl(parts.query, keep_blank_values=True))


def _headers(texts: Sequence[str]) -> dict[str, str]:
    headers = {}
    for text in texts:
        name, colon, value = text.partition(":")
        if not colon:
            raise CommandError(f"Error parsing header {text!r}: write it as 'Name: value'")
        headers[name.strip()] = value.strip()
    return headers


def _show_headers(session: Session, mark: str, first: str, headers: Mapping[str, str]) -> None:
    session.console.warn(
        "\n".join([f"{mark} {first}", *(f"{mark} {name}: {headers[name]}" for name in headers)])
    )


def _curl(client: Client, method: str, url: str, headers: Mapping[str, str], *, has_body: bool) -> str:
    parts = []
    if method != ("POST" if has_body else "GET"):
        parts.append(f"-X {method}")
    if client.settings.token:
        # The secret itself must not end up in a terminal's history.
        parts.append('-H "X-Nomad-Token: ${YURT_TOKEN:-$NOMAD_TOKEN}"')
    parts += [f"-H {shlex.quote(f'{name}: {value}')}" for name, value in headers.items()]
    if has_body:
        parts.append("-d @-")
    return " \\\n  ".join(["curl", *parts, shlex.quote(url)])


COMMAND = Command(
    path="operator api",
    options=Options,
    run=run,
    usage="[options] <path>",
    description="""
        api is a utility command for accessing the HTTP API and is inspired by the popular curl command
        line tool. The body of the answer is printed as it comes, and the exit code is 0 whatever the
        status. Standard input, where it is no terminal, is sent as the body.

        To list jobs:

          $ yurt operator api /v1/jobs

        To read the event stream:

          $ yurt operator api /v1/event/stream
    """,
)
