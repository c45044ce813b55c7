"""What a command shows and asks: two streams, colour, confirmation."""

import os
from collections.abc import Mapping
from typing import TextIO

from yurt.cli.errors import CommandError

BOLD = "\033[1m"
RESET = "\033[0m"
RED = "\033[31m"
GREEN = "\033[32m"
YELLOW = "\033[33m"
BLUE = "\033[34m"
MAGENTA = "\033[35m"
CYAN = "\033[36m"
LIGHT_YELLOW = "\033[93m"
LIGHT_RED = "\033[91m"
LIGHT_GREEN = "\033[92m"
GREY = "\033[90m"


class Console:
    """Writes results to `stdout`, and errors and warnings to `stderr`.

    `colours` marks headings and the like. On a terminal (`is_terminal` and coloured) every message is also
    wrapped in its stream's colour; forced colour on a pipe leaves that out.
    """

    def __init__(
        self, stdout: TextIO, stderr: TextIO, stdin: TextIO, *, colours: bool, is_terminal: bool
    ) -> None:
        self.stdout = stdout
        self.stderr = stderr
        self.stdin = stdin
        self.colours = colours
        self.is_terminal = is_terminal

    def output(self, text: str) -> None:
        """Write a result."""
        self._write(self.stdout, text, RESET)

    def info(self, text: str) -> None:
        """Write a result that stands out."""
        self._write(self.stdout, text, LIGHT_GREEN)

    def warn(self, text: str) -> None:
        """Write a remark to standard error."""
        self._write(self.stderr, text, LIGHT_YELLOW)

    def error(self, text: str) -> None:
        """Write a failure to standard error."""
        self._write(self.stderr, text, LIGHT_RED)

    def heading(self, text: str) -> None:
        """Write an empty line and a bold line."""
        self.output("\n" + self.bold(text) + self.paint("", RESET))

    def bold(self, text: str) -> str:
        """Make a text bold where colours are on."""
        return f"{BOLD}{text}{RESET}" if self.colours else text

    def paint(self, text: str, *codes: str) -> str:
        """Colour a text where colours are on; with no text, give the bare codes."""
        if not self.colours:
            return text
        return "".join(codes) + (f"{text}{RESET}" if text else "")

    def ask(self, question: str) -> str:
        """Ask for a line, which is returned without surrounding blanks."""
        wrapped = f"{RESET}{question}{RESET}" if self._wraps else question
        self.stdout.write(f"{wrapped} ")
        self.stdout.flush()
        answer = self.stdin.readline()
        if not answer:
            raise CommandError(
                "Error asking for confirmation: end of input; answer the question, or pass -yes"
            )
        return answer.strip()

    @property
    def _wraps(self) -> bool:
        return self.colours and self.is_terminal

    def _write(self, stream: TextIO, text: str, colour: str) -> None:
        stream.write(f"{colour}{text}{RESET}\n" if self._wraps else f"{text}\n")
        stream.flush()


def wants_colour(
    environment: Mapping[str, str], *, is_terminal: bool, no_color: bool, force_color: bool
) -> bool:
    """Decide on colour: switching it off beats forcing it, forcing it beats looking at the terminal."""

    def is_set(name: str) -> bool:
        return bool(environment.get(f"YURT_{name}") or environment.get(f"NOMAD_{name}"))

    if no_color or is_set("CLI_NO_COLOR") or "NO_COLOR" in environment:
        return False
    return is_terminal or force_color or is_set("CLI_FORCE_COLOR")


def terminal_has_size(stream: TextIO) -> bool:
    """Whether the terminal says how large it is; some (serial lines, recorders) do not."""
    try:
        size = os.get_terminal_size(stream.fileno())
    except (OSError, ValueError):
        return False
    return size.lines > 0 and size.columns > 0
