"""A program on a pseudo-terminal: what it shows, what is typed, how large the screen is."""

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

READ_BYTES_MAX = 64 * 1024
DEFAULT_TIMEOUT_S = 30.0
STOP_TIMEOUT_S = 10.0


class PseudoTerminal:
    """Runs a program whose three streams are one terminal."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str],
        directory: Path | None = None,
        lines: int = 24,
        columns: int = 80,
    ) -> None:
        self._master, slave = pty.openpty()
        self._slave_settings = termios.tcgetattr(slave)
        self.screen = Screen(lines, columns)
        self.output = b""
        self._set_size(lines, columns)
        self.process = subprocess.Popen(
            command,
            cwd=directory,
            env=dict(environment),
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            # The terminal must control the session, so that Ctrl-C becomes a signal.
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 # one system call
        )
        # Kept open, so that the terminal's settings can be read after the program has ended.
        self._slave = slave

    def type(self, text: str) -> None:
        """Type a text; `\\x03` is Ctrl-C."""
        os.write(self._master, text.encode())

    def resize(self, lines: int, columns: int) -> None:
        """Change the size of the screen, as a window does."""
        self.screen = Screen(lines, columns)
        self._set_size(lines, columns)
        self.process.send_signal(signal.SIGWINCH)

    def wait_for(self, pattern: str, timeout_s: float = DEFAULT_TIMEOUT_S) -> str:
        """Wait until the screen shows `pattern`; returns the screen."""
        end = time.monotonic() + timeout_s
        while not re.search(pattern, self.screen.text()):
            if not self._read(end):
                raise AssertionError(f"{pattern!r} was never shown; the screen:\n{self.screen.text()}")
        return self.screen.text()

    def wait_for_end(self, timeout_s: float = DEFAULT_TIMEOUT_S) -> int:
        """Wait for the program to end, reading all it writes; returns its exit code."""
        end = time.monotonic() + timeout_s
        while self.process.poll() is None:
            self._read(min(end, time.monotonic() + 0.05))
            assert time.monotonic() < end, f"still running; the screen:\n{self.screen.text()}"
        while self._read(time.monotonic() + 0.05):
            pass
        return self.process.returncode

    def is_as_before(self) -> bool:
        """Whether the terminal's settings are those from before the program."""
        return termios.tcgetattr(self._slave) == self._slave_settings

    def close(self) -> None:
        """End the program and drop the terminal."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(STOP_TIMEOUT_S)
        os.close(self._master)
        os.close(self._slave)

    def _set_size(self, lines: int, columns: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def _read(self, end: float) -> bool:
        readable, _, _ = select.select([self._master], [], [], max(0.0, end - time.monotonic()))
        if not readable:
            return False
        data = os.read(self._master, READ_BYTES_MAX)
        self.output += data
        self.screen.feed(data.decode(errors="replace"))
        return bool(data)


@contextlib.contextmanager
def on_terminal(
    command: Sequence[str],
    *,
    environment: Mapping[str, str],
    directory: Path | None = None,
    lines: int = 24,
    columns: int = 80,
) -> Iterator[PseudoTerminal]:
    """A program on a terminal, ended with the block."""
    terminal = PseudoTerminal(
        command, environment=environment, directory=directory, lines=lines, columns=columns
    )
    try:
        yield terminal
    finally:
        terminal.close()


class Screen:
    """The characters a terminal shows, from the control sequences that our views use.

    An unknown sequence fails the test: a view must not use what this cannot follow.
    """

    _TOKEN = re.compile(r"\033\[(\??)([0-9;]*)([A-Za-z])|\033[>=]|[\r\n\b\a]|[^\033\r\n\b\a]+|\033")

    def __init__(self, lines: int, columns: int) -> None:
        self._size = (lines, columns)
        self._rows = self._blank()
        self._main: list[list[str]] | None = None
        self._row = self._column = 0
        self._pending = ""
        self.is_cursor_shown = True

    @property
    def is_alternate(self) -> bool:
        """Whether the second screen is shown, as full-screen programs do."""
        return self._main is not None

    def text(self) -> str:
        """What is shown, without blanks at the ends of lines."""
        return "\n".join("".join(row).rstrip() for row in self._rows)

    def feed(self, text: str) -> None:
        """Show what a program writes."""
        text = self._pending + text
        cut = text.rfind("\033", max(0, len(text) - 16))
        is_partial = cut >= 0 and not re.match(r"\033(\[\??[0-9;]*[A-Za-z]|[>=])", text[cut:])
        self._pending = text[cut:] if is_partial else ""
        for token in self._TOKEN.finditer(text[:cut] if is_partial else text):
            if token[3]:
                self._control(token[1], token[2], token[3])
            elif token[0] == "\n":
                self._next_line()
            elif token[0] == "\r":
                self._column = 0
            elif token[0] == "\b":
                self._column = max(0, self._column - 1)
            elif token[0][0] not in "\033\a":
                self._write(token[0])

    def _blank(self) -> list[list[str]]:
        return [[" "] * self._size[1] for _ in range(self._size[0])]

    def _write(self, text: str) -> None:
        for character in text:
            if self._column >= self._size[1]:
                self._column = 0
                self._next_line()
            self._rows[self._row][self._column] = character
            self._column += 1

    def _next_line(self) -> None:
        if self._row + 1 < self._size[0]:
            self._row += 1
        else:
            self._rows = [*self._rows[1:], [" "] * self._size[1]]

    def _control(self, private: str, numbers: str, kind: str) -> None:
        values = [int(number or 0) for number in numbers.split(";")]
        count = values[0] or 1
        if private:
            self._mode(values[0], is_set=kind == "h")
        elif kind == "H":
            self._row = min(count, self._size[0]) - 1
            self._column = (values[1] if len(values) > 1 and values[1] else 1) - 1
        elif kind == "A":
            self._row = max(0, self._row - count)
        elif kind == "G":
            self._column = count - 1
        elif kind == "K":
            start = 0 if values[0] == 2 else self._column
            self._rows[self._row][start:] = [" "] * (self._size[1] - start)
        elif kind == "J":
            if values[0] == 2:
                self._rows = self._blank()
            else:
                self._rows[self._row][self._column :] = [" "] * (self._size[1] - self._column)
                for row in range(self._row + 1, self._size[0]):
                    self._rows[row] = [" "] * self._size[1]
        else:
            assert kind == "m", f"unknown control sequence: {private}{numbers}{kind}"

    def _mode(self, number: int, *, is_set: bool) -> None:
        if number == 1049 and is_set and self._main is None:
            self._main, self._rows = self._rows, self._blank()
        elif number == 1049 and not is_set and self._main is not None:
            self._rows, self._main = self._main, None
        elif number == 25:
            self.is_cursor_shown = is_set
