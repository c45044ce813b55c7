"""`yurt var get`: read a variable."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.arguments import one_argument
from yurt.cli.command import Command, Session
from yurt.cli.errors import CommandError, failing_as
from yurt.cli.hints import show_hint
from yurt.cli.options import Flag
from yurt.cli.variable_view import VariableOptions, chosen_format, refuse_wildcard, variable_text
from yurt.sdk import ApiError, variables

FORMATS = ("table", "json", "hcl", "go-template", "none")


class Options(VariableOptions, frozen=True, kw_only=True):
    """The flags of `var get`."""

    item: Annotated[
        str | None, Flag("item", "Print only the value of the given item, without a newline.", "<item key>")
    ] = None
    out: Annotated[
        str | None,
        Flag(
            "out",
            "Format to render the variable in: table, json, hcl, go-template or none. Default = table on a "
            "terminal, json otherwise",
            "<format>",
        ),
    ] = None
    ui: Annotated[bool, Flag("ui", "Open the variable's page in the browser.")] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Show a variable."""
    path = one_argument(arguments, "<path>")
    refuse_wildcard(session)
    default = "table" if session.console.is_terminal else "json"
    out, template = chosen_format(options, default=default, known=FORMATS)
    try:
        with failing_as("Error retrieving variable"):
            variable = variables.read(session.client, path).value
    except CommandError as error:
        cause = error.__cause__
        if isinstance(cause, ApiError) and (cause.status, cause.body) == (404, "variable not found"):
            session.console.warn("Variable not found")
            return 1
        raise
    if options.item is not None:
        if options.item not in variable.items:
            raise CommandError(f'Variable does not contain "{options.item}" item')
        session.console.stdout.write(variable.items[options.item])
        return 0
    if out == "none":
        return 0
    session.console.output(variable_text(session, variable, out, template))
    show_hint(
        session,
        "View variable details in the Web UI",
        f"variables/var/{variable.path}@{variable.namespace}",
        opens=options.ui,
    )
    return 0


COMMAND = Command(
    path="var get",
    options=Options,
    run=run,
    usage="[options] <path>",
    description="""
        The 'var get' command is used to get the contents of an existing variable.

        If ACLs are enabled, this command requires a token with the 'variables:read' capability for the
        target variable's namespace.
    """,
)
