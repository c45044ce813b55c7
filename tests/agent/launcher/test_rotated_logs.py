"""A task's output in its files: whole, in order, in bounds."""

from __future__ import annotations

import fcntl
import os
import tempfile
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.agent.launcher.real_tasks import ShellTask
from yurt.agent.launcher import LauncherClient, LogLimits
from yurt.agent.launcher.daemon.logs import CHUNK, FILE_BYTES_MIN, RotatedLog

MIB = 1 << 20


def write_through(log: RotatedLog, data: bytes) -> None:
    """Pass `data` through a pipe that is never empty before the end."""
    source, sink = os.pipe2(os.O_CLOEXEC)
    size = fcntl.fcntl(sink, fcntl.F_SETPIPE_SZ, 4 * CHUNK)
    os.set_blocking(source, False)
    os.set_blocking(sink, False)
    rest = memoryview(data)
    log.open()
    open_end = sink
    while True:
        while rest:
            try:
                rest = rest[os.write(open_end, rest[:size]) :]
            except BlockingIOError:
                break
        if not rest and open_end >= 0:
            os.close(open_end)
            open_end = -1
        if not log.pump(source):
            break
    os.close(source)
    log.close()


def files(directory: Path, stream: str = "t.stdout") -> dict[int, bytes]:
    numbered = {int(path.suffix[1:]): path.read_bytes() for path in directory.glob(f"{stream}.*")}
    return dict(sorted(numbered.items()))


def test_an_endless_line_is_split_where_it_was_recorded(tmp_path: Path) -> None:
    # recordings/nomad/client/logs.txt: max_file_size = 1, one line of 3000000 bytes, a newline, "tail"
    write_through(RotatedLog(str(tmp_path), "t.stdout", 5, MIB), b"x" * 3_000_000 + b"\ntail\n")

    assert {number: len(data) for number, data in files(tmp_path).items()} == {
        0: 1015808,
        1: 1015808,
        2: 968390,
    }


def test_the_newest_files_stay_and_numbers_go_on_growing(tmp_path: Path) -> None:
    # recordings/nomad/client/logs.txt: max_file_size = 1, max_files = 3, 60000 lines of 78 to 82 bytes
    lines = [b"%d %s\n" % (number, b"y" * 75) for number in range(60_000)]
    output = b"".join(lines)

    write_through(RotatedLog(str(tmp_path), "t.stdout", 3, MIB), output)

    kept = files(tmp_path)
    assert list(kept) == [2, 3, 4]
    assert all(data.endswith(b"\n") for data in kept.values())
    assert all(MIB - CHUNK <= len(data) <= MIB for data in list(kept.values())[:-1])
    assert output.endswith(b"".join(kept.values()))


def test_a_restarted_task_goes_on_in_the_newest_file(tmp_path: Path) -> None:
    (tmp_path / "t.stdout.6").write_bytes(b"old\n")
    (tmp_path / "t.stdout.7").write_bytes(b"before\n")
    (tmp_path / "t.stdout.other").write_bytes(b"not a log")

    write_through(RotatedLog(str(tmp_path), "t.stdout", 3, MIB), b"after\n")

    assert (tmp_path / "t.stdout.7").read_bytes() == b"before\nafter\n"


@settings(max_examples=60, deadline=None)
@given(
    lengths=st.lists(st.integers(0, 3 * CHUNK), max_size=30),
    limit=st.integers(FILE_BYTES_MIN, 5 * CHUNK),
    can_splice=st.booleans(),
)
def test_any_lines_arrive_whole_and_in_bounds(lengths: list[int], limit: int, can_splice: bool) -> None:
    lines = [bytes([65 + number % 26]) * length + b"\n" for number, length in enumerate(lengths)]
    with tempfile.TemporaryDirectory() as name:
        log = RotatedLog(name, "t.stdout", 1000, limit)
        log._can_splice = can_splice  # False: as on a file system without it
        write_through(log, b"".join(lines))
        kept = files(Path(name))

    assert b"".join(kept.values()) == b"".join(lines)
    assert all(len(data) <= limit for data in kept.values())
    assert all(len(data) >= limit - CHUNK for data in list(kept.values())[:-1])
    for before, _ in pairwise(kept.values()):
        if not before.endswith(b"\n"):
            cut_line = before.rpartition(b"\n")[2][:1]
            assert len(next(line for line in lines if line[:1] == cut_line and len(line) > CHUNK)) > CHUNK


def test_a_planted_link_is_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "t.stdout.0").symlink_to(victim)

    write_through(RotatedLog(str(logs), "t.stdout", 3, MIB), b"output\n")

    assert victim.read_bytes() == b"precious"
    assert (logs / "t.stdout.1").read_bytes() == b"output\n"


def test_a_log_folder_that_vanishes_does_not_hold_up_the_task(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    log = RotatedLog(str(logs), "t.stdout", 3, FILE_BYTES_MIN)
    logs.rmdir()

    write_through(log, b"z" * 4 * MIB)

    assert not logs.exists()


async def test_both_streams_of_a_task_are_kept(
    launcher: LauncherClient, shell: ShellTask, logs: Path
) -> None:
    await (await launcher.start(shell("echo out; echo err >&2"))).wait()
    await (await launcher.start(shell("echo again", attempt=1))).wait()

    assert files(logs) == {0: b"out\nagain\n"}
    assert files(logs, "t.stderr") == {0: b"err\n"}
    assert os.stat(logs / "t.stdout.0").st_mode & 0o777 == 0o644


async def test_much_output_is_rotated_without_a_gap(
    launcher: LauncherClient, shell: ShellTask, logs: Path
) -> None:
    spec = msgspec.structs.replace(
        shell("i=0; while [ $i -lt 40 ]; do seq 0 9999; i=$((i+1)); done"),
        logs=LogLimits(directory=str(logs), files_max=100, file_bytes_max=FILE_BYTES_MIN),
    )

    await (await launcher.start(spec)).wait()

    expected = "".join(f"{number}\n" for number in range(10_000)) * 40
    assert b"".join(files(logs).values()).decode() == expected


async def test_output_is_thrown_away_when_it_is_not_wanted(
    launcher: LauncherClient, shell: ShellTask, logs: Path
) -> None:
    spec = msgspec.structs.replace(shell("seq 0 99999; seq 0 99999 >&2; exit 1"), logs=None)

    assert (await (await launcher.start(spec)).wait()).exit_code == 1

    assert os.listdir(logs) == []


@pytest.mark.parametrize(
    ("files_max", "file_bytes_max", "said"),
    [(0, MIB, "at least 1 file"), (1, 1000, f"the least is {FILE_BYTES_MIN}")],
)
def test_limits_that_cannot_work_are_refused(files_max: int, file_bytes_max: int, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        LogLimits(directory="/tmp", files_max=files_max, file_bytes_max=file_bytes_max)
