"""A block of text redrawn in place below a spinner, on a terminal."""

import threading
from typing import TextIO

FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
FRAME_INTERVAL_S = 0.1
INDENT = "    "
_UP = "\033[1A"
_CLEAR_LINE = "\033[0G\033[2K"


class LiveBlock:
    """Draws a spinner line with `title`, and under it the latest block.

    A thread turns the spinner while the caller waits for news; `stop` ends it and must be called.
    """

    def __init__(self, stream: TextIO, title: str) -> None:
        self._stream = stream
        self._title = title
        self._block = ""
        self._lines_drawn = 0
        self._frame = 0
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._spinner: threading.Thread | None = None

    def draw(self, block: str) -> None:
        """Replace the block."""
        with self._lock:
            self._block = block
            self._redraw(f"{FRAMES[self._frame]} {self._title} in progress...")
        if self._spinner is None:
            self._spinner = threading.Thread(target=self._spin, name="spinner", daemon=True)
            self._spinner.start()

    def end(self, status: str, *, is_good: bool) -> None:
        """Stop the spinner and leave the outcome in its place."""
        self.stop()
        with self._lock:
            self._redraw(f"{'✓' if is_good else '!'} {self._title} {status}")

    def stop(self) -> None:
        """End the thread; what is drawn stays."""
        self._stopped.set()
        if self._spinner is not None:
            self._spinner.join()

    def _spin(self) -> None:
        while not self._stopped.wait(FRAME_INTERVAL_S):
            with self._lock:
                self._frame = (self._frame + 1) % len(FRAMES)
                self._redraw(f"{FRAMES[self._frame]} {self._title} in progress...")

    def _redraw(self, head: str) -> None:
        lines = [f"  {head}", *(f"{INDENT}{line}".rstrip() for line in self._block.split("\n"))]
        erase = (_UP + _CLEAR_LINE) * self._lines_drawn
        self._stream.write(erase + "\n".join(lines) + "\n")
        self._stream.flush()
        self._lines_drawn = len(lines)
