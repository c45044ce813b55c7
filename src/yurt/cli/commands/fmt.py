"""`yurt fmt`: lay job and configuration files out."""

import os
from collections.abc import Iterator, Sequence
from typing import Annotated

from yurt.cli.command import Command, Session
from yurt.cli.errors import CommandError
from yurt.cli.hcl_format import format_hcl
from yurt.cli.options import Flag, GeneralOptions
from yurt.jobspec.hcl import HCLError, literal_body, parse

SUFFIXES = (".nomad", ".hcl")


class Options(GeneralOptions, frozen=True, kw_only=True):
    """The flags of `fmt`."""

    check: Annotated[bool, Flag("check", "Exit with 1 if anything would change; change nothing.")] = False
    list: Annotated[bool, Flag("list", "Print the names of the files that change. Default = true")] = True
    write: Annotated[bool, Flag("write", "Write the files that change. Default = true")] = True
    recursive: Annotated[bool, Flag("recursive", "Go into directories below.")] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Format files."""
    if list(arguments) == ["-"]:
        text = session.console.stdin.read()
        formatted = _format(text, "<stdin>")
        session.console.stdout.write(formatted)
        return 1 if options.check and formatted != text else 0
    has_changes = False
    for path in _files(arguments or ["."], recursive=options.recursive):
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read()
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"Error reading {path}: {error}") from error
        formatted = _format(text, path)
        if formatted == text:
            continue
        has_changes = True
        if options.list:
            session.console.output(path)
        if options.write and not options.check:
            with open(path, "w", encoding="utf-8") as file:
                file.write(formatted)
    return 1 if options.check and has_changes else 0


def _files(paths: Sequence[str], *, recursive: bool) -> Iterator[str]:
    for path in paths:
        if not os.path.isdir(path):
            if not os.path.exists(path):
                raise CommandError(f"No file or directory at {path}")
            yield path
            continue
        for folder, inner, names in os.walk(path):
            yield from (os.path.join(folder, name) for name in sorted(names) if name.endswith(SUFFIXES))
            if not recursive:
                inner.clear()
            inner.sort()


def _format(text: str, path: str) -> str:
    """Lay out a text that is HCL; anything else is refused, since it would be damaged."""
    try:
        parse(text, filename=path)
    except HCLError as error:
        try:
            # Agent configuration is written in the older syntax.
            literal_body(text, filename=path)
        except HCLError:
            raise CommandError(f"Error parsing {path}: {error}") from error
    return format_hcl(text)


COMMAND = Command(
    path="fmt",
    options=Options,
    run=run,
    usage="[flags] paths ...",
    description="""
        Formats job and agent configuration files to a canonical format. If a path is a directory, it will
        format all .nomad and .hcl files in the directory. If you provide a single dash (-) as argument,
        fmt will read from standard input (STDIN) and output the processed output to standard output
        (STDOUT).
    """,
    is_offline=True,
)
