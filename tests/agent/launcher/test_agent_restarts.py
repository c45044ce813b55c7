"""Tasks go on when the agent, the launcher or a supervisor is killed, and none is started twice."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.agent.launcher.real_tasks import Gate, Mailbox, ShellTask, wait_gone
from yurt.agent.launcher import LauncherClient, LaunchSpec, TaskKey, TaskLost
from yurt.agent.launcher.daemon.processes import start_ticks
from yurt.agent.launcher.daemon.records import read_record, write_record

AGENT = """
import asyncio, sys
from pathlib import Path
from tests.agent.launcher.real_tasks import shell_task
from yurt.agent.launcher import LauncherClient

async def main():
    task = await LauncherClient(Path(sys.argv[1])).start(shell_task(Path(sys.argv[2]), sys.argv[3]))
    print(task.pid, flush=True)
    await task.wait()

asyncio.run(main())
"""


@asynccontextmanager
async def agent_process(
    directory: Path, logs: Path, script: str
) -> AsyncIterator[tuple[asyncio.subprocess.Process, int]]:
    """An agent of its own that starts `script`, and the pid of the task."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", AGENT, str(directory), str(logs), script),
        stdout=asyncio.subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert process.stdout is not None
    try:
        yield process, int(await process.stdout.readline())
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def record_path(launcher: LauncherClient, key: TaskKey) -> Path:
    return Path(launcher._path(key))


def supervisor_of(launcher: LauncherClient, key: TaskKey) -> int:
    facts = read_record(str(record_path(launcher, key)))
    assert facts is not None
    return int(facts["supervisor"])


def launcher_pid(directory: Path) -> int:
    facts = read_record(str(directory / "launcher"))
    assert facts is not None
    return int(facts["pid"])


async def test_output_has_no_gap_when_the_agent_is_killed(
    launcher: LauncherClient, logs: Path, tmp_path: Path, mailbox: Mailbox, gate: Gate
) -> None:
    lines = 4000
    script = f"""
n=0
while [ $n -lt {lines} ]; do
  echo line $n; n=$((n+1))
  [ $n = 1000 ] && echo running > {mailbox.path}
  [ $n = 2000 ] && read go < {gate.path}
done
exit 6
"""
    async with agent_process(tmp_path / "launcher", logs, script) as (agent, pid):
        await mailbox.receive()
        agent.kill()
        await agent.wait()

        task = await launcher.attach(TaskKey("alloc", "t", 0))
        assert task is not None
        assert task.pid == pid
        assert task.is_running
        gate.open()
        result = await task.wait()

    assert result.exit_code == 6
    assert (logs / "t.stdout.0").read_text().splitlines() == [f"line {n}" for n in range(lines)]


async def test_an_exit_while_no_agent_was_there_is_not_forgotten(
    launcher: LauncherClient, logs: Path, tmp_path: Path, gate: Gate
) -> None:
    script = f"read go < {gate.path}; exit 11"
    async with agent_process(tmp_path / "launcher", logs, script) as (agent, _):
        agent.kill()
        await agent.wait()
    supervisor = supervisor_of(launcher, TaskKey("alloc", "t", 0))
    gate.open()
    wait_gone(supervisor)

    task = await launcher.attach(TaskKey("alloc", "t", 0))

    assert task is not None
    assert not task.is_running
    assert (await task.wait()).exit_code == 11


async def test_a_second_start_of_a_key_attaches(
    launcher: LauncherClient, shell: ShellTask, logs: Path, tmp_path: Path, mailbox: Mailbox
) -> None:
    spec = shell(f"echo started; echo ready > {mailbox.path}; exec sleep 1000")
    first = await launcher.start(spec)
    await mailbox.receive()
    assert await launcher.start(spec) is first

    other = LauncherClient(tmp_path / "launcher")
    second = await other.start(spec)

    assert second.pid == first.pid
    assert other.keys() == [spec.key]
    await second.kill_now()
    assert (logs / "t.stdout.0").read_text() == "started\n"
    assert (await other.start(spec)).is_running is False, "an ended key is not started again either"
    other.close()


