"""`yurt alloc logs`: what a task has written."""

import threading
from collections.abc import Iterator, Sequence
from typing import Annotated, BinaryIO

from yurt.cli.alloc_choice import choose_alloc, only_task
from yurt.cli.command import Command, Session
from yurt.cli.console import LIGHT_YELLOW, RESET
from yurt.cli.errors import CommandError, UsageError, failing_as
from yurt.cli.options import Flag, GeneralOptions
from yurt.cli.tail import BYTES_PER_LINE, DEFAULT_TAIL_LINES, keep_last_lines
from yurt.sdk import Client, SdkError, allocs
from yurt.sdk.types.allocs import Alloc


class Options(GeneralOptions, frozen=True, kw_only=True):
    """The flags of `alloc logs`."""

    stdout: Annotated[bool, Flag("stdout", "Display stdout logs. This is the default.")] = False
    stderr: Annotated[bool, Flag("stderr", "Display stderr logs.")] = False
    follow: Annotated[
        bool,
        Flag(
            "f",
            "Causes the output to not stop when the end of the logs are reached, but rather to wait for "
            "additional output. Without -tail, -stdout or -stderr both streams are followed.",
        ),
    ] = False
    tail: Annotated[
        bool, Flag("tail", "Show the logs' end, with offsets relative to it. Default = 10 lines")
    ] = False
    lines: Annotated[int | None, Flag("n", "Sets the number of lines shown by -tail.", "<lines>")] = None
    byte_count: Annotated[int | None, Flag("c", "Sets the number of bytes shown by -tail.", "<bytes>")] = None
    by_job: Annotated[
        bool,
        Flag("job", "Use a random allocation from the specified job, preferring a running one."),
    ] = False
    group: Annotated[
        str | None, Flag("group", "With -job, the group to choose an allocation from.", "<group-name>")
    ] = None
    task: Annotated[str | None, Flag("task", "Sets the task to view the logs of.", "<task-name>")] = None
    verbose: Annotated[bool, Flag("verbose", "Show full information.")] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Print the logs of a task."""
    if not arguments:
        what = "A job ID is required" if options.by_job else "An allocation ID is required"
        raise UsageError(what)
    if len(arguments) > 2:
        raise UsageError("This command takes one or two arguments")
    if options.stdout and options.stderr:
        raise CommandError("Unable to support both stdout and stderr")
    task = options.task or (arguments[1] if len(arguments) > 1 else "")
    alloc = choose_alloc(session, arguments[0], by_job=options.by_job, group=options.group or "", task=task)
    if not task:
        try:
            task = only_task(alloc)
        except CommandError as error:
            raise CommandError(f"Failed to validate task: {error}") from error
    if options.follow and not (options.tail or options.stdout or options.stderr):
        return _follow_both(session, alloc, task)
    kind = "stderr" if options.stderr else "stdout"
    try:
        with failing_as(f"Failed to read {kind} file: error reading file"):
            for data in _read(session.client, alloc, task, kind, options):
                _write(session, data)
    except KeyboardInterrupt:
        if not options.follow:
            raise
    return 0


def _read(client: Client, alloc: Alloc, task: str, kind: str, options: Options) -> Iterator[bytes]:
    offset, lines = _tail_size(kind, options)
    stream = allocs.stream_logs(
        client,
        alloc.id,
        task,
        kind=kind,
        follow=options.follow,
        offset=offset,
        origin="end" if options.tail else "start",
    )
    with stream as frames:
        data = allocs.data_of(frames)
        if lines is None:
            yield from data
        elif options.follow:
            # Everything that is there already arrives in the first frame: the tail is shorter than one.
            yield from (
                keep_last_lines(chunk, lines) if first else chunk for first, chunk in _mark_first(data)
            )
        else:
            yield keep_last_lines(b"".join(data), lines)


def _tail_size(kind: str, options: Options) -> tuple[int, int | None]:
    """The offset from the end to ask for, and the lines to keep of what comes."""
    if not options.tail:
        return 0, None
    if options.lines is not None and options.byte_count is not None:
        raise CommandError(f"Failed to read {kind} file: both -n and -c set")
    if options.byte_count is not None:
        return options.byte_count, None
    lines = DEFAULT_TAIL_LINES if options.lines is None else options.lines
    return lines * BYTES_PER_LINE, lines


def _mark_first(chunks: Iterator[bytes]) -> Iterator[tuple[bool, bytes]]:
    is_first = True
    for chunk in chunks:
        yield is_first, chunk
        is_first = False


def _follow_both(session: Session, alloc: Alloc, task: str) -> int:
    """Follow both streams, each over its own connection, until interrupted or both end."""
    console = session.console
    wraps = console.colours and console.is_terminal
    failures: list[SdkError] = []

    def copy(kind: str, sink: BinaryIO, before: bytes, after: bytes) -> None:
        client = Client.of(session.settings)
        try:
            with allocs.stream_logs(client, alloc.id, task, kind=kind, follow=True) as frames:
                for data in allocs.data_of(frames):
                    sink.write(before + data + after)
                    sink.flush()
        except SdkError as error:
            failures.append(error)

    paint = (LIGHT_YELLOW.encode(), RESET.encode()) if wraps else (b"", b"")
    threads = [
        threading.Thread(target=copy, args=("stdout", console.stdout.buffer, b"", b""), daemon=True),
        threading.Thread(target=copy, args=("stderr", console.stderr.buffer, *paint), daemon=True),
    ]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    except KeyboardInterrupt:
        return 0
    with failing_as("Failed to read stdout and stderr files"):
        if failures:
            raise failures[0]
    return 0


def _write(session: Session, data: bytes) -> None:
    session.console.stdout.buffer.write(data)
    session.console.stdout.flush()


COMMAND = Command(
    path="alloc logs",
    options=Options,
    run=run,
    usage="[options] <allocation> <task>\nUsage: yurt alloc logs [options] -job <job> -task <task>",
    description="""
        Streams the stdout or stderr of the given allocation and task. The task may be left out where an
        allocation has only one.

        When ACLs are enabled, this command requires a token with the 'read-logs' and 'read-job'
        capabilities for the allocation's namespace. The 'list-jobs' capability is required to run the
        command with a job prefix instead of the exact job ID.
    """,
)
