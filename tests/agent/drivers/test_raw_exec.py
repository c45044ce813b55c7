"""The raw_exec driver with real processes, held against what Nomad's was recorded to tell."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.agent.drivers.specs import a_spec, as_recorded, event, parent_of, shell, stdout, terminated
from tests.agent.launcher.real_tasks import Mailbox, wait_gone
from yurt.agent.drivers import DriverError, TaskResources
from yurt.agent.drivers.cgroups import CgroupTree, task_cgroups
from yurt.agent.drivers.raw_exec import RawExecDriver, RawExecOptions
from yurt.agent.drivers.users import parse_id_ranges
from yurt.agent.launcher import LauncherClient

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may change users and limits")


@pytest.mark.parametrize(
    ("scenario", "script"),
    [
        ("batch-exit-0", "true"),
        ("batch-exit-1", "exit 1"),
        ("self-kill", "kill -9 $$"),
        ("self-term", "kill -15 $$"),
    ],
)
async def test_an_end_is_told_as_recorded(
    raw_exec: RawExecDriver, recorded_events: dict[str, Any], task_dir: Path, scenario: str, script: str
) -> None:
    handle = await raw_exec.start(shell(task_dir, script))

    assert as_recorded(await handle.wait()) == terminated(recorded_events, scenario)


@pytest.mark.parametrize(
    ("scenario", "trap", "kill"),
    [
        ("kill-graceful", "trap 'exit 0' INT", ("", 60.0)),
        ("kill-force", "trap '' INT", ("", 0.05)),
        ("kill-usr1", "trap 'exit 9' USR1", ("SIGUSR1", 60.0)),
    ],
)
async def test_a_kill_ends_as_recorded(
    raw_exec: RawExecDriver,
    recorded_events: dict[str, Any],
    task_dir: Path,
    mailbox: Mailbox,
    scenario: str,
    trap: str,
    kill: tuple[str, float],
) -> None:
    script = f"{trap}; echo ready > {mailbox.path}; while :; do sleep 0.01; done"
    handle = await raw_exec.start(shell(task_dir, script))
    await mailbox.receive()

    result = await handle.kill(*kill)

    assert as_recorded(result) == terminated(recorded_events, scenario)


async def test_a_signal_is_passed_on(raw_exec: RawExecDriver, task_dir: Path, mailbox: Mailbox) -> None:
    script = f"trap 'exit 3' HUP; echo ready > {mailbox.path}; while :; do sleep 0.01; done"
    handle = await raw_exec.start(shell(task_dir, script))
    await mailbox.receive()

    await handle.signal("SIGHUP")

    assert (await handle.wait()).exit_code == 3


async def test_a_signal_that_is_none_is_an_interrupt_as_recorded(
    raw_exec: RawExecDriver, recorded_events: dict[str, Any], task_dir: Path
) -> None:
    handle = await raw_exec.start(a_spec(task_dir, {"command": "/bin/sleep", "args": ["1000"]}))

    await handle.signal("SIGFOO")

    assert as_recorded(await handle.wait()) == terminated(recorded_events, "signal-bad")


@pytest.mark.parametrize(
    ("scenario", "config", "user"),
    [
        ("no-command", {"command": "/no/such/bin"}, ""),
        ("no-command-rel", {"command": "nosuchbin"}, ""),
        ("bad-user", {"command": "/bin/sh", "args": ["-c", "true"]}, "nosuchuser"),
    ],
)
async def test_a_start_fails_as_recorded(
    raw_exec: RawExecDriver,
    recorded_events: dict[str, Any],
    task_dir: Path,
    scenario: str,
    config: dict[str, Any],
    user: str,
) -> None:
    with pytest.raises(DriverError) as raised:
        await raw_exec.start(a_spec(task_dir, config, user=user))

    assert str(raised.value) == event(recorded_events, scenario, "Driver Failure")["DriverError"]
    assert not raised.value.recoverable


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"command": "/bin/true", "work_dir": "local"}, "work_dir must be absolute"),
        ({"command": "/bin/true", "oom_score_adj": -1}, "oom_score_adj must not be negative"),
        (
            {"command": "/bin/true", "cgroup_v2_override": "a", "cgroup_v1_override": [{"cpu": "b"}]},
            "only one of cgroup_v1_override and cgroup_v2_override",
        ),
        ({"command": "/bin/true", "work_dir": "/no/such/folder"}, "chdir: no such file or directory"),
        ({"command": "/etc/passwd"}, "fork/exec /etc/passwd: permission denied"),
    ],
)
async def test_a_config_that_cannot_work_is_explained(
    raw_exec: RawExecDriver, task_dir: Path, config: dict[str, Any], said: str
) -> None:
    with pytest.raises(DriverError, match=said):
        await raw_exec.start(a_spec(task_dir, config))


async def test_a_command_in_the_tasks_folder_comes_before_the_hosts(
    raw_exec: RawExecDriver, task_dir: Path
) -> None:
    (task_dir / "local" / "true").write_text("#!/bin/sh\necho mine; pwd\n")
    os.chmod(task_dir / "local" / "true", 0o600)

    await (await raw_exec.start(a_spec(task_dir, {"command": "true"}))).wait()

    assert stdout(task_dir) == f"mine\n{task_dir}\n"
    assert os.stat(task_dir / "local" / "true").st_mode & 0o777 == 0o755


async def test_a_link_out_of_the_tasks_folder_does_not_change_the_hosts_file(
    raw_exec: RawExecDriver, task_dir: Path, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("not a program")
    os.chmod(secret, 0o600)
    os.symlink(secret, task_dir / "local" / "run")

    with pytest.raises(DriverError, match="permission denied"):
        await raw_exec.start(a_spec(task_dir, {"command": "run"}))

    assert os.stat(secret).st_mode & 0o777 == 0o600


async def test_denied_variables_are_taken_out(launcher: LauncherClient, task_dir: Path) -> None:
    driver = RawExecDriver(launcher, RawExecOptions(enabled=True, denied_envvars=("AWS_*",)), cgroups=None)
    config = {"command": "/usr/bin/env", "denied_envvars": ["SECRET"]}
    env = {"AWS_KEY": "1", "SECRET": "2", "PLAIN": "3"}

    await (await driver.start(a_spec(task_dir, config, env=env))).wait()

    names = {line.partition("=")[0] for line in stdout(task_dir).splitlines()}
    assert names == {"PLAIN", "YURT_SUPERVISOR"}


@as_root
async def test_a_task_runs_as_its_user(raw_exec: RawExecDriver, task_dir: Path) -> None:
    # Not in the task's folder: the test's own is root's alone.
    config = {"command": "/usr/bin/id", "args": ["-un"], "work_dir": "/"}
    await (await raw_exec.start(a_spec(task_dir, config, user="nobody"))).wait()

    assert stdout(task_dir) == "nobody\n"


@pytest.mark.parametrize(
    ("kind", "number", "uids", "gids"),
    [
        ("uid", os.getuid(), f"5-6,{os.getuid()}", ""),
        ("gid", os.getgid(), "", f"{os.getgid()}-4294967295"),
    ],
)
async def test_a_denied_user_runs_nothing(
    launcher: LauncherClient, task_dir: Path, kind: str, number: int, uids: str, gids: str
) -> None:
    options = RawExecOptions(
        enabled=True, denied_uids=parse_id_ranges(uids), denied_gids=parse_id_ranges(gids)
    )
    driver = RawExecDriver(launcher, options, cgroups=None)

    with pytest.raises(DriverError, match=f"running as {kind} {number} is disallowed"):
        await driver.start(shell(task_dir, "true"))


async def test_a_task_over_its_memory_ends_as_recorded(
    limited_raw_exec: RawExecDriver, recorded_events: dict[str, Any], task_dir: Path
) -> None:
    resources = TaskResources(cpu_shares=20, memory_mb=20)
    script = "x=a; while :; do x=$x$x; done"

    handle = await limited_raw_exec.start(shell(task_dir, script, resources=resources))

    assert as_recorded(await handle.wait()) == terminated(recorded_events, "raw-exec-oom")


async def test_a_task_lives_in_its_own_groups_which_go_with_it(
    limited_raw_exec: RawExecDriver, cgroup_tree: CgroupTree, task_dir: Path
) -> None:
    resources = TaskResources(cpu_shares=200, memory_mb=64, memory_max_mb=128)
    spec = shell(task_dir, "cat /proc/self/cgroup", resources=resources)
    plan = task_cgroups(cgroup_tree, spec.alloc_id, spec.task, resources)

    await (await limited_raw_exec.start(spec)).wait()

    joined = {line.rpartition("/")[2] for line in stdout(task_dir).splitlines()}
    assert {group.rpartition("/")[2] for group in plan.join} <= joined
    assert not any(map(os.path.exists, plan.make))


async def test_a_job_may_name_its_groups_itself(
    raw_exec: RawExecDriver, task_dir: Path, tmp_path: Path
) -> None:
    # Any folder does: the task must write its pid there, and nowhere else.
    (tmp_path / "group").mkdir()
    (tmp_path / "group" / "cgroup.procs").touch()
    relative = f"../../..{tmp_path}/group"

    await (
        await raw_exec.start(a_spec(task_dir, {"command": "/bin/true", "cgroup_v2_override": relative}))
    ).wait()

    assert (tmp_path / "group" / "cgroup.procs").read_text() == "0"


async def test_a_task_that_ended_meanwhile_is_recovered_with_its_code(
    raw_exec: RawExecDriver, launcher: LauncherClient, task_dir: Path, tmp_path: Path
) -> None:
    handle = await raw_exec.start(shell(task_dir, "exit 5"))
    await handle.wait()
    again = LauncherClient(tmp_path / "launcher")
    driver = RawExecDriver(again, RawExecOptions(enabled=True), cgroups=None)

    recovered = await driver.recover(handle.state)

    assert recovered is not None
    assert (await recovered.wait()).exit_code == 5
    await recovered.destroy()
    assert await driver.recover(handle.state) is None
    again.close()


async def test_a_task_killed_meanwhile_is_recovered_as_recorded(
    raw_exec: RawExecDriver, recorded_events: dict[str, Any], task_dir: Path, tmp_path: Path
) -> None:
    handle = await raw_exec.start(a_spec(task_dir, {"command": "/bin/sleep", "args": ["1000"]}))
    again = LauncherClient(tmp_path / "launcher")
    recovered = await RawExecDriver(again, RawExecOptions(), cgroups=None).recover(handle.state)
    assert recovered is not None
    os.kill(recovered.pid, signal.SIGKILL)

    result = await recovered.wait()

    assert as_recorded(result) == terminated(recorded_events, "reattach-task-died-meanwhile")
    again.close()


async def test_a_task_without_its_supervisor_is_lost(
    raw_exec: RawExecDriver, launcher: LauncherClient, task_dir: Path, tmp_path: Path
) -> None:
    handle = await raw_exec.start(a_spec(task_dir, {"command": "/bin/sleep", "args": ["1000"]}))
    supervisor = parent_of(handle.pid)
    again = LauncherClient(tmp_path / "launcher")
    os.kill(supervisor, signal.SIGKILL)
    wait_gone(supervisor)

    assert await RawExecDriver(again, RawExecOptions(), cgroups=None).recover(handle.state) is None

    wait_gone(handle.pid)
    assert "supervisor was killed" in (await handle.wait()).error
    again.close()


async def test_a_state_of_another_make_is_a_lost_task(raw_exec: RawExecDriver) -> None:
    assert await raw_exec.recover(b"\x93nonsense") is None


async def test_destroying_ends_a_task(
    raw_exec: RawExecDriver, launcher: LauncherClient, task_dir: Path
) -> None:
    handle = await raw_exec.start(a_spec(task_dir, {"command": "/bin/sleep", "args": ["1000"]}))

    async with asyncio.timeout(60):
        await handle.destroy()

    assert launcher.keys() == []
    wait_gone(handle.pid)


@pytest.mark.parametrize("enabled", [True, False])
async def test_it_is_there_when_enabled(launcher: LauncherClient, enabled: bool) -> None:
    driver = RawExecDriver(launcher, RawExecOptions(enabled=enabled), cgroups=None)

    fingerprint = await driver.fingerprint()

    assert (fingerprint.detected, fingerprint.healthy) == (enabled, enabled)
    assert fingerprint.attributes == ({"driver.raw_exec": "true"} if enabled else {})
