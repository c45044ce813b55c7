"""`yurt alloc fs`: the files of an allocation."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.alloc_choice import choose_alloc
from yurt.cli.command import Command, Session
from yurt.cli.errors import CommandError, UsageError, failing_as
from yurt.cli.layout import table
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.options import Flag, FormatOptions
from yurt.cli.sizes import format_size
from yurt.cli.tail import BYTES_PER_LINE, DEFAULT_TAIL_LINES, keep_last_lines
from yurt.cli.times import absolute_text
from yurt.sdk import allocs
from yurt.sdk.types.allocs import FileInfo


class Options(FormatOptions, frozen=True, kw_only=True):
    """The flags of `alloc fs`."""

    machine: Annotated[bool, Flag("H", "Machine friendly output: sizes in bytes.")] = False
    stat: Annotated[bool, Flag("stat", "Show file stat information instead of displaying the file.")] = False
    follow: Annotated[bool, Flag("f", "Wait for additional output at the end of the file.")] = False
    tail: Annotated[bool, Flag("tail", "Show the file's end. Default = 10 lines")] = False
    lines: Annotated[int | None, Flag("n", "Sets the number of lines shown by -tail.", "<lines>")] = None
    byte_count: Annotated[int | None, Flag("c", "Sets the number of bytes shown by -tail.", "<bytes>")] = None
    by_job: Annotated[
        bool, Flag("job", "Use a random allocation from the specified job, preferring a running one.")
    ] = False
    group: Annotated[
        str, Flag("group", "With -job, the group to choose an allocation from.", "<group-name>")
    ] = ""
    verbose: Annotated[bool, Flag("verbose", "Show full information.")] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """List a directory or print a file."""
    if not arguments:
        raise UsageError("A job ID is required" if options.by_job else "An allocation ID is required")
    if len(arguments) > 2:
        raise UsageError("This command takes one or two arguments: <allocation> [path]")
    is_machine_output = wants_machine_output(options)
    path = arguments[1] if len(arguments) == 2 else "/"
    alloc = choose_alloc(session, arguments[0], by_job=options.by_job, group=options.group)
    with failing_as(""):
        found = allocs.file_info(session.client, alloc.id, path)
        info = found.value
        if is_machine_output:
            if not options.stat and not info.is_dir:
                raise CommandError("-json and -t are for directories and for -stat; a file is shown as it is")
            body = found.body if options.stat else allocs.list_files(session.client, alloc.id, path).body
            show_record(session.console, options, body)
            return 0
        if options.stat:
            session.console.output(_stat(info, machine=options.machine))
            return 0
        if info.is_dir:
            entries = allocs.list_files(session.client, alloc.id, path).value
            session.console.output(_listing(entries, machine=options.machine))
            return 0
        try:
            _copy(session, alloc.id, path, options)
        except KeyboardInterrupt:
            if not options.follow:
                raise
    return 0


def _size(info: FileInfo, *, machine: bool) -> str:
    return str(info.size) if machine else format_size(info.size)


def _name(info: FileInfo) -> str:
    return f"{info.name}/" if info.is_dir else info.name


def _stat(info: FileInfo, *, machine: bool) -> str:
    size = _size(info, machine=machine)
    values = [info.file_mode, size, absolute_text(info.mod_time), info.content_type, _name(info)]
    return table([["Mode", "Size", "Modified Time", "Content Type", "Name"], values])


def _listing(entries: Sequence[FileInfo], *, machine: bool) -> str:
    rows = [
        [info.file_mode, _size(info, machine=machine), absolute_text(info.mod_time), _name(info)]
        for info in entries
    ]
    return table([["Mode", "Size", "Modified Time", "Name"], *rows])


def _copy(session: Session, alloc_id: str, path: str, options: Options) -> None:
    if options.tail and options.lines is not None and options.byte_count is not None:
        raise CommandError("both -n and -c set")
    lines = None
    offset = 0
    if options.tail:
        lines = None if options.byte_count is not None else options.lines or DEFAULT_TAIL_LINES
        offset = (lines or 0) * BYTES_PER_LINE if lines is not None else options.byte_count or 0
    stream = allocs.stream_file(
        session.client,
        alloc_id,
        path,
        follow=options.follow,
        offset=offset,
        origin="end" if options.tail else "start",
    )
    sink = session.console.stdout
    with stream as frames:
        for data in allocs.data_of(frames):
            # What is there already comes in the first frame, so the lines to keep are all in it.
            sink.buffer.write(data if lines is None else keep_last_lines(data, lines))
            sink.flush()
            lines = None


COMMAND = Command(
    path="alloc fs",
    aliases=("fs",),
    options=Options,
    run=run,
    usage="[options] <allocation> <path>\nUsage: yurt alloc fs [options] -job <job> <path>",
    description="""
        Displays either the contents of an allocation directory for the passed allocation, or displays the
        file at the given path. The path is relative to the root of the alloc dir and defaults to root if
        unspecified.

        When ACLs are enabled, this command requires a token with the 'read-fs' and 'read-job'
        capabilities for the allocation's namespace. The 'list-jobs' capability is required to run the
        command with a job prefix instead of the exact job ID.
    """,
)
