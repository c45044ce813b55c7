"""`yurt var list`."""

import json
from collections.abc import Sequence
from typing import Annotated

from yurt.cli.command import Command, Session
from yurt.cli.errors import UsageError, failing_as
from yurt.cli.hints import show_hint
from yurt.cli.layout import table
from yurt.cli.machine_output import json_text, template_text
from yurt.cli.options import Flag
from yurt.cli.times import absolute
from yurt.cli.variable_view import VariableOptions, chosen_format
from yurt.sdk import variables

FORMATS = ("table", "json", "terse", "go-template")


class Options(VariableOptions, frozen=True, kw_only=True):
    """The flags of `var list`."""

    per_page: Annotated[int | None, Flag("per-page", "How many results to show per page.", "<n>")] = None
    page_token: Annotated[str, Flag("page-token", "Where to start pagination.", "<token>")] = ""
    filter: Annotated[
        str, Flag("filter", "Specifies an expression used to filter the results.", "<expression>")
    ] = ""
    out: Annotated[
        str | None,
        Flag(
            "out",
            "Format to render the list in: table, json, terse or go-template. Default = table on a terminal, "
            "json otherwise",
            "<format>",
        ),
    ] = None
    ui: Annotated[bool, Flag("ui", "Open the variables' page in the browser.")] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """List variables by path."""
    if len(arguments) > 1:
        raise UsageError("This command takes flags and either no arguments or one: <prefix>")
    prefix = arguments[0] if arguments else ""
    default = "table" if session.console.is_terminal else "json"
    out, template = chosen_format(options, default=default, known=FORMATS)
    with failing_as("Error retrieving vars"):
        answer = variables.listing(
            session.client,
            prefix=prefix,
            filter=options.filter,
            per_page=options.per_page or "",
            next_token=options.page_token,
        )
    console = session.console
    if out in {"json", "go-template"}:
        records = json.loads(answer.body)
        for record in records:
            if record.get("Lock") is None:
                record.pop("Lock", None)
        is_paged = bool(options.per_page or options.page_token)
        value = {"Data": records, "QueryMeta": {"NextToken": answer.next_token}} if is_paged else records
        console.output(json_text(value) if out == "json" else template_text(template, value))
        return 0
    if not answer.value:
        console.output("No matching variables found")
    elif out == "terse":
        console.output("\n".join(variable.path for variable in answer.value))
    else:
        rows = [
            [variable.namespace, variable.path, absolute(variable.modify_time)] for variable in answer.value
        ]
        console.output(table([["Namespace", "Path", "Last Updated"], *sorted(rows)]))
    if answer.next_token:
        console.warn(f"Next page token: {answer.next_token}")
    if prefix:
        text = "View Yurt variables at this path in the Web UI"
        show_hint(session, text, f"variables/path/{prefix}", opens=options.ui)
    else:
        show_hint(session, "View Yurt variables in the Web UI", "variables", opens=options.ui)
    return 0


COMMAND = Command(
    path="var list",
    options=Options,
    run=run,
    usage="[options] <prefix>",
    description="""
        List is used to list available variables. Supplying an optional prefix, filters the list to
        variables having a path starting with the prefix.

        If ACLs are enabled, this command will only return variables stored in namespaces and paths where
        the token has the 'variables:list' capability.
    """,
)
