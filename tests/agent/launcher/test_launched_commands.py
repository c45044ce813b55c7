"""What a launched command gets, and what becomes known of its end."""

from __future__ import annotations

import errno
import os
import resource
import signal
from pathlib import Path

import msgspec
import pytest

from tests.agent.launcher.real_tasks import Mailbox, ShellTask
from yurt.agent.launcher import Identity, LauncherClient, LaunchFailed, TaskKey

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may change users")


@pytest.mark.parametrize(
    ("script", "exit_code", "number"),
    [
        pytest.param("true", 0, 0, id="success"),
        pytest.param("exit 7", 7, 0, id="a code of its own"),
        pytest.param("kill -TERM $$", 143, 15, id="ended by SIGTERM"),
        pytest.param("kill -KILL $$", 137, 9, id="ended by SIGKILL"),
    ],
)
async def test_an_exit_is_told_as_it_was(
    launcher: LauncherClient, shell: ShellTask, script: str, exit_code: int, number: int
) -> None:
    task = await launcher.start(shell(script))

    result = await task.wait()

    assert (result.exit_code, result.signal, result.oom_killed, result.error) == (
        exit_code,
        number,
        False,
        "",
    )
    assert result.ended_ns >= task.started_ns
    assert result.is_success == (exit_code == 0)


async def test_a_command_sees_its_environment_folder_mask_and_limits(
    launcher: LauncherClient, shell: ShellTask, logs: Path, tmp_path: Path
) -> None:
    spec = msgspec.structs.replace(
        shell('echo "$GREETING|$(pwd)|$(umask)|$(ulimit -n)|$(wc -c)"', GREETING="hällo\nyou"),
        cwd=str(tmp_path),
        umask=0o027,
        rlimits=((resource.RLIMIT_NOFILE, 64, 64),),
    )

    await (await launcher.start(spec)).wait()

    assert (logs / "t.stdout.0").read_text() == f"hällo\nyou|{tmp_path}|0027|64|0\n"


async def test_a_command_starts_with_standard_signals_and_no_other_files(
    launcher: LauncherClient, shell: ShellTask, logs: Path
) -> None:
    script = "grep -E 'SigIgn|SigBlk' /proc/self/status; ls /proc/self/fd | wc -l; cat /proc/$$/stat"
    task = await launcher.start(shell(script))
    await task.wait()

    ignored, blocked, files, stat = (logs / "t.stdout.0").read_text().splitlines()
    # Signals 32 and 33 are the C library's own; no program can block or free them.
    own = ~(0b11 << 31)
    assert int(ignored.split()[1], 16) & own == int(blocked.split()[1], 16) & own == 0
    assert int(files) == 4, "stdin, stdout, stderr and the folder that ls reads"
    group, session = stat.rpartition(")")[2].split()[2:4]
    assert int(group) == int(session) == task.pid


@as_root
async def test_a_command_runs_as_the_user_asked_for(
    launcher: LauncherClient, shell: ShellTask, logs: Path
) -> None:
    spec = msgspec.structs.replace(
        shell("id -u; id -g; id -G"), identity=Identity(uid=65534, gid=12345, groups=(12345, 54321))
    )

    await (await launcher.start(spec)).wait()

    assert (logs / "t.stdout.0").read_text().splitlines() == ["65534", "12345", "12345 54321"]


async def test_an_oom_score_is_set_before_the_command_runs(
    launcher: LauncherClient, shell: ShellTask, logs: Path
) -> None:
    spec = msgspec.structs.replace(shell("cat /proc/self/oom_score_adj"), oom_score_adj=321)

    await (await launcher.start(spec)).wait()

    assert (logs / "t.stdout.0").read_text() == "321\n"


@as_root
async def test_a_command_runs_in_the_network_namespace_given(
    launcher: LauncherClient, shell: ShellTask, logs: Path, mailbox: Mailbox
) -> None:
    holder = msgspec.structs.replace(
        shell("", task="holder"),
        path="/usr/bin/unshare",
        argv=("unshare", "-n", "sh", "-c", f"readlink /proc/self/ns/net > {mailbox.path}; exec sleep 1000"),
    )
    holding = await launcher.start(holder)
    namespace = await mailbox.receive()

    spec = msgspec.structs.replace(
        shell("readlink /proc/self/ns/net"), network_namespace=f"/proc/{holding.pid}/ns/net"
    )
    await (await launcher.start(spec)).wait()

    assert (logs / "t.stdout.0").read_text().strip() == namespace != os.readlink("/proc/self/ns/net")


