"""Connecting this process's streams, and its terminal, to a remote command."""

import os
import select
import signal
import sys
import termios
import threading
import tty
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from yurt.cli.console import Console
from yurt.cli.errors import CommandError
from yurt.sdk import SdkError
from yurt.sdk.exec_session import ExecSession

READ_BYTES = 4096
# How often the input thread looks whether the session has ended.
INPUT_POLL_S = 0.1


def run_remote(
    console: Console, session: ExecSession, *, reads_input: bool, is_tty: bool, escape: str
) -> int:
    """Copy streams both ways until the command ends, and return its exit code. Raises `CommandError`."""
    ended = threading.Event()
    escaped = threading.Event()
    with _raw_terminal(enabled=is_tty), _window_size(session, enabled=is_tty):
        sender = threading.Thread(
            target=_send_input,
            args=(session, ended, escaped, reads_input, escape if is_tty else ""),
            name="exec-input",
            daemon=True,
        )
        sender.start()
        try:
            code = _receive(console, session)
            reason = "failed to exec into task: the session ended before the command did"
        except SdkError as error:
            code = None
            reason = f"failed to exec into task: {error}"
        finally:
            ended.set()
            session.close()
            sender.join()
    if code is None:
        raise CommandError("session terminated by user" if escaped.is_set() else reason)
    return code


def _receive(console: Console, session: ExecSession) -> int | None:
    """Show output until the command ends; returns its exit code, None when the session ended before."""
    for message in session.messages():
        for output, stream in ((message.stdout, console.stdout), (message.stderr, console.stderr)):
            if output is not None and output.data:
                stream.buffer.write(output.data)
                stream.flush()
        if message.exited:
            return message.result.exit_code if message.result else 0
    return None


def _send_input(
    session: ExecSession, ended: threading.Event, escaped: threading.Event, reads_input: bool, escape: str
) -> None:
    """Forward standard input. The escape character and a dot, at the start of a line, end the session."""
    watcher = EscapeWatcher(escape)
    with suppress(SdkError):
        for data in _typed(ended) if reads_input else ():
            forwarded = watcher.feed(data)
            if forwarded is None:
                escaped.set()
                session.close()
                return
            if forwarded:
                session.send_input(forwarded)
        session.close_input()


def _typed(ended: threading.Event) -> Iterator[bytes]:
    """Yield standard input as it comes, until it or the session ends."""
    try:
        descriptor = sys.stdin.fileno()
    except (OSError, ValueError):
        return  # closed, or not a file
    while not ended.is_set():
        if not select.select([descriptor], [], [], INPUT_POLL_S)[0]:
            continue
        data = os.read(descriptor, READ_BYTES)
        if not data:
            return
        yield data


class EscapeWatcher:
    """Looks for the escape character followed by a dot at the start of a line."""

    def __init__(self, escape: str) -> None:
        """An empty `escape` watches for nothing."""
        self._escape = escape.encode()
        self._at_line_start = True
        self._held = b""

    def feed(self, data: bytes) -> bytes | None:
        """Give the bytes to forward, or None when the session is to end."""
        if not self._escape:
            return data
        forwarded = bytearray()
        for value in data:
            byte = bytes([value])
            if self._held:
                if byte == b".":
                    return None
                forwarded += self._held if byte != self._escape else b""
                self._held = b""
            elif self._at_line_start and byte == self._escape:
                self._held = byte
                continue
            forwarded += byte
            self._at_line_start = byte in b"\r\n"
        return bytes(forwarded)


@contextmanager
def _raw_terminal(*, enabled: bool) -> Iterator[None]:
    if not enabled:
        yield
        return
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    # Being told to end must not leave the user's terminal unusable either.
    handlers = {number: signal.signal(number, _leave) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        tty.setraw(descriptor)
        yield
    finally:
        with suppress(termios.error):  # the terminal itself may be gone
            termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _leave(number: int, _frame: object) -> None:
    raise SystemExit(128 + number)


@contextmanager
def _window_size(session: ExecSession, *, enabled: bool) -> Iterator[None]:
    if not enabled:
        yield
        return

    def tell(*_: object) -> None:
        with suppress(OSError, SdkError):
            size = os.get_terminal_size(sys.stdout.fileno())
            session.resize(height=size.lines, width=size.columns)

    before = signal.signal(signal.SIGWINCH, tell)
    tell()
    try:
        yield
    finally:
        signal.signal(signal.SIGWINCH, before)
