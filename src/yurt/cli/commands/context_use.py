"""`yurt context use`: switch to another cluster."""

from collections.abc import Sequence

import msgspec

from yurt.cli.command import Command, Session
from yurt.cli.contexts import contexts_path, find_context, read_contexts, write_contexts
from yurt.cli.errors import UsageError
from yurt.cli.options import GeneralOptions

NONE = "-"


def run(session: Session, _options: GeneralOptions, arguments: Sequence[str]) -> int:
    """Make a context the current one."""
    if len(arguments) != 1:
        raise UsageError("This command takes one argument: <name>")
    name = arguments[0]
    path = contexts_path(session.environment)
    contexts = read_contexts(path)
    if name == NONE:
        write_contexts(path, msgspec.structs.replace(contexts, current=""))
        session.console.output("No context is in use any more")
        return 0
    context = find_context(contexts, name)
    write_contexts(path, msgspec.structs.replace(contexts, current=name))
    session.console.output(f'Using context "{name}"' + (f" at {context.address}" if context.address else ""))
    if session.environment.get("YURT_CONTEXT"):
        session.console.warn("YURT_CONTEXT is set and wins over this choice; unset it to use the new context")
    return 0


COMMAND = Command(
    path="context use",
    options=GeneralOptions,
    run=run,
    usage="<name>",
    description="""
        Makes a saved cluster the one that commands talk to. "-" goes back to none.
    """,
    is_offline=True,
)
