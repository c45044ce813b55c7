"""`-watch`: a command's output, renewed until interrupted."""

import io
import re
from collections.abc import Callable

from yurt.cli.command import Session
from yurt.cli.console import Console, terminal_has_size
from yurt.cli.errors import CommandError
from yurt.cli.terminal_screen import full_screen
from yurt.cli.times import absolute

INTERVAL_S = 1.0
HEAD_LINES = 2
STEPS = {"up": -1, "down": 1, "page-up": -1, "page-down": 1}
# What changes with every second by itself is no news.
_AGES = re.compile(r"\b(\d+(y|mo|d|h|m|s))+ ago|[\d.]+ ?(MHz|[KMGT]?i?B)\b|\d+%|^Uptime .*$", re.MULTILINE)


def watch(session: Session, title: str, show: Callable[[Session], int]) -> int:
    """Call `show` again and again with a session that writes to the screen.

    A failure of the first call is the command's; later ones are shown and tried again. Returns the exit code
    of the last call.
    """
    first = _capture(session, show)
    console = session.console
    if not (console.is_terminal and terminal_has_size(console.stdout)):
        return _print_changes(session, show, first)
    code, text = first
    offset = 0
    try:
        with full_screen(console.stdout) as screen:
            while True:
                lines, room = text.splitlines(), screen.size.lines - HEAD_LINES
                offset = max(0, min(offset, len(lines) - room))
                scrolls = "up and down scroll, " if len(lines) > room else ""
                head = f"{absolute(session.now())}   {scrolls}q ends   {title}"
                screen.draw([console.bold(head), "", *lines[offset:]])
                keys = screen.wait(INTERVAL_S)
                if "q" in keys:
                    break
                offset += sum(STEPS.get(key, 0) * (room if "page" in key else 1) for key in keys)
                if not keys:
                    code, text = _try_again(session, show)
    except KeyboardInterrupt:
        pass
    # What was seen last stays on the terminal.
    console.output(text.rstrip("\n"))
    return code


def _print_changes(session: Session, show: Callable[[Session], int], first: tuple[int, str]) -> int:
    code, text = first
    shown = ""
    try:
        while True:
            news = _AGES.sub("", text)
            if news != shown:
                separator = "\n" if shown else ""
                session.console.output(f"{separator}==> {absolute(session.now())}\n{text}".rstrip("\n"))
                shown = news
            session.sleep(INTERVAL_S)
            code, text = _try_again(session, show)
    except KeyboardInterrupt:
        return code


def _try_again(session: Session, show: Callable[[Session], int]) -> tuple[int, str]:
    try:
        return _capture(session, show)
    except CommandError as error:
        return error.exit_code, str(error)


def _capture(session: Session, show: Callable[[Session], int]) -> tuple[int, str]:
    outside = session.console
    stream = io.StringIO()
    console = Console(stream, stream, outside.stdin, colours=outside.colours, is_terminal=False)
    code = show(session.quietly(console))
    return code, stream.getvalue()
