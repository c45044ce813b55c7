"""`yurt context delete`: forget a cluster."""

from collections.abc import Sequence

import msgspec

from yurt.cli.command import Command, Session
from yurt.cli.contexts import contexts_path, find_context, read_contexts, write_contexts
from yurt.cli.errors import UsageError
from yurt.cli.options import GeneralOptions


def run(session: Session, _options: GeneralOptions, arguments: Sequence[str]) -> int:
    """Delete a context."""
    if len(arguments) != 1:
        raise UsageError("This command takes one argument: <name>")
    name = arguments[0]
    path = contexts_path(session.environment)
    contexts = read_contexts(path)
    find_context(contexts, name)
    kept = {other: context for other, context in contexts.contexts.items() if other != name}
    current = "" if contexts.current == name else contexts.current
    write_contexts(path, msgspec.structs.replace(contexts, contexts=kept, current=current))
    session.console.output(f'Deleted context "{name}"')
    return 0


COMMAND = Command(
    path="context delete",
    options=GeneralOptions,
    run=run,
    usage="<name>",
    description="""
        Forgets a saved cluster, with its token. If it was the current one, none is current afterwards.
    """,
    is_offline=True,
)