async def test_of_many_starts_of_one_key_one_runs(
    launcher: LauncherClient, shell: ShellTask, logs: Path, tmp_path: Path, mailbox: Mailbox
) -> None:
    clients = [LauncherClient(tmp_path / "launcher") for _ in range(8)]
    spec = shell(f"echo started; echo ready > {mailbox.path}; exec sleep 1000")

    tasks = await asyncio.gather(*(client.start(spec) for client in clients for _ in range(4)))

    assert len({task.pid for task in tasks}) == 1
    await mailbox.receive()
    await tasks[0].kill_now()
    assert (logs / "t.stdout.0").read_text() == "started\n"
    for client in clients:
        client.close()


async def test_an_agent_that_died_before_the_answer_finds_its_task(
    launcher: LauncherClient, shell: ShellTask, logs: Path, tmp_path: Path, mailbox: Mailbox
) -> None:
    await (await launcher.start(shell("true", task="first"))).wait()  # a launcher is there
    spec = shell(f"echo started; echo started > {mailbox.path}; exec sleep 1000")
    ask_and_leave(launcher, spec)
    await mailbox.receive()

    task = await launcher.start(spec)
    await task.kill_now()

    assert (logs / "t.stdout.0").read_text() == "started\n"


async def test_a_request_cut_short_starts_nothing(
    launcher: LauncherClient, shell: ShellTask, logs: Path
) -> None:
    await (await launcher.start(shell("true", task="first"))).wait()
    ask_and_leave(launcher, shell("echo started"), cut=1)

    task = await launcher.start(shell("echo second"))

    assert (await task.wait()).exit_code == 0
    assert (logs / "t.stdout.0").read_text() == "second\n"


def ask_and_leave(launcher: LauncherClient, spec: LaunchSpec, *, cut: int = 0) -> None:
    """Send a start request and close, as an agent does that is killed before it hears the answer."""
    request = spec.encode()
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(launcher._address)
        connection.sendall(request[: len(request) - cut])


async def test_a_killed_launcher_is_replaced_and_its_tasks_go_on(
    launcher: LauncherClient, shell: ShellTask, tmp_path: Path
) -> None:
    before = await launcher.start(shell("exec sleep 1000", task="before"))
    killed = launcher_pid(tmp_path / "launcher")
    os.kill(killed, signal.SIGKILL)
    wait_gone(killed)

    after = await launcher.start(shell("exit 2", task="after"))

    assert (await after.wait()).exit_code == 2
    assert before.is_running
    assert start_ticks(before.pid) is not None
    assert launcher_pid(tmp_path / "launcher") != killed
    assert (await before.kill(signal.SIGTERM, grace_s=60)).signal == signal.SIGTERM


async def test_a_prepared_launcher_serves_the_first_start(launcher: LauncherClient, shell: ShellTask) -> None:
    await launcher.prepare()
    prepared = read_record(str(launcher.directory / "launcher"))
    await launcher.prepare()

    task = await launcher.start(shell("exit 3"))

    assert (await task.wait()).exit_code == 3
    assert prepared is not None
    assert read_record(str(launcher.directory / "launcher")) == prepared


async def test_a_launcher_of_another_version_is_replaced(
    launcher: LauncherClient, shell: ShellTask, tmp_path: Path
) -> None:
    await (await launcher.start(shell("true"))).wait()
    old = launcher_pid(tmp_path / "launcher")
    facts = read_record(str(tmp_path / "launcher" / "launcher"))
    assert facts is not None
    write_record(str(tmp_path / "launcher" / "launcher"), facts | {"version": "0"})

    newer = LauncherClient(tmp_path / "launcher")
    await (await newer.start(shell("true", attempt=1))).wait()
    newer.close()

    wait_gone(old)
    assert launcher_pid(tmp_path / "launcher") != old


