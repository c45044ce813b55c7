"""A terminal taken over for a view that is redrawn in place, and given back as it was."""

import os
import re
import select
import signal
import sys
import termios
import tty
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NamedTuple, TextIO

READ_BYTES = 1024
# A key that sends several bytes sends them at once; a lone escape byte is the Escape key.
KEYS = {
    "\033[A": "up",
    "\033OA": "up",
    "\033[B": "down",
    "\033OB": "down",
    "\033[C": "right",
    "\033OC": "right",
    "\033[D": "left",
    "\033OD": "left",
    "\033[H": "home",
    "\033[1~": "home",
    "\033[F": "end",
    "\033[4~": "end",
    "\033[5~": "page-up",
    "\033[6~": "page-down",
    "\033[Z": "back-tab",
    "\033": "escape",
    "\r": "enter",
    "\n": "enter",
    "\t": "tab",
    "\177": "backspace",
    "\b": "backspace",
}
_KEY = re.compile(r"\033\[[0-9;]*[A-Za-z~]|\033O[A-Z]|.", re.DOTALL)
_STYLE = re.compile(r"\033\[[0-9;]*m")
_ENTER = "\033[?1049h\033[?25l"
_LEAVE = "\033[?25h\033[?1049l"
_RESET = "\033[0m"


class Size(NamedTuple):
    """How many characters fit."""

    lines: int
    columns: int


class TerminalScreen:
    """Draws whole pictures and reads keys. Use it through `full_screen`."""

    def __init__(self, stream: TextIO, keys_from: int | None, wake_up: int) -> None:
        self._stream = stream
        self._keys_from = keys_from
        self._wake_up = wake_up

    @property
    def size(self) -> Size:
        """The size now; terminals that do not know theirs are taken for 24 by 80."""
        with suppress(OSError):
            found = os.get_terminal_size(self._stream.fileno())
            if found.lines and found.columns:
                return Size(found.lines, found.columns)
        return Size(24, 80)

    def draw(self, lines: Sequence[str]) -> None:
        """Replace the picture; what does not fit is cut off."""
        height, width = self.size
        shown = [clipped(line, width) for line in lines[:height]]
        self._stream.write("\033[H" + "\033[K\n".join(shown) + "\033[K\033[J")
        self._stream.flush()

    def wait(self, seconds: float) -> list[str]:
        """Wait for keys, and give their names; nothing when the time is over or the size has changed."""
        sources = [self._wake_up] if self._keys_from is None else [self._wake_up, self._keys_from]
        ready, _, _ = select.select(sources, [], [], seconds)
        if self._wake_up in ready:
            os.read(self._wake_up, READ_BYTES)
        if self._keys_from is None or self._keys_from not in ready:
            return []
        typed = os.read(self._keys_from, READ_BYTES).decode(errors="replace")
        if not typed:  # the terminal has gone
            raise KeyboardInterrupt
        return [KEYS.get(key, key) for key in _KEY.findall(typed)]


@contextmanager
def full_screen(stream: TextIO) -> Iterator[TerminalScreen]:
    """Take over the terminal that `stream` is; however the block ends, the terminal is as it was before.

    Signals that would end the process end the block with `KeyboardInterrupt` first.
    """
    keys_from = sys.stdin.fileno() if sys.stdin.isatty() else None
    before = None if keys_from is None else termios.tcgetattr(keys_from)
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    os.set_blocking(writer, False)
    handlers = {
        signal.SIGWINCH: signal.signal(signal.SIGWINCH, lambda *_: None),
        signal.SIGTERM: signal.signal(signal.SIGTERM, _interrupt),
        signal.SIGHUP: signal.signal(signal.SIGHUP, _interrupt),
    }
    # A signal's number arrives in the pipe, so that `wait` sees a new size at once.
    wake_up_before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    try:
        if keys_from is not None:
            tty.setcbreak(keys_from)
        stream.write(_ENTER)
        stream.flush()
        yield TerminalScreen(stream, keys_from, reader)
    finally:
        signal.set_wakeup_fd(wake_up_before)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        with suppress(OSError):
            stream.write(_LEAVE + _RESET)
            stream.flush()
        if keys_from is not None and before is not None:
            with suppress(termios.error):
                termios.tcsetattr(keys_from, termios.TCSAFLUSH, before)
        os.close(reader)
        os.close(writer)


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def visible(text: str) -> str:
    """A text without its colours."""
    return _STYLE.sub("", text)


def clipped(text: str, width: int) -> str:
    """Cut a text to a number of characters; its colours do not count, and end with it."""
    if len(visible(text)) <= width:
        return text
    parts: list[str] = []
    left = width
    position = 0
    for style in _STYLE.finditer(text):
        piece = text[position : style.start()][:left]
        parts += [piece, style[0]]
        left -= len(piece)
        position = style.end()
    parts.append(text[position:][:left])
    return "".join(parts) + (_RESET if _STYLE.search(text) else "")
