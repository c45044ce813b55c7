"""Nothing a task started outlives it."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import msgspec
import pytest

from tests.agent.launcher.real_tasks import Mailbox, ShellTask
from yurt.agent.launcher import LauncherClient, LaunchSpec
from yurt.agent.launcher.daemon.processes import start_ticks

# Forks into a session of its own and lets its parent end, as daemons do; tells its pid when it has.
DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        with open(sys.argv[1], "w") as mailbox:
            mailbox.write(f"{os.getpid()}\\n")
        time.sleep(1000)
    os._exit(0)
os.wait()
"""


def python_task(shell: ShellTask, code: str, *args: str) -> LaunchSpec:
    return msgspec.structs.replace(shell(""), path=sys.executable, argv=("python", "-c", code, *args))


async def test_a_daemon_is_gone_when_its_task_has_ended(
    launcher: LauncherClient, shell: ShellTask, mailbox: Mailbox
) -> None:
    task = await launcher.start(python_task(shell, DAEMON, mailbox.path))
    pid = int(await mailbox.receive())

    assert (await task.wait()).exit_code == 0

    assert start_ticks(pid) is None


async def test_children_in_the_background_are_gone_with_their_task(
    launcher: LauncherClient, shell: ShellTask, mailbox: Mailbox
) -> None:
    script = f'for n in 1 2 3; do sleep 1000 & pids="$pids $!"; done; echo $pids > {mailbox.path}; exit 3'
    task = await launcher.start(shell(script))
    pids = (await mailbox.receive()).split()

    assert (await task.wait()).exit_code == 3

    assert [start_ticks(int(pid)) for pid in pids] == [None, None, None]


@pytest.mark.parametrize("own_sessions", [False, True], ids=["one group", "each its own session"])
async def test_processes_that_keep_forking_are_all_killed(
    launcher: LauncherClient, shell: ShellTask, mailbox: Mailbox, tmp_path: Path, own_sessions: bool
) -> None:
    # Each process leaves a successor and ends, a dozen lines of them at a time; the mailbox hears of it
    # when they are well under way.
    code = """
import os, sys, time
mailbox, own_sessions = sys.argv[1], sys.argv[2] == "True"
for line in range(12):
    if os.fork() == 0:
        for generation in range(1_000_000):
            if own_sessions:
                os.setsid() if os.getpid() != os.getsid(0) else None
            if generation == 20 and line == 0:
                with open(mailbox, "w") as file:
                    file.write("under way\\n")
            time.sleep(0.001)
            if os.fork():
                os._exit(0)
time.sleep(1000)
"""
    marker = f"MARKER_{os.getpid()}_{own_sessions}"
    spec = python_task(shell, code, mailbox.path, str(own_sessions))
    task = await launcher.start(msgspec.structs.replace(spec, env={**spec.env, marker: "1"}))
    await mailbox.receive()

    result = await task.kill(signal.SIGTERM, grace_s=60)

    assert result.signal == signal.SIGTERM
    assert processes_with(marker) == []


def processes_with(variable: str) -> list[int]:
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            environ = Path(f"/proc/{name}/environ").read_bytes()
        except OSError:
            continue
        if f"{variable}=".encode() in environ:
            found.append(int(name))
    return found


async def test_a_kill_ends_what_escaped_into_its_own_session(
    launcher: LauncherClient, shell: ShellTask, mailbox: Mailbox
) -> None:
    script = f"""
trap '' TERM
setsid sh -c 'trap "" TERM; echo $$ > {mailbox.path}; sleep 1000; sleep 1000' &
wait; wait; sleep 1000
"""
    task = await launcher.start(shell(script))
    pid = int(await mailbox.receive())

    assert (await task.kill(signal.SIGTERM, grace_s=0.05)).signal == signal.SIGKILL

    assert start_ticks(pid) is None


async def test_orphans_are_reaped_while_the_task_runs(
    launcher: LauncherClient, shell: ShellTask, mailbox: Mailbox
) -> None:
    # The inner shell ends before its child, which so becomes the supervisor's and ends in turn. It is
    # waited for through its pid: once reaped, the kernel no longer knows it.
    script = f"""
orphan=$(sh -c 'sleep 0.01 >&2 & echo $!')
while kill -0 $orphan 2>/dev/null; do sleep 0.01; done
echo reaped > {mailbox.path}
sleep 1000
"""
    task = await launcher.start(shell(script))

    assert await mailbox.receive() == "reaped"
    assert task.is_running
