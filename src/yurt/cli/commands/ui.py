"""`yurt ui`: the web UI, at the page of whatever an id names."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.command import Command, Session
from yurt.cli.errors import CommandError, UsageError, failing_as
from yurt.cli.hints import open_in_browser, serves_ui
from yurt.cli.options import Flag, GeneralOptions
from yurt.sdk import acl, search

PAGES = {"jobs": "jobs", "allocs": "allocations", "nodes": "clients"}


class Options(GeneralOptions, frozen=True, kw_only=True):
    """The flags of `ui`."""

    authenticate: Annotated[
        bool,
        Flag(
            "authenticate",
            "Log the browser in: put a secret into the address that works once, for your token.",
        ),
    ] = False
    show_url: Annotated[bool, Flag("show-url", "Print the address instead of opening it.")] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Open a page, or print its address."""
    if len(arguments) > 1:
        raise UsageError("This command takes no or one optional argument: <identifier>")
    url = session.client.address + (_page(session, arguments[0]) if arguments else "")
    if options.authenticate:
        url += f"?ott={_one_time_secret(session)}"
    if options.show_url:
        session.console.output(f"URL for web UI: {url}")
        return 0
    if not serves_ui(session):
        raise CommandError(
            f"The agent at {session.client.address} serves no web UI; "
            "'yurt top' and 'yurt status' show the cluster in the terminal"
        )
    session.console.output(f"Opening URL {url!r}")
    return 0 if open_in_browser(session, url) else 1


def _one_time_secret(session: Session) -> str:
    with failing_as("Could not get one-time token"):
        return acl.create_one_time_token(session.client).value.one_time_token.one_time_secret_id


def _page(session: Session, name: str) -> str:
    with failing_as(f'Error querying search with id: "{name}"'):
        found = search.by_prefix(session.client, name).value.matches
    matches = [(kind, match) for kind in PAGES for match in found.get(kind) or ()]
    exact = [(kind, match) for kind, match in matches if match == name]
    chosen = exact or matches
    if not chosen:
        raise CommandError(f'Unable to resolve ID: "{name}"')
    if len(chosen) > 1:
        raise CommandError(f'Multiple matches found for id "{name}"')
    kind, match = chosen[0]
    return f"/ui/{PAGES[kind]}/{match}"


COMMAND = Command(
    path="ui",
    options=Options,
    run=run,
    usage="[options] <identifier>",
    description="""
        Open the web UI in the default browser. An optional identifier may be provided, in which case the
        UI will be opened to view the details for that object. Supported identifiers are jobs, allocations
        and nodes.
    """,
)
