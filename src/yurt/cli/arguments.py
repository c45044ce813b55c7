"""How many positional arguments a command takes."""

from collections.abc import Sequence

from yurt.cli.errors import CommandError, UsageError


def no_arguments(arguments: Sequence[str]) -> None:
    """Refuse any argument."""
    if arguments:
        raise UsageError("This command takes no arguments")


def one_argument(arguments: Sequence[str], name: str) -> str:
    """Give the only argument; `name` is what the error calls it."""
    if len(arguments) != 1:
        raise UsageError(f"This command takes one argument: {name}")
    return arguments[0]


def key_values(pairs: Sequence[str], *, what: str = "meta") -> dict[str, str]:
    """Read `key=value` texts; `what` is what the error calls them."""
    values = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise CommandError(f"Error parsing {what} value: {pair}")
        values[key] = value
    return values