async def test_a_large_environment_arrives_whole(
    launcher: LauncherClient, shell: ShellTask, logs: Path
) -> None:
    values = {f"V{number}": "x" * 100_000 for number in range(12)}

    await (await launcher.start(shell("env | grep -c '^V.*x$'", **values))).wait()

    assert (logs / "t.stdout.0").read_text() == "12\n"


@pytest.mark.parametrize(
    ("change", "step", "number"),
    [
        pytest.param({"path": "/no/such/bin"}, "exec", errno.ENOENT, id="no such command"),
        pytest.param({"path": "/etc/passwd"}, "exec", errno.EACCES, id="not executable"),
        pytest.param({"cwd": "/no/such/folder"}, "chdir", errno.ENOENT, id="no such folder"),
        pytest.param({"network_namespace": "/no/ns"}, "network namespace", errno.ENOENT, id="no such netns"),
        pytest.param({"oom_score_adj": 5000}, "oom_score_adj", errno.EINVAL, id="bad oom score"),
        pytest.param(
            {"rlimits": ((resource.RLIMIT_NOFILE, 10, 5),)}, "rlimit", 0, id="soft limit above the hard one"
        ),
    ],
)
async def test_what_cannot_be_run_is_refused_at_once(
    launcher: LauncherClient, shell: ShellTask, change: dict[str, object], step: str, number: int
) -> None:
    spec = msgspec.structs.replace(shell("true"), **change)

    with pytest.raises(LaunchFailed) as raised:
        await launcher.start(spec)

    assert (raised.value.step, raised.value.errno) == (step, number)
    assert launcher.keys() == []
    assert (await (await launcher.start(shell("exit 4"))).wait()).exit_code == 4, "the key is free again"


async def test_a_missing_log_folder_is_named(launcher: LauncherClient, shell: ShellTask, logs: Path) -> None:
    os.rmdir(logs)

    with pytest.raises(LaunchFailed, match=f"No such file or directory: {logs}"):
        await launcher.start(shell("true"))


async def test_a_nul_byte_is_refused_with_its_field(launcher: LauncherClient, shell: ShellTask) -> None:
    with pytest.raises(ValueError, match="arg holds a NUL byte"):
        await launcher.start(shell("echo \0"))


@pytest.mark.parametrize("name", ["", "a/b", "a\nb"])
def test_a_task_name_that_is_no_file_name_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="cannot name a task"):
        TaskKey("alloc", name, 0)


async def test_a_signal_reaches_the_command(
    launcher: LauncherClient, shell: ShellTask, logs: Path, mailbox: Mailbox
) -> None:
    script = f"trap 'echo got hup; exit 5' HUP; echo ready > {mailbox.path}; while :; do sleep 0.01; done"
    task = await launcher.start(shell(script))
    await mailbox.receive()

    assert task.signal(signal.SIGHUP)

    assert (await task.wait()).exit_code == 5
    assert (logs / "t.stdout.0").read_text() == "got hup\n"
    assert not task.signal(signal.SIGHUP), "it has ended"


async def test_a_kill_gives_the_command_its_time(
    launcher: LauncherClient, shell: ShellTask, mailbox: Mailbox
) -> None:
    script = f"trap 'exit 9' INT; echo ready > {mailbox.path}; while :; do sleep 0.01; done"
    task = await launcher.start(shell(script))
    await mailbox.receive()

    assert (await task.kill(signal.SIGINT, grace_s=60)).exit_code == 9


async def test_a_kill_ends_a_command_that_ignores_the_signal(
    launcher: LauncherClient, shell: ShellTask, mailbox: Mailbox
) -> None:
    script = f"trap '' TERM INT; echo ready > {mailbox.path}; while :; do sleep 0.01; done"
    task = await launcher.start(shell(script))
    await mailbox.receive()

    result = await task.kill(signal.SIGTERM, grace_s=0.05)

    assert (result.exit_code, result.signal) == (137, 9)
