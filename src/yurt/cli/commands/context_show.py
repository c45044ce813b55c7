"""`yurt context show`: one saved cluster."""

from collections.abc import Sequence

from yurt.cli.command import Command, Session
from yurt.cli.context_view import record_pairs, without_token
from yurt.cli.contexts import chosen_context, contexts_path, find_context, read_contexts
from yurt.cli.errors import UsageError
from yurt.cli.layout import key_list
from yurt.cli.machine_output import show_value, wants_machine_output
from yurt.cli.options import FormatOptions


def run(session: Session, options: FormatOptions, arguments: Sequence[str]) -> int:
    """Show a context."""
    if len(arguments) > 1:
        raise UsageError("This command takes at most one argument: <name>")
    current, context = chosen_context(session.environment, options.context)
    name = arguments[0] if arguments else current
    if not name:
        session.console.output(f"No context is in use; commands go to {session.settings.address}")
        return 0
    if arguments:
        context = find_context(read_contexts(contexts_path(session.environment)), name)
    if wants_machine_output(options):
        show_value(session.console, options, without_token(name, context, is_current=name == current))
        return 0
    session.console.output(key_list(record_pairs(name, context, is_current=name == current)))
    return 0


COMMAND = Command(
    path="context show",
    options=FormatOptions,
    run=run,
    usage="[options] [<name>]",
    description="""
        Shows the cluster in use, or the one that is named. Tokens are not shown.
    """,
    is_offline=True,
)
