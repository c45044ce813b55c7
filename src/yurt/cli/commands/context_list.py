"""`yurt context list`: the saved clusters."""

from collections.abc import Sequence

from yurt.cli.command import Command, Session
from yurt.cli.context_view import without_token
from yurt.cli.contexts import contexts_path, read_contexts
from yurt.cli.errors import UsageError
from yurt.cli.layout import table
from yurt.cli.machine_output import show_value, wants_machine_output
from yurt.cli.options import FormatOptions


def run(session: Session, options: FormatOptions, arguments: Sequence[str]) -> int:
    """List the contexts."""
    if arguments:
        raise UsageError("This command takes no arguments")
    contexts = read_contexts(contexts_path(session.environment))
    current = session.environment.get("YURT_CONTEXT") or contexts.current
    names = sorted(contexts.contexts)
    if wants_machine_output(options):
        found = [without_token(name, contexts.contexts[name], is_current=name == current) for name in names]
        show_value(session.console, options, found)
        return 0
    if not names:
        session.console.output("No contexts: save one with 'yurt context set -address <addr> <name>'")
        return 0
    rows: list[list[object]] = [["Current", "Name", "Address", "Namespace", "Region", "Token"]]
    for name in names:
        context = contexts.contexts[name]
        rows.append(
            [
                "*" if name == current else "-",
                name,
                context.address,
                context.namespace,
                context.region,
                "set" if context.token else "",
            ]
        )
    session.console.output(table(rows))
    return 0


COMMAND = Command(
    path="context list",
    options=FormatOptions,
    run=run,
    usage="[options]",
    description="""
        Lists the saved clusters. The current one is marked. Tokens are not shown.
    """,
    is_offline=True,
)