async def test_a_task_whose_supervisor_is_killed_ends_and_says_so(
    launcher: LauncherClient, shell: ShellTask, mailbox: Mailbox
) -> None:
    # The shell is the task; its child would live on, having a session and a parent of its own.
    script = f"setsid sh -c 'echo $$ > {mailbox.path}; sleep 1000; true' & wait; sleep 1000"
    task = await launcher.start(shell(script))
    escaped = int(await mailbox.receive())

    os.kill(supervisor_of(launcher, task.key), signal.SIGKILL)
    result = await task.wait()

    assert (result.exit_code, result.signal) == (137, 9)
    assert "supervisor was killed" in result.error
    wait_gone(task.pid)
    wait_gone(escaped)


async def test_a_lost_task_cannot_be_attached_and_leaves_nothing(
    launcher: LauncherClient, shell: ShellTask, tmp_path: Path, mailbox: Mailbox
) -> None:
    spec = shell(f"setsid sh -c 'echo $$ > {mailbox.path}; sleep 1000; true' & wait; sleep 1000")
    first = LauncherClient(tmp_path / "launcher")
    await first.start(spec)
    escaped = int(await mailbox.receive())
    first.close()
    supervisor = supervisor_of(launcher, spec.key)
    os.kill(supervisor, signal.SIGKILL)
    wait_gone(supervisor)

    assert await launcher.attach(spec.key) is None

    wait_gone(escaped)
    with pytest.raises(TaskLost, match="alloc/t/0"):
        await launcher.start(spec)
    launcher.forget(spec.key)
    assert launcher.keys() == []


async def test_records_of_an_earlier_boot_touch_no_process(
    launcher: LauncherClient, shell: ShellTask
) -> None:
    innocent = await launcher.start(shell("exec sleep 1000", task="innocent"))
    facts = read_record(str(record_path(launcher, innocent.key)))
    assert facts is not None
    stale = TaskKey("alloc", "stale", 0)
    # The pids are those of a living supervisor and task, but the boot is another.
    write_record(str(record_path(launcher, stale)), facts | {"task": "stale", "boot": "another"})

    assert await launcher.attach(stale) is None

    assert innocent.is_running
    assert start_ticks(innocent.pid) is not None


async def test_a_reused_pid_is_not_taken_for_the_task(launcher: LauncherClient, shell: ShellTask) -> None:
    innocent = await launcher.start(shell("exec sleep 1000", task="innocent"))
    facts = read_record(str(record_path(launcher, innocent.key)))
    assert facts is not None
    stale = TaskKey("alloc", "stale", 0)
    write_record(
        str(record_path(launcher, stale)),
        facts | {"task": "stale", "supervisor_start": "1", "pid_start": "1"},
    )

    assert await launcher.attach(stale) is None

    assert innocent.is_running
    assert start_ticks(innocent.pid) is not None


async def test_a_key_never_started_is_unknown(launcher: LauncherClient) -> None:
    assert await launcher.attach(TaskKey("alloc", "t", 0)) is None


async def test_a_supervisor_survives_what_a_service_manager_sends_to_all(
    launcher: LauncherClient, shell: ShellTask, gate: Gate
) -> None:
    task = await launcher.start(shell(f"trap '' TERM; read go < {gate.path}; exit 8"))
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        os.kill(supervisor_of(launcher, task.key), number)

    gate.open()

    assert (await task.wait()).exit_code == 8


async def test_shutdown_ends_tasks_and_launcher(shell: ShellTask, tmp_path: Path) -> None:
    client = LauncherClient(tmp_path / "launcher")
    tasks = [await client.start(shell("exec sleep 1000", attempt=attempt)) for attempt in range(5)]
    pid = launcher_pid(tmp_path / "launcher")

    await client.shutdown(kill_tasks=True)

    assert [start_ticks(task.pid) for task in tasks] == [None] * 5
    wait_gone(pid)
    assert list((tmp_path / "launcher" / "tasks").iterdir()) == []


async def test_without_killing_tasks_everything_stays(
    launcher: LauncherClient, shell: ShellTask, tmp_path: Path
) -> None:
    client = LauncherClient(tmp_path / "launcher")
    task = await client.start(shell("exec sleep 1000"))

    await client.shutdown(kill_tasks=False)

    again = await launcher.attach(task.key)
    assert again is not None
    assert again.is_running
    assert start_ticks(launcher_pid(tmp_path / "launcher")) is not None
