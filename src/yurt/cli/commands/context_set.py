"""`yurt context set`: save a cluster under a name."""

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

import msgspec

from yurt.cli.command import Command, Session
from yurt.cli.contexts import (
    CONTEXTS_MAX,
    NAME_LENGTH_MAX,
    Context,
    contexts_path,
    read_contexts,
    write_contexts,
)
from yurt.cli.errors import CommandError, UsageError
from yurt.cli.options import GeneralOptions

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
SCHEMES = frozenset({"http", "https", "unix"})


def run(session: Session, options: GeneralOptions, arguments: Sequence[str]) -> int:
    """Save what the general flags say."""
    if len(arguments) != 1:
        raise UsageError("This command takes one argument: <name>, after the flags")
    name = arguments[0]
    if not NAME.fullmatch(name) or len(name) > NAME_LENGTH_MAX:
        raise CommandError(
            f'"{name}" cannot name a context: use at most {NAME_LENGTH_MAX} letters, digits, dots, '
            "underscores and dashes, and start with a letter or digit"
        )
    if options.address is not None and urlsplit(options.address).scheme not in SCHEMES:
        raise CommandError(
            f'The address "{options.address}" has no usable scheme; write it as http://HOST:PORT, '
            "https://HOST:PORT or unix:///PATH"
        )
    path = contexts_path(session.environment)
    contexts = read_contexts(path)
    given = {
        field.name: value
        for field in msgspec.structs.fields(Context)
        if (value := getattr(options, field.name)) is not None
    }
    is_new = name not in contexts.contexts
    if is_new and len(contexts.contexts) >= CONTEXTS_MAX:
        raise CommandError(f"There are {CONTEXTS_MAX} contexts already; delete one first")
    if is_new and not given.get("address"):
        raise CommandError(f"A new context needs an address: yurt context set -address <addr> {name}")
    changed = msgspec.structs.replace(contexts.contexts.get(name, Context()), **given)
    # The first one is meant to be used; later ones are switched to on purpose.
    current = contexts.current or ("" if contexts.contexts else name)
    saved = msgspec.structs.replace(contexts, contexts={**contexts.contexts, name: changed}, current=current)
    write_contexts(path, saved)
    is_first = is_new and current == name
    session.console.output(f'Saved context "{name}"' + (", which is the current one" if is_first else ""))
    return 0


COMMAND = Command(
    path="context set",
    options=GeneralOptions,
    run=run,
    usage="[general options] <name>",
    description="""
        Saves a cluster under a name: the general options that are given are what is saved, such as -address,
        -token, -namespace, -region and the TLS files. Options of an existing context that are not given stay
        as they are; an empty value (-token=) removes one. The first context that is saved becomes the
        current one.

        Contexts are kept in $XDG_CONFIG_HOME/yurt/contexts.json (~/.config/yurt/contexts.json), which only
        you can read. Where a setting comes from, the first that has it wins: a flag; the context that
        -context names; YURT_* and NOMAD_* variables; the context of YURT_CONTEXT, or the current one; the
        default.
    """,
)
