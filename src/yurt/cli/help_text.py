"""The layout of help texts."""

import textwrap
from collections.abc import Iterable

import msgspec

from yurt.cli.command import PROGRAM, Command
from yurt.cli.options import Declared, GeneralOptions, OptionsT, declared_flags

LINE_WIDTH = 80


def command_help(command: Command[OptionsT]) -> str:
    """Write a command's help: usage, description, general flags, its own flags."""
    parts = [f"Usage: {PROGRAM} {command.path} {command.usage}".rstrip()]
    parts.extend(f"Alias: {PROGRAM} {alias}" for alias in command.aliases)
    text = "\n".join(parts) + "\n\n" + _indent(command.description, 2)
    general = {declared.field for declared in declared_flags(GeneralOptions)}
    declared = [flag for flag in declared_flags(command.options) if not flag.flag.is_hidden]
    if not command.is_offline:
        text += "\n\nGeneral Options:\n\n" + _flags(flag for flag in declared if flag.field in general)
    own = [flag for flag in declared if flag.field not in general]
    if own:
        title = " ".join(word.capitalize() for word in command.path.split())
        text += f"\n\n{title} Options:\n\n" + _flags(own)
    return text


def flags_help(options: type[msgspec.Struct]) -> str:
    """Write the help on all flags of an options class."""
    return _flags(declared_flags(options))


def _flags(flags: Iterable[Declared]) -> str:
    blocks = []
    for declared in flags:
        flag = declared.flag
        heads = [f"-{name}{'=' + flag.value if flag.value else ''}" for name in (flag.name, *flag.also)]
        blocks.append("\n".join(f"  {head}" for head in heads) + "\n" + _indent(flag.help, 4))
    return "\n\n".join(blocks)


def _indent(text: str, width: int) -> str:
    """Wrap paragraphs; a paragraph that starts with a blank is kept as it is written."""
    paragraphs = textwrap.dedent(text).strip("\n").split("\n\n")
    return "\n\n".join(_paragraph(paragraph, width) for paragraph in paragraphs)


def _paragraph(text: str, width: int) -> str:
    margin = " " * width
    if text.startswith((" ", "$")):
        return textwrap.indent(text, margin)
    return textwrap.fill(
        " ".join(text.split()),
        LINE_WIDTH,
        initial_indent=margin,
        subsequent_indent=margin,
        break_long_words=False,
        break_on_hyphens=False,
    )
