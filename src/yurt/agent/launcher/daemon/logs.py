"""One output stream of a task, copied from its pipe into numbered files."""

import errno
import fcntl
import os

# A file is closed at the first line end in its last CHUNK bytes, so a line is split only when it is
# longer than that, and a file is never larger than its limit.
CHUNK = 32 << 10
FILE_BYTES_MIN = 2 * CHUNK
_PIPE_BYTES = 64 << 10  # what Linux gives a new pipe
_PIPE_BYTES_BUSY = 256 << 10
_READ_BYTES_MAX = 1 << 20


class RotatedLog:
    """Writes `<directory>/<name>.<N>`, going on in the highest N there is.

    At most `max_files` files stay, each of at most `max_bytes`. A disk that cannot be written loses
    output, but never stops the task: its pipe is always emptied. Raises OSError when `directory` cannot
    be read; nothing is written before `open`.
    """

    def __init__(self, directory: str, name: str, max_files: int, max_bytes: int) -> None:
        self._stem = f"{directory}/{name}."
        self._max_files = max_files
        self._max_bytes = max_bytes
        self._last_chunk_at = max_bytes - CHUNK
        self._can_splice = hasattr(os, "splice")  # not with every C library
        self._pipe_grown = False
        self._fd = -1
        self._size = 0
        self._full = False  # what comes next goes to a new file
        self._numbers = _numbers(directory, name + ".")

    def open(self) -> None:
        """Make ready to write; should that fail, it is tried again when there is output."""
        try:
            if self._numbers:
                self._open_newest()
            else:
                self._rotate()
        except OSError:
            self._full = True

    def _open_newest(self) -> None:
        # Tasks may write in this directory: a planted link or FIFO must neither lead us elsewhere nor
        # hold us up. Not O_APPEND, which splice refuses.
        flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        self._fd = os.open(f"{self._stem}{self._numbers[-1]}", flags, 0o644)
        self._size = os.lseek(self._fd, 0, os.SEEK_END)
        self._full = self._size >= self._max_bytes

    def _rotate(self) -> None:
        """Go on in a new file, and remove what is too old to keep."""
        self.close()
        self._full = True  # until it is open
        self._numbers.append(self._numbers[-1] + 1 if self._numbers else 0)
        try:
            self._open_newest()
        except OSError:
            self._numbers.pop()
            raise
        while len(self._numbers) > self._max_files:
            try:
                os.unlink(f"{self._stem}{self._numbers.pop(0)}")
            except OSError:  # somebody else removed it
                continue

    def pump(self, source: int) -> bool:
        """Move what the non-blocking pipe `source` holds, a bounded amount a call; False at its end."""
        try:
            if self._full or self._size >= self._last_chunk_at:
                return self._pump_last_chunk(source)
            return self._pump_freely(source)
        except BlockingIOError:
            return True
        except OSError:
            return _discard(source)

    def _pump_freely(self, source: int) -> bool:
        room = min(self._last_chunk_at - self._size, _READ_BYTES_MAX)
        if not self._can_splice:
            data = os.read(source, room)
            self._write(data)
            return bool(data)
        try:
            moved = os.splice(source, self._fd, room, flags=os.SPLICE_F_NONBLOCK)
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
            self._can_splice = False  # this file system cannot; the next call reads and writes
            return True
        self._size += moved
        if moved >= _PIPE_BYTES and not self._pipe_grown:
            # Only for streams that fill their pipe: an unprivileged user's pipes share one allowance.
            self._pipe_grown = True
            try:
                fcntl.fcntl(source, fcntl.F_SETPIPE_SZ, _PIPE_BYTES_BUSY)
            except OSError:
                return True
        return moved > 0

    def _pump_last_chunk(self, source: int) -> bool:
        data = os.read(source, CHUNK if self._full else min(CHUNK, self._max_bytes - self._size))
        if not data:
            return False
        if self._full:
            self._rotate()
            self._write(data)
            return True
        line_end = data.find(b"\n") + 1
        if line_end:
            self._write(data[:line_end])
            self._full = True
            if data[line_end:]:
                self._rotate()
                self._write(data[line_end:])
        elif self._size == self._last_chunk_at and len(data) == CHUNK:
            self._rotate()  # the line is too long for this file either way: split it here
            self._write(data)
        else:
            self._write(data)
            self._full = self._size >= self._max_bytes
        return True

    def append(self, data: bytes) -> None:
        """Write data that comes from no pipe."""
        for start in range(0, len(data), CHUNK):
            piece = data[start : start + CHUNK]
            try:
                if self._full or self._size + len(piece) >= self._max_bytes:
                    self._rotate()
                self._write(piece)
            except OSError:
                return

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            written = os.write(self._fd, view)
            self._size += written
            view = view[written:]

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def _numbers(directory: str, prefix: str) -> list[int]:
    rests = [name[len(prefix) :] for name in os.listdir(directory) if name.startswith(prefix)]
    return sorted(int(rest) for rest in rests if rest.isdecimal())


def _discard(source: int) -> bool:
    """Throw away what the pipe holds, so that its writer goes on."""
    try:
        return bool(os.read(source, _READ_BYTES_MAX))
    except BlockingIOError:
        return True
