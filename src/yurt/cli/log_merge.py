"""The logs of many tasks as one stream of lines, each under its task's name."""

import itertools
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from typing import NamedTuple, TextIO

from yurt.cli.command import Session
from yurt.cli.console import BLUE, CYAN, GREEN, LIGHT_YELLOW, MAGENTA, YELLOW
from yurt.cli.layout import short_id
from yurt.cli.tail import BYTES_PER_LINE, keep_last_lines
from yurt.sdk import ApiError, Client, SdkError, allocs
from yurt.sdk.streams import Frame
from yurt.sdk.types.allocs import AllocStub, TaskState

# Each stream has a connection and a thread of its own.
STREAMS_MAX = 200
COLOURS = (CYAN, GREEN, MAGENTA, BLUE, YELLOW)
NOT_FOUND = 404


class LogChoice(NamedTuple):
    """Which logs to read; empty texts mean all. `tail_lines` shows that many of what is there already."""

    kinds: tuple[str, ...] = ("stdout", "stderr")
    group: str = ""
    task: str = ""
    tail_lines: int | None = None


class LogMerger:
    """Prints the logs of the tasks that it is shown, line by line, until told that they are over.

    `update` may be called again and again with an ever newer list: tasks that are new join in, tasks that
    have ended are read to their last byte.
    """

    def __init__(self, session: Session, client: Client, choice: LogChoice, *, follow: bool) -> None:
        self._session = session
        self._client = client
        self._choice = choice
        self._follow = follow
        self._lock = threading.Lock()
        self._colours = itertools.cycle(COLOURS)
        self._colour_of: dict[str, str] = {}
        self._readers: dict[tuple[str, str, str], _Reader] = {}
        self._left_out = 0

    def update(self, found: Iterable[AllocStub]) -> None:
        """Read the logs of tasks that have started, and finish those of tasks that have ended."""
        for alloc in sorted(found, key=lambda alloc: (alloc.create_index, alloc.name)):
            if self._choice.group in ("", alloc.task_group):
                for task, state in sorted(alloc.task_states.items()):
                    if self._choice.task in ("", task) and state.started_at:
                        self._update_task(alloc, task, state)

    def finish(self) -> None:
        """Read everything to its last byte, now that no task runs any more."""
        for reader in self._readers.values():
            reader.end()
        for reader in self._readers.values():
            reader.join()

    def _update_task(self, alloc: AllocStub, task: str, state: TaskState) -> None:
        is_over = state.state == "dead"
        for kind in self._choice.kinds:
            key = (alloc.id, task, kind)
            reader = self._readers.get(key)
            if reader is None:
                if sum(reader.is_alive() for reader in self._readers.values()) >= STREAMS_MAX:
                    self._note_left_out(alloc)
                    continue
                reader = _Reader(
                    Client.of(self._client.settings),
                    key,
                    follow=self._follow and not is_over,
                    tail_lines=self._choice.tail_lines,
                    show=self._printer(alloc, task, kind),
                    note=self._note,
                )
                self._readers[key] = reader
                reader.start()
            elif is_over:
                reader.end()

    def _printer(self, alloc: AllocStub, task: str, kind: str) -> Callable[[bytes], None]:
        console = self._session.console
        colour = self._colour_of.setdefault(alloc.id, next(self._colours))
        prefix = console.paint(f"{label(alloc, task)} |", colour).encode() + b" "
        stream: TextIO = console.stderr if kind == "stderr" else console.stdout
        is_warning = kind == "stderr" and console.colours

        def show(line: bytes) -> None:
            text = console.paint(line.decode(errors="replace"), LIGHT_YELLOW).encode() if is_warning else line
            with self._lock:
                stream.buffer.write(prefix + text + b"\n")
                stream.flush()

        return show

    def _note(self, text: str) -> None:
        with self._lock:
            self._session.console.warn(text)

    def _note_left_out(self, alloc: AllocStub) -> None:
        self._left_out += 1
        if self._left_out == 1:
            self._note(
                f"More than {STREAMS_MAX} logs at once: those of allocation {alloc.id[:8]} and others are "
                "left out; choose some with -group or -task"
            )


def label(alloc: AllocStub, task: str) -> str:
    """Name a task in a merged log: its group and number, the task, the allocation."""
    instance = alloc.name.removeprefix(f"{alloc.job_id}.") or alloc.task_group
    return f"{instance}/{task} {short_id(alloc.id, verbose=False)}"


class _Reader(threading.Thread):
    """Copies one log. `end` says that no more will be written to it."""

    def __init__(
        self,
        client: Client,
        key: tuple[str, str, str],
        *,
        follow: bool,
        tail_lines: int | None,
        show: Callable[[bytes], None],
        note: Callable[[str], None],
    ) -> None:
        super().__init__(name="/".join(key), daemon=True)
        self._client = client
        self._alloc_id, self._task, self._kind = key
        self._follow = follow
        self._tail_lines = tail_lines
        self._show = show
        self._note = note
        self._over = threading.Event()
        # Where the last frame ended, so that the rest can be read after the stream has been cut.
        self._file, self._offset = "", 0
        self._partial = b""

    def end(self) -> None:
        if self._follow and not self._over.is_set():
            self._over.set()
            self._client.transport.abort()

    def run(self) -> None:
        try:
            # Closed before the rest is asked for, as both use one connection.
            with closing(self._stream()) as frames:
                self._copy(frames)
            if self._follow and self._over.is_set():
                self._copy(self._rest())
        except SdkError as error:
            # A log that was never written, or went with its allocation, is an empty one.
            if not (isinstance(error, ApiError) and error.status == NOT_FOUND):
                self._note(f"The {self._kind} of {self._task} in {self._alloc_id[:8]} broke off: {error}")
        finally:
            if self._partial:
                self._show(self._partial)
            self._client.close()

    def _copy(self, frames: Iterator[Frame]) -> None:
        for frame in frames:
            if not frame.data:
                # `end` may have come before there was a connection to cut.
                if self._over.is_set():
                    return
                continue
            self._file, self._offset = frame.file or self._file, frame.offset
            *lines, self._partial = (self._partial + frame.data).split(b"\n")
            for line in lines:
                self._show(line)

    def _stream(self) -> Generator[Frame, None, None]:
        tail = self._tail_lines
        stream = allocs.stream_logs(
            self._client,
            self._alloc_id,
            self._task,
            kind=self._kind,
            follow=self._follow,
            offset=0 if tail is None else tail * BYTES_PER_LINE,
            origin="start" if tail is None else "end",
        )
        try:
            with stream as opened:
                frames = opened.frames(with_heartbeats=True)
                if tail is not None:
                    # Followed, what is there already comes in the first frame: the tail is shorter than one.
                    first = list(itertools.islice(frames, 1)) if self._follow else list(frames)
                    data = keep_last_lines(b"".join(frame.data for frame in first), tail)
                    yield from (Frame(data=data, file=last.file, offset=last.offset) for last in first[-1:])
                yield from frames
        except SdkError:
            if not self._over.is_set():
                raise

    def _rest(self) -> Iterator[Frame]:
        """What was written between the last frame and the end, over the files that came since."""
        if not self._file:
            self._follow = False
            yield from self._stream()
            return
        name, _, number = self._file.rpartition(".")
        for current in itertools.count(int(number)):
            offset = self._offset if current == int(number) else 0
            try:
                with allocs.stream_file(
                    self._client, self._alloc_id, f"{name}.{current}", follow=False, offset=offset
                ) as opened:
                    yield from opened.frames()
            except ApiError:
                return
