"""Exec sessions of every driver, with real terminals, runtimes and containers."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pwd
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.agent.drivers.docker_daemon import IMAGE, DockerDaemon
from tests.agent.drivers.specs import a_spec, shell
from tests.agent.launcher.real_tasks import Mailbox, wait_gone
from yurt.agent.drivers import Driver, DriverError, TaskHandle, TaskResources, TaskSpec
from yurt.agent.drivers.cgroups import CgroupTree
from yurt.agent.drivers.docker import DockerDriver, DockerOptions
from yurt.agent.drivers.exec import ExecDriver, Isolation, IsolationOptions, isolation
from yurt.agent.drivers.exec.runtime import Runtime
from yurt.agent.drivers.mock import MockDriver, MockOptions
from yurt.agent.drivers.raw_exec import RawExecDriver, RawExecOptions
from yurt.agent.drivers.session import OpensSessions, Session, SessionRequest
from yurt.agent.launcher import LauncherClient
from yurt.clock import SystemClock

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="wants root")
WAIT_S_MAX = 60.0
SMALL = TaskResources(cpu_shares=20, memory_mb=64)
LONG_SLEEP = f"sleep 1000.{os.getpid()}"
SLEEPER = "trap 'exit 0' TERM; echo ready > $MAILBOX; while :; do sleep 0.01; done"


async def whole_output(session: Session, stream: str = "stdout") -> str:
    said = b""
    async with asyncio.timeout(WAIT_S_MAX):
        while data := await session.read(stream):
            said += data
    return said.decode()


async def output_until(session: Session, text: str) -> str:
    said = b""
    async with asyncio.timeout(WAIT_S_MAX):
        while text.encode() not in said:
            data = await session.read("stdout")
            assert data, f"it ended after {said!r}"
            said += data
    return said.decode()


def runs(command: str) -> bool:
    """Whether some process runs a command, whatever it sees as its pid."""
    wanted = command.replace(" ", "\0").encode() + b"\0"
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if path.read_bytes() == wanted:
                return True
    return False


class Entered:
    """A running task, and how to open sessions in it."""

    def __init__(self, handle: TaskHandle, spec: TaskSpec) -> None:
        self.handle = handle
        self._spec = spec

    async def open(self, *argv: str, tty: bool = False) -> Session:
        assert isinstance(self.handle, OpensSessions)
        env = {**self._spec.env, "FROM_TASK": "yes"}
        request = SessionRequest(argv=argv, tty=tty, env=env, task_dir=self._spec.task_dir)
        return await self.handle.open_session(request)


@pytest.fixture
def task_dir(tmp_path: Path) -> Path:
    for name in ("task/local", "task/tmp", "task/secrets", "alloc", "logs"):
        (tmp_path / "alloc" / name).mkdir(parents=True)
    (tmp_path / "alloc/task/tmp").chmod(0o1777)
    return tmp_path / "alloc/task"


@pytest.fixture(params=["raw_exec", "exec-crun", "exec-runc", "docker"])
def driver_name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def driver(
    driver_name: str,
    launcher: LauncherClient,
    cgroup_tree: CgroupTree,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> Driver:
    if driver_name == "raw_exec":
        return RawExecDriver(launcher, RawExecOptions(enabled=True), cgroups=cgroup_tree)
    if driver_name == "docker":
        daemon: DockerDaemon = request.getfixturevalue("clean")
        return DockerDriver(launcher, SystemClock(), DockerOptions(endpoint=daemon.endpoint))
    runtime = driver_name.removeprefix("exec-")
    folders = [path for path in (f"/usr/bin/{runtime}", f"/usr/sbin/{runtime}") if os.path.exists(path)]
    monkeypatch.setattr(isolation, "find_runtime", lambda: Runtime(runtime, folders[0]))
    return ExecDriver(Isolation(launcher, IsolationOptions(), cgroup_tree))


@pytest.fixture
async def entered(driver: Driver, driver_name: str, task_dir: Path) -> AsyncIterator[Entered]:
    """A task that runs, of each driver in turn."""
    mailbox = Mailbox(task_dir / "local/mailbox")
    os.chmod(mailbox.path, 0o666)
    path = mailbox.path if driver_name == "raw_exec" else "/local/mailbox"
    env = {"PATH": os.environ["PATH"], "MAILBOX": path}
    changes = {"env": env, "resources": SMALL, "shared_dir": str(task_dir.parent / "alloc")}
    if driver_name == "docker":
        config = {"image": IMAGE, "command": "/bin/sh", "args": ["-c", SLEEPER], "image_pull_timeout": "1m"}
        spec = a_spec(task_dir, config, **changes)
    else:
        spec = shell(task_dir, SLEEPER, **changes)
    handle = await driver.start(spec)
    await mailbox.receive()
    yield Entered(handle, spec)
    await handle.destroy()
    mailbox.close()


async def test_streams_and_exit_code_are_the_commands(entered: Entered) -> None:
    session = await entered.open("/bin/sh", "-c", "read line; echo got $line; echo bad >&2; exit 7")
    await session.write(b"this\n")

    assert await whole_output(session) == "got this\n"
    assert await whole_output(session, "stderr") == "bad\n"
    assert (await session.wait()).exit_code == 7
    await session.close()


async def test_the_end_of_input_reaches_the_command(entered: Entered) -> None:
    session = await entered.open("/bin/cat")
    await session.write(b"x" * 100_000)
    await session.close_input()

    assert len(await whole_output(session)) == 100_000
    assert (await session.wait()).exit_code == 0
    await session.close()


async def test_a_terminal_has_the_callers_size_and_follows_it(entered: Entered) -> None:
    # Told once more when a new size arrives, since a runtime may pass it on later than what is typed.
    script = "trap 'stty size' WINCH; tty; echo $TERM; echo ready; while :; do read line; $line; done"
    session = await entered.open("/bin/sh", "-c", script, tty=True)
    assert session.streams == ("stdout",)
    first = await output_until(session, "ready\r\n")
    assert first.startswith("/dev/")
    assert "xterm\r\n" in first

    await session.resize(height=31, width=97)
    await session.write(b"stty size\n")
    assert "31 97" in await output_until(session, "31 97")
    await session.write(b"exit 4\n")

    assert (await session.wait()).exit_code == 4
    await session.close()


async def test_ctrl_c_interrupts_the_command(entered: Entered) -> None:
    script = "trap 'echo interrupted; exit 9' INT; echo ready; while :; do sleep 0.01; done"
    session = await entered.open("/bin/sh", "-c", script, tty=True)
    await output_until(session, "ready")

    await session.write(b"\x03")

    await output_until(session, "interrupted")
    assert (await session.wait()).exit_code == 9
    await session.close()


async def test_a_missing_command_is_told(entered: Entered, driver_name: str) -> None:
    error = ""
    try:
        session = await entered.open("/no/such")
        error = (await session.wait()).error
        if driver_name == "docker":  # which tells it as output, with a code of its own
            error = await whole_output(session)
            assert (await session.wait()).exit_code in (126, 127)
        await session.close()
    except DriverError as refused:
        error = str(refused)
    assert "no such file or directory" in error.lower()


@pytest.mark.parametrize("driver_name", ["raw_exec", "exec-crun", "exec-runc"])  # Docker cannot
async def test_closing_ends_the_command(
    entered: Entered, driver_name: str, launcher: LauncherClient, task_dir: Path
) -> None:
    told = Mailbox(task_dir / "local/told")
    os.chmod(told.path, 0o666)
    path = told.path if driver_name == "raw_exec" else "/local/told"
    session = await entered.open("/bin/sh", "-c", f"echo ready > {path}; exec {LONG_SLEEP}")
    await told.receive()
    keys_before = len(launcher.keys())

    await session.close()

    assert len(launcher.keys()) == keys_before - 1
    assert not await asyncio.to_thread(runs, LONG_SLEEP)
    told.close()


async def test_a_session_is_held_to_the_tasks_limits(entered: Entered, driver_name: str) -> None:
    session = await entered.open("/bin/cat", "/proc/self/cgroup")
    told = await whole_output(session)
    name = entered.handle.container_id if driver_name == "docker" else ".t"  # type: ignore[attr-defined]
    assert name in told
    await session.close()


# --- what only some drivers do ------------------------------------------------------------------------


async def test_a_raw_exec_session_has_the_tasks_user_folder_and_variables(
    launcher: LauncherClient, task_dir: Path
) -> None:
    driver = RawExecDriver(launcher, RawExecOptions(enabled=True, denied_envvars=("SECRET*",)), cgroups=None)
    for path in (task_dir, *task_dir.parents[:2]):
        path.chmod(0o755)
    work = {"command": "/bin/sleep", "args": ["1000"], "work_dir": "/var"}
    spec = a_spec(task_dir, work, user="nobody")
    for handle in (await driver.start(spec), await driver.recover((await driver.start(spec)).state)):
        assert handle is not None
        request = SessionRequest(
            argv=("sh", "-c", "id -un; pwd; env"),
            tty=False,
            env={"PATH": os.environ["PATH"], "SECRET_1": "x", "OPEN": "y"},
            task_dir=str(task_dir),
        )
        session = await handle.open_session(request)
        told = await whole_output(session)
        await session.close()
        assert told.startswith(f"{pwd.getpwnam('nobody').pw_name}\n/var\n")
        assert "OPEN=y" in told
        assert "SECRET" not in told
    await (await driver.start(spec)).destroy()


async def test_what_a_session_leaves_behind_ends_with_it(
    raw_exec: RawExecDriver, task_dir: Path, tmp_path: Path
) -> None:
    spec = shell(task_dir, "exec sleep 1000")
    handle = await raw_exec.start(spec)
    session = await Entered(handle, spec).open("/bin/sh", "-c", "sleep 1000 & echo $!")
    pid = int(await whole_output(session))

    assert (await session.wait()).exit_code == 0
    wait_gone(pid)
    await session.close()
    await handle.destroy()


async def test_a_pretended_session_says_what_it_was_told(task_dir: Path) -> None:
    driver = MockDriver(SystemClock(), MockOptions())
    run = {"run_for": "1ms", "exit_code": 3, "stdout_string": "hello"}
    spec = a_spec(task_dir, {"run_for": "1h", "exec_command": run})
    handle = await driver.start(spec)
    session = await Entered(handle, spec).open("anything")

    assert await whole_output(session) == "hello"
    assert (await session.wait()).exit_code == 3
    await session.close()
    await handle.destroy()
