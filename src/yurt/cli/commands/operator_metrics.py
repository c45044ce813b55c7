"""`yurt operator metrics`: what the agent measures."""

import json
from collections.abc import Sequence
from typing import Annotated

from yurt.cli.arguments import no_arguments
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.machine_output import show_value, wants_machine_output
from yurt.cli.options import Flag, FormatOptions
from yurt.sdk import ApiError


class Options(FormatOptions, frozen=True, kw_only=True):
    """The flags of `operator metrics`."""

    pretty: Annotated[bool, Flag("pretty", "Indent the JSON.")] = False
    format: Annotated[str, Flag("format", "The format to ask for: prometheus.", "<format>")] = ""


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Show metrics."""
    no_arguments(arguments)
    is_machine_output = wants_machine_output(options)
    with failing_as("Error querying metrics"):
        status, _, body = session.client.exchange(
            "GET", "/v1/metrics", pretty=options.pretty, format=options.format
        )
        if status >= 400:
            raise ApiError(status, body.decode(errors="replace"))
    if is_machine_output:
        show_value(session.console, options, json.loads(body))
    else:
        session.console.output(body.decode(errors="replace").rstrip("\n"))
    return 0


COMMAND = Command(
    path="operator metrics",
    options=Options,
    run=run,
    usage="[options]",
    description="""
        Get metrics of the agent that is asked.
    """,
)
