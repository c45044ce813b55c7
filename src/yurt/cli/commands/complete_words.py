"""`yurt complete-words`: what may come next on a command line, for the shells' completion."""

import os
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module

from yurt.cli.registry import find, members

HELP = """\
Usage: yurt complete-words [<word>...] <word>

  Prints what may stand in place of the last word of a command line, one a
  line. The scripts of 'yurt completion' call it.
"""
# What an argument of a command is: a kind of the prefix search, by the command's path or its group.
KINDS = {
    "alloc": "allocs",
    "context": "contexts",
    "deployment": "deployment",
    "eval": "evals",
    "exec": "allocs",
    "fs": "allocs",
    "inspect": "jobs",
    "job": "jobs",
    "logs": "jobs",
    "namespace": "namespaces",
    "node": "nodes",
    "node pool": "node_pools",
    "quota": "quotas",
    "start": "jobs",
    "status": "all",
    "stop": "jobs",
    "var": "vars",
    "volume": "volumes",
    "why": "jobs",
}
# Commands of those groups that take files, or make new names.
NAMELESS = frozenset(
    {
        "alloc cp",
        "context set",
        "job init",
        "job plan",
        "job run",
        "job validate",
        "namespace apply",
        "node pool apply",
        "node pool init",
        "var init",
        "volume create",
        "volume init",
        "volume register",
    }
)
# The flags whose value is a name.
FLAG_KINDS = {"context": "contexts", "namespace": "namespaces", "node-id": "nodes", "job": "jobs"}


def main(arguments: Sequence[str]) -> int:
    """Print what may stand in place of the last argument, one a line; nothing when that is not known."""
    if list(arguments) in (["-h"], ["-help"], ["--help"]):
        sys.stdout.write(HELP)
        return 0
    *before, current = arguments or [""]
    if before and before[-1] == "--":
        before.pop()
    for word in _candidates(before, current):
        if word.startswith(current):
            sys.stdout.write(f"{word}\n")
    return 0


def _candidates(before: list[str], current: str) -> Iterable[str]:
    entry, group, count = find(before)
    if entry is None:
        if group != " ".join(before):
            return ()
        return [name for name, _ in members(group)]
    if entry.is_plain:
        return ("bash", "zsh", "fish") if entry.path == "completion" else ()
    from yurt.cli.options import declared_flags  # noqa: PLC0415 # not for the names of commands

    command = import_module(f"yurt.cli.commands.{entry.module}").COMMAND
    flags = {flag.flag.name: flag for flag in declared_flags(command.options)}
    if current.startswith("-"):
        dashes = "--" if current.startswith("--") else "-"
        return [f"{dashes}{name}" for name, flag in flags.items() if not flag.flag.is_hidden]
    given = before[count:]
    last = given[-1].lstrip("-") if given and given[-1].startswith("-") else ""
    if last in flags and flags[last].kind != "bool":
        return _named(FLAG_KINDS.get(last, ""), current)
    if command.path in NAMELESS:
        return ()
    *groups, _ = command.path.split(" ")
    kind = KINDS.get(command.path) or KINDS.get(" ".join(groups)) or KINDS.get("".join(groups[:1]), "")
    return _named(kind, current)


def _named(kind: str, prefix: str) -> Iterable[str]:
    """The names of a kind that start with a prefix; none when the server cannot be asked."""
    from yurt.cli.contexts import contexts_path, read_contexts  # noqa: PLC0415 # only where names are
    from yurt.cli.errors import CommandError  # noqa: PLC0415

    try:
        if kind == "contexts":
            return sorted(read_contexts(contexts_path(os.environ)).contexts)
        return _found(kind, prefix) if kind else ()
    except CommandError:
        return ()


def _found(kind: str, prefix: str) -> list[str]:
    from yurt.cli.command import settings_of  # noqa: PLC0415 # only where a server is asked
    from yurt.cli.options import GeneralOptions  # noqa: PLC0415
    from yurt.sdk import Client, SdkError, nodes, search  # noqa: PLC0415

    try:
        client = Client.of(settings_of(GeneralOptions(), os.environ))
        found = search.by_prefix(client, prefix, kind).value.matches
        names = {name for matches in found.values() for name in matches or ()}
        if kind == "nodes":
            names |= {node.name for node in nodes.listing(client).value}
    except SdkError:
        return []
    return sorted(names)
