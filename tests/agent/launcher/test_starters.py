"""Commands that only start the task, as container runtimes do."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import msgspec
import pytest

from tests.agent.launcher.real_tasks import Mailbox, ShellTask, wait_gone
from yurt.agent.launcher import Cgroups, LauncherClient, LaunchFailed, LaunchSpec
from yurt.agent.launcher.daemon.records import read_record

UNIFIED = next(
    (line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines() if " cgroup2 " in line),
    None,
)
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root has mounts of its own")


def starter(shell: ShellTask, tmp_path: Path, task: str, *, then: str = "exit 0") -> LaunchSpec:
    """A command that leaves a shell with the script `task` behind."""
    pid_file = tmp_path / "pid"
    script = f"setsid sh -c '{task}' & echo $! > {pid_file}; {then}"
    return msgspec.structs.replace(shell(script), pid_file=str(pid_file))


async def test_the_task_is_what_was_started(
    launcher: LauncherClient, shell: ShellTask, tmp_path: Path
) -> None:
    task = await launcher.start(starter(shell, tmp_path, "exit 5"))

    assert task.pid == int((tmp_path / "pid").read_text())
    assert (await task.wait()).exit_code == 5


async def test_its_output_and_signals_are_the_tasks(
    launcher: LauncherClient, shell: ShellTask, tmp_path: Path, logs: Path, mailbox: Mailbox
) -> None:
    script = f'trap "echo bye; exit 3" TERM; echo ready > {mailbox.path}; while :; do sleep 0.01; done'
    task = await launcher.start(starter(shell, tmp_path, script))
    await mailbox.receive()

    assert task.signal(signal.SIGTERM)

    assert (await task.wait()).exit_code == 3
    assert (logs / "t.stdout.0").read_text() == "bye\n"


async def test_a_starter_that_fails_starts_nothing(
    launcher: LauncherClient, shell: ShellTask, tmp_path: Path
) -> None:
    spec = starter(shell, tmp_path, "sleep 1000", then="exit 4")

    with pytest.raises(LaunchFailed, match="starter: it ended with status 4"):
        await launcher.start(spec)

    wait_gone(int((tmp_path / "pid").read_text()))
    assert launcher.keys() == []


async def test_a_starter_without_a_pid_starts_nothing(
    launcher: LauncherClient, shell: ShellTask, tmp_path: Path
) -> None:
    (tmp_path / "pid").touch()

    with pytest.raises(LaunchFailed, match="holds no pid"):
        await launcher.start(msgspec.structs.replace(shell("true"), pid_file=str(tmp_path / "pid")))


async def test_an_agent_that_saw_only_the_starter_still_reaches_the_task(
    launcher: LauncherClient, shell: ShellTask, tmp_path: Path
) -> None:
    """As one that asks again while the starter is at work."""
    await launcher.start(starter(shell, tmp_path, "sleep 1000"))
    later = LauncherClient(tmp_path / "launcher")
    task = await later.attach(starter(shell, tmp_path, "").key)
    assert task is not None
    task._record.pid = 2**22  # the starter's, who is gone

    assert task.signal(signal.SIGKILL)

    assert (await task.wait()).signal == signal.SIGKILL
    later.close()


@as_root
async def test_hidden_mounts_are_hidden_from_the_command_alone(
    launcher: LauncherClient, shell: ShellTask, logs: Path
) -> None:
    spec = msgspec.structs.replace(shell("ls /proc | wc -l"), hidden_mounts=("/proc",))

    await (await launcher.start(spec)).wait()

    assert (logs / "t.stdout.0").read_text() == "0\n"
    assert os.listdir("/proc")


@as_root
async def test_what_cannot_be_hidden_is_named(launcher: LauncherClient, shell: ShellTask) -> None:
    with pytest.raises(LaunchFailed, match="hide mounts: Invalid argument"):
        await launcher.start(msgspec.structs.replace(shell("true"), hidden_mounts=("/etc",)))


async def test_what_a_killed_supervisor_leaves_is_found_by_its_groups(
    launcher: LauncherClient, shell: ShellTask, tmp_path: Path, mailbox: Mailbox
) -> None:
    # Any folder does as a group; the task clears its environment, by which it would be found otherwise.
    (tmp_path / "group").mkdir()
    script = f"exec env -i sh -c 'setsid sleep 1000 & echo $! > {mailbox.path}; wait'"
    spec = msgspec.structs.replace(shell(script), cgroups=Cgroups(make=(str(tmp_path / "group"),)))
    task = await launcher.start(spec)
    orphan = int(await mailbox.receive())
    (tmp_path / "group" / "cgroup.procs").write_text(f"0\n{orphan}\n")
    facts = read_record(launcher._path(task.key))
    assert facts is not None
    os.kill(int(facts["supervisor"]), signal.SIGKILL)

    assert "supervisor was killed" in (await task.wait()).error

    wait_gone(orphan)


async def test_a_group_of_version_2_is_limited_killed_as_one_and_asked_for_its_end(
    launcher: LauncherClient, shell: ShellTask, tmp_path: Path
) -> None:
    group = tmp_path / "a1.t.scope"
    group.mkdir()
    for name in ("memory.max", "cgroup.procs", "cgroup.kill"):
        (group / name).touch()
    (group / "memory.events").write_text("low 0\nhigh 0\nmax 9\noom 1\noom_kill 1\noom_group_kill 0\n")
    groups = Cgroups(
        make=(str(group),),
        write=((f"{group}/memory.max", "1048576"),),
        join=(str(group),),
        oom_counter=f"{group}/memory.events",
    )

    task = await launcher.start(msgspec.structs.replace(shell("exit 3"), cgroups=groups))
    result = await task.wait()

    assert (result.exit_code, result.oom_killed) == (3, True)
    assert (group / "memory.max").read_text() == "1048576"
    assert (group / "cgroup.procs").read_text().strip() in ("0", str(task.pid))
    assert (group / "cgroup.kill").read_text() == "1"


@pytest.mark.skipif(UNIFIED is None or os.geteuid() != 0, reason="no tree of version 2 that may be changed")
async def test_a_command_begins_in_its_group_of_version_2(
    launcher: LauncherClient, shell: ShellTask, mailbox: Mailbox
) -> None:
    group = Path(UNIFIED or "", f"yurt-test-{os.getpid()}")
    groups = Cgroups(make=(str(group),), join=(str(group),))
    script = f"grep ^0: /proc/self/cgroup > {mailbox.path}; exit 4"

    task = await launcher.start(msgspec.structs.replace(shell(script), cgroups=groups))

    assert (await mailbox.receive()).strip() == f"0::/{group.name}"
    assert (await task.wait()).exit_code == 4
    assert group.name not in os.listdir(group.parent)
