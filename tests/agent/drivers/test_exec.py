"""The exec driver with a real OCI runtime, held against what Nomad's was recorded to tell."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.agent.drivers.specs import a_spec, as_recorded, event, shell, stdout, terminated
from tests.agent.launcher.real_tasks import Mailbox, wait_gone
from yurt.agent.drivers import DriverError, TaskDevice, TaskMount, TaskResources, TaskSpec
from yurt.agent.drivers.cgroups import CgroupTree
from yurt.agent.drivers.exec import ExecDriver, Isolation, IsolationOptions, isolation
from yurt.agent.drivers.exec.runtime import Runtime, find_runtime
from yurt.agent.drivers.users import parse_id_ranges
from yurt.agent.launcher import LauncherClient
from yurt.agent.launcher.daemon.records import read_record

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or find_runtime() is None, reason="wants root, and crun or runc installed"
)
SMALL = TaskResources(cpu_shares=20, memory_mb=64)
MakeDriver = Callable[..., ExecDriver]


@pytest.fixture
def make_driver(launcher: LauncherClient, cgroup_tree: CgroupTree) -> MakeDriver:
    def make(launcher: LauncherClient = launcher, **options: Any) -> ExecDriver:
        return ExecDriver(Isolation(launcher, IsolationOptions(**options), cgroup_tree))

    return make


@pytest.fixture
def driver(make_driver: MakeDriver) -> ExecDriver:
    return make_driver()


@pytest.fixture
async def later_launcher(launcher: LauncherClient, tmp_path: Path) -> AsyncIterator[LauncherClient]:
    """What an agent that starts after the first one would use."""
    client = LauncherClient(tmp_path / "launcher")
    yield client
    client.close()


@pytest.fixture
def task_dir(tmp_path: Path) -> Path:
    for name in ("alloc/task/local", "alloc/task/tmp", "alloc/alloc", "alloc/logs"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "alloc/task/tmp").chmod(0o1777)
    return tmp_path / "alloc/task"


@pytest.fixture
def inside(task_dir: Path) -> Iterator[Mailbox]:
    """A mailbox that a task finds at /mailbox."""
    mailbox = Mailbox(task_dir / "mailbox")
    os.chmod(mailbox.path, 0o666)
    yield mailbox
    mailbox.close()


def script(task_dir: Path, text: str, **changes: Any) -> TaskSpec:
    return shell(
        task_dir, text, **({"shared_dir": str(task_dir.parent / "alloc"), "resources": SMALL} | changes)
    )


def sleeper(task_dir: Path, **changes: Any) -> TaskSpec:
    """A task that says that it runs, then waits for SIGTERM, which the first process of a container would
    ignore without a handler.
    """
    text = "trap 'exit 9' TERM; echo ready > /mailbox; while :; do sleep 0.01; done"
    return script(task_dir, text, **changes)


async def output(driver: ExecDriver, spec: TaskSpec) -> str:
    handle = await driver.start(spec)
    result = await handle.wait()
    errors = (Path(spec.log_dir) / "t.stderr.0").read_text()
    assert result.is_success, f"{result}: {errors}"
    await handle.destroy()
    return stdout(Path(spec.task_dir))


def supervisors(launcher: LauncherClient) -> list[int]:
    records = [read_record(launcher._path(key)) for key in launcher.keys()]  # noqa: SIM118 - no mapping
    return [int(facts["supervisor"]) for facts in records if facts]


def bounding_set() -> str:
    return Path("/proc/self/status").read_text().split("CapBnd:")[1].split()[0]


def capabilities(pid: int) -> str:
    return Path(f"/proc/{pid}/status").read_text().split("CapEff:")[1].split()[0]


def limit(tree: CgroupTree, pid: int, file: str) -> str:
    """What the kernel says of a process's limit."""
    for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines():
        _, names, path = line.split(":", 2)
        controller = file.partition(".")[0] if tree.version == 1 else ""
        if controller in names.split(","):
            return Path(f"{tree.mount}/{controller}{path}/{file}").read_text().strip()
    raise AssertionError(f"process {pid} has no {file}")


def groups_left(tree: CgroupTree) -> list[Path]:
    """The groups of tasks that still exist."""
    # Only below the parent: the groups of others come and go.
    tops = (Path(tree.mount, tree.parent), *Path(tree.mount).glob(f"*/{tree.parent}"))
    return [path for top in tops for path in top.glob("**/*.t*") if path.is_dir()]


@pytest.fixture(params=["crun", "runc"])
def runtime(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Runtime:
    """Each runtime in turn."""
    paths = [Path(f"/usr/{folder}/{request.param}") for folder in ("bin", "sbin")]
    path = next((path for path in paths if path.exists()), None)
    if path is None:
        pytest.skip(f"{request.param} is not installed")
    found = Runtime(request.param, str(path))
    monkeypatch.setattr(isolation, "find_runtime", lambda: found)
    return found


# --- as recorded ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scenario", "text"), [("batch-exit-0", "true"), ("batch-exit-1", "exit 1"), ("self-kill", "exit 137")]
)
async def test_an_end_is_told_with_its_code(
    driver: ExecDriver, recorded_events: dict[str, Any], task_dir: Path, scenario: str, text: str
) -> None:
    result = await (await driver.start(script(task_dir, text))).wait()

    assert str(result.exit_code) == terminated(recorded_events, scenario)[0]
    assert (result.signal, result.error) == (0, ""), "a code above 128 is no signal"


async def test_a_task_over_its_memory_ends_as_recorded(
    driver: ExecDriver, runtime: Runtime, recorded_events: dict[str, Any], task_dir: Path
) -> None:
    resources = TaskResources(cpu_shares=20, memory_mb=20)

    handle = await driver.start(script(task_dir, "x=a; while :; do x=$x$x; done", resources=resources))

    assert as_recorded(await handle.wait()) == terminated(recorded_events, "exec-oom")


async def test_a_kill_ends_as_recorded(
    driver: ExecDriver, recorded_events: dict[str, Any], task_dir: Path, inside: Mailbox
) -> None:
    handle = await driver.start(
        script(task_dir, "trap '' INT; echo ready > /mailbox; while :; do sleep 0.1; done")
    )
    await inside.receive()

    result = await handle.kill("", 0.05)

    assert as_recorded(result) == terminated(recorded_events, "exec-kill")


async def test_a_command_that_is_not_there_is_told_as_recorded(
    driver: ExecDriver, recorded_events: dict[str, Any], task_dir: Path
) -> None:
    with pytest.raises(DriverError) as raised:
        await driver.start(a_spec(task_dir, {"command": "/nope"}))

    recorded = event(recorded_events, "exec-nocmd", "Driver Failure")["DriverError"]
    assert str(raised.value) == recorded.replace("<alloc_dir>/<alloc id>/t", str(task_dir))
    assert not raised.value.recoverable


# --- what a task sees -------------------------------------------------------------------------------


async def test_a_task_is_nobody_in_roots_group(driver: ExecDriver, runtime: Runtime, task_dir: Path) -> None:
    told = await output(driver, script(task_dir, "id; echo $USER $LOGNAME $HOME"))

    assert told == "uid=65534(nobody) gid=0(root) groups=0(root)\nnobody nobody /nonexistent\n"


async def test_a_task_may_be_another_user_with_its_groups(driver: ExecDriver, task_dir: Path) -> None:
    told = await output(driver, script(task_dir, "id -un; id -gn; echo $HOME", user="daemon"))

    assert told == "daemon\ndaemon\n/usr/sbin\n"


async def test_root_has_every_capability(driver: ExecDriver, task_dir: Path) -> None:
    told = await output(driver, script(task_dir, "grep CapEff /proc/self/status", user="root"))

    assert told.split()[1] == bounding_set()


async def test_capabilities_are_those_asked_for(make_driver: MakeDriver, task_dir: Path) -> None:
    spec = script(task_dir, "grep -E 'Cap(Amb|Bnd|Eff)' /proc/self/status")
    config = {**spec.config, "cap_drop": ["all"], "cap_add": ["CAP_CHOWN", "kill"]}

    told = await output(make_driver(), msgspec.structs.replace(spec, config=config))

    assert {line.split()[1] for line in told.splitlines()} == {f"{1 << 0 | 1 << 5:016x}"}


async def test_a_task_has_its_own_processes_and_root(
    driver: ExecDriver, runtime: Runtime, task_dir: Path
) -> None:
    (task_dir / "local/file").write_text("mine\n")
    (task_dir.parent / "alloc/shared").write_text("ours\n")

    text = "echo $$; pwd; cat /local/file /alloc/shared; test -e /root && echo more"

    told = await output(driver, script(task_dir, f"{text} || true"))

    assert told == "1\n/\nmine\nours\n"


async def test_the_hosts_directories_cannot_be_changed_even_by_root(
    driver: ExecDriver, runtime: Runtime, task_dir: Path
) -> None:
    text = "touch /etc/x /usr/x 2>/dev/null || echo refused; touch /local/x && echo fine"

    assert await output(driver, script(task_dir, text, user="root")) == "refused\nfine\n"


async def test_the_tasks_own_files_are_seen_beside_the_hosts(
    driver: ExecDriver, runtime: Runtime, task_dir: Path
) -> None:
    (task_dir / "etc").mkdir()
    (task_dir / "etc/app.conf").write_text("mine\n")

    told = await output(driver, script(task_dir, "cat /etc/app.conf; head -n 1 /etc/passwd; ls /etc/ssl"))

    assert told.startswith("mine\nroot:")


async def test_volumes_are_mounted_also_inside_the_hosts_directories(
    driver: ExecDriver, runtime: Runtime, task_dir: Path, tmp_path: Path
) -> None:
    (tmp_path / "volume").mkdir(mode=0o777)
    (tmp_path / "volume").chmod(0o777)
    mounts = (
        TaskMount(source=str(tmp_path / "volume"), target="/data"),
        TaskMount(source=str(tmp_path / "volume"), target="/usr/share/yurt-test/data", readonly=True),
    )
    text = "echo x > /data/file; cat /usr/share/yurt-test/data/file; echo y > /usr/share/yurt-test/data/file"

    told = await output(driver, script(task_dir, f"{text} 2>/dev/null || true", mounts=mounts))

    assert told == "x\n"
    assert (tmp_path / "volume/file").read_text() == "x\n"
    assert "yurt-test" not in os.listdir("/usr/share")


async def test_devices_of_the_host_cannot_be_used(
    driver: ExecDriver, runtime: Runtime, task_dir: Path
) -> None:
    # Capability mknod is among the defaults, so only the device rules stand in the way.
    text = "mknod /tmp/mem c 1 1; head -c 1 /tmp/mem 2>&1; head -c 3 /dev/zero | wc -c; echo x > /dev/null"

    told = await output(driver, script(task_dir, text, user="root"))

    assert "Operation not permitted" in told
    assert told.endswith("3\n")


async def test_modes_share_the_hosts_namespaces(
    driver: ExecDriver, make_driver: MakeDriver, task_dir: Path
) -> None:
    spec = script(task_dir, "readlink /proc/self/ns/pid /proc/self/ns/ipc")
    config = {**spec.config, "pid_mode": "host", "ipc_mode": "host"}
    own = [os.readlink(f"/proc/self/ns/{kind}") for kind in ("pid", "ipc")]

    assert (await output(driver, msgspec.structs.replace(spec, config=config))).split() == own
    by_default = make_driver(default_pid_mode="host", default_ipc_mode="host")
    assert (await output(by_default, msgspec.structs.replace(spec, attempt=1))).split() == [*own, *own]


async def test_a_task_joins_its_groups_network(driver: ExecDriver, task_dir: Path) -> None:
    pipe = asyncio.subprocess.PIPE
    holder = await asyncio.create_subprocess_exec(
        *("unshare", "-n", "sh", "-c", "echo; read x"), stdin=pipe, stdout=pipe
    )
    assert holder.stdout is not None
    await holder.stdout.readline()
    path = f"/proc/{holder.pid}/ns/net"
    wanted = os.readlink(path)

    told = await output(driver, script(task_dir, "readlink /proc/self/ns/net", network_namespace=path))

    await holder.communicate(b"\n")
    assert told.strip() == wanted


async def test_a_work_dir_is_inside_the_root(driver: ExecDriver, task_dir: Path) -> None:
    spec = script(task_dir, "pwd")
    config = {**spec.config, "work_dir": "/local"}

    assert await output(driver, msgspec.structs.replace(spec, config=config)) == "/local\n"


async def test_limits_are_in_force(
    make_driver: MakeDriver, runtime: Runtime, cgroup_tree: CgroupTree, task_dir: Path, inside: Mailbox
) -> None:
    resources = TaskResources(cpu_shares=200, memory_mb=64, memory_max_mb=128)
    handle = await make_driver(pids_limit=77).start(sleeper(task_dir, resources=resources))
    await inside.receive()

    if cgroup_tree.version == 1:
        files = ["memory.limit_in_bytes", "memory.soft_limit_in_bytes", "cpu.shares", "pids.max"]
        expected = [str(128 << 20), str(64 << 20), "200", "77"]
    else:
        files = ["memory.max", "memory.low", "cpu.weight", "pids.max"]
        expected = [str(128 << 20), str(64 << 20), "8", "77"]
    assert [limit(cgroup_tree, handle.pid, file) for file in files] == expected
    await handle.destroy()
    assert groups_left(cgroup_tree) == []


# --- its life ---------------------------------------------------------------------------------------


async def test_a_signal_reaches_the_first_process(
    driver: ExecDriver, runtime: Runtime, task_dir: Path, inside: Mailbox
) -> None:
    handle = await driver.start(sleeper(task_dir))
    await inside.receive()

    await handle.signal("SIGTERM")

    assert (await handle.wait()).exit_code == 9


async def test_output_is_kept_from_the_first_byte_to_the_last(driver: ExecDriver, task_dir: Path) -> None:
    told = await output(driver, script(task_dir, "seq 100000; echo errors >&2"))

    assert told == "".join(f"{number}\n" for number in range(1, 100_001))
    assert (task_dir.parent / "logs/t.stderr.0").read_text() == "errors\n"


async def test_a_running_task_is_recovered_by_the_next_agent(
    driver: ExecDriver,
    make_driver: MakeDriver,
    later_launcher: LauncherClient,
    task_dir: Path,
    inside: Mailbox,
) -> None:
    handle = await driver.start(sleeper(task_dir))
    await inside.receive()

    recovered = await make_driver(later_launcher).recover(handle.state)

    assert recovered is not None
    result = await recovered.kill("SIGTERM", 60.0)
    assert (result.exit_code, result.error) == (9, "")


async def test_starting_again_attaches(driver: ExecDriver, task_dir: Path, inside: Mailbox) -> None:
    first = await driver.start(sleeper(task_dir))
    await inside.receive()

    again = await driver.start(sleeper(task_dir))

    assert again.pid == first.pid
    assert (await again.kill("SIGTERM", 60.0)).exit_code == 9


async def test_a_task_without_its_supervisor_is_lost_with_all_it_had(
    driver: ExecDriver,
    make_driver: MakeDriver,
    later_launcher: LauncherClient,
    cgroup_tree: CgroupTree,
    task_dir: Path,
    inside: Mailbox,
) -> None:
    handle = await driver.start(sleeper(task_dir))
    await inside.receive()
    # Not the parent of the task, which may be a part of crun for a moment.
    [supervisor] = supervisors(later_launcher)
    os.kill(supervisor, signal.SIGKILL)
    wait_gone(supervisor)

    assert await make_driver(later_launcher).recover(handle.state) is None

    wait_gone(handle.pid)
    assert groups_left(cgroup_tree) == []
    assert os.listdir(later_launcher.directory / "containers") == []


async def test_a_container_that_shares_pids_leaves_nothing_running(
    driver: ExecDriver, task_dir: Path, inside: Mailbox
) -> None:
    spec = script(task_dir, "sleep 1000 & echo $! > /mailbox")
    spec = msgspec.structs.replace(spec, config={**spec.config, "pid_mode": "host"})
    handle = await driver.start(spec)
    orphan = int(await inside.receive())

    assert (await handle.wait()).is_success

    wait_gone(orphan)


async def test_what_a_container_was_told_is_kept_from_others_and_goes_with_it(
    driver: ExecDriver, launcher: LauncherClient, task_dir: Path, inside: Mailbox
) -> None:
    handle = await driver.start(sleeper(task_dir))
    await inside.receive()
    [bundle] = (launcher.directory / "containers").iterdir()
    assert stat.S_IMODE((bundle / "config.json").stat().st_mode) == 0o600

    async with asyncio.timeout(60):
        await handle.destroy()

    assert not bundle.exists()
    assert await driver.recover(handle.state) is None


async def test_what_a_killed_agent_left_is_swept(
    make_driver: MakeDriver, launcher: LauncherClient, task_dir: Path
) -> None:
    left = launcher.directory / "containers" / "of-an-earlier-agent"
    left.mkdir(parents=True)

    await output(make_driver(), script(task_dir, "true"))

    assert not left.exists()


async def test_a_state_of_another_make_is_a_lost_task(driver: ExecDriver) -> None:
    assert await driver.recover(b"\x93nonsense") is None


async def test_commands_run_beside_the_task_in_its_world(
    driver: ExecDriver, runtime: Runtime, task_dir: Path, inside: Mailbox
) -> None:
    handle = await driver.start(sleeper(task_dir))
    await inside.receive()
    text = "(id; cat /proc/self/cgroup; grep CapEff /proc/self/status; echo $HOME) > /tmp/told; exit 5"

    assert await handle.run_command("/bin/sh", ["-c", text], timeout_s=60.0) == 5

    told = (task_dir / "tmp/told").read_text()
    assert told.startswith("uid=65534(nobody) gid=0(root) groups=0(root)\n")
    assert f"CapEff:\t{capabilities(handle.pid)}" in told
    assert "5b0c1a2d-0000-4000-8000-000000000001.t" in told
    await handle.destroy()


async def test_a_command_that_takes_too_long_is_ended(
    driver: ExecDriver, runtime: Runtime, launcher: LauncherClient, task_dir: Path, inside: Mailbox
) -> None:
    handle = await driver.start(sleeper(task_dir))
    await inside.receive()

    running = asyncio.ensure_future(
        handle.run_command("sh", ["-c", "echo $$ > /mailbox; exec sleep 1000"], timeout_s=1.0)
    )
    pid = await inside.receive()

    with pytest.raises(DriverError, match="sh was not done within 1 s"):
        await running
    assert await handle.run_command("sh", ["-c", f"kill -0 {pid}"], timeout_s=60.0) == 1
    assert [key.task for key in launcher.keys()] == ["t"]  # noqa: SIM118 - no mapping
    await handle.destroy()


async def test_a_container_that_is_gone_cannot_be_entered(driver: ExecDriver, task_dir: Path) -> None:
    handle = await driver.start(script(task_dir, "true"))
    await handle.wait()
    await handle.destroy()

    with pytest.raises(DriverError, match="cannot be entered"):
        await handle.run_command("/bin/true", [], timeout_s=1.0)


# --- what is refused --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"work_dir": "local"}, "work_dir must be absolute"),
        ({"pid_mode": "shared"}, 'pid_mode must be "private" or "host", got "shared"'),
        ({"ipc_mode": "x"}, 'ipc_mode must be "private" or "host", got "x"'),
        ({"cap_add": ["net_admin"]}, "driver does not allow the following capabilities: net_admin"),
        ({"nosuch": 1}, 'No argument or block type is named "nosuch"'),
    ],
)
async def test_configs_that_cannot_be_used_are_refused(
    driver: ExecDriver, task_dir: Path, config: dict[str, Any], said: str
) -> None:
    with pytest.raises(DriverError, match=said):
        await driver.start(a_spec(task_dir, {"command": "/bin/true", **config}))


async def test_what_the_runtime_says_is_told(driver: ExecDriver, runtime: Runtime, task_dir: Path) -> None:
    (task_dir / "local/broken").symlink_to("/no/such/file")

    with pytest.raises(DriverError, match=r"unable to start container process: .*local/broken") as raised:
        await driver.start(a_spec(task_dir, {"command": "broken"}))

    assert not raised.value.recoverable


async def test_a_failed_start_can_be_tried_again(driver: ExecDriver, task_dir: Path) -> None:
    (task_dir / "local/later").symlink_to("/local/tool")
    with pytest.raises(DriverError):
        await driver.start(a_spec(task_dir, {"command": "later"}))
    (task_dir / "local/tool").write_text("#!/bin/sh\n")
    (task_dir / "local/tool").chmod(0o755)

    result = await (await driver.start(a_spec(task_dir, {"command": "later"}))).wait()

    assert result.is_success


async def test_denied_users_are_refused(make_driver: MakeDriver, task_dir: Path) -> None:
    with pytest.raises(DriverError, match="running as uid 65534 is disallowed"):
        await make_driver(denied_uids=parse_id_ranges("65534")).start(script(task_dir, "true"))
    with pytest.raises(DriverError, match='failed to identify user "nosuchuser"'):
        await make_driver().start(script(task_dir, "true", user="nosuchuser"))


async def test_a_task_dir_that_is_gone_may_come_back(driver: ExecDriver, tmp_path: Path) -> None:
    with pytest.raises(DriverError, match="failed to prepare the task's root") as raised:
        await driver.start(a_spec(tmp_path / "gone/gone", {"command": "/bin/true"}))

    assert raised.value.recoverable


# --- whether it is there ----------------------------------------------------------------------------


async def test_it_is_there_with_root_groups_and_a_runtime(
    driver: ExecDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (await driver.fingerprint()).attributes == {"driver.exec": "true"}

    monkeypatch.setattr("yurt.agent.drivers.exec.driver.find_runtime", lambda: None)

    assert (
        await driver.fingerprint()
    ).description == "isolating tasks wants an OCI runtime; install crun or runc"
    assert not (await ExecDriver(None).fingerprint()).detected


async def test_a_task_can_use_the_devices_it_was_given_and_no_others(
    make_driver: MakeDriver, runtime: Runtime, task_dir: Path
) -> None:
    script = (
        "(: < /dev/fuse) && echo own; mknod /tmp/other c 10 183; "
        "(: < /tmp/other) 2> /dev/null || echo refused"
    )
    spec = shell(task_dir, script, devices=(TaskDevice(path="/dev/fuse"),))
    task = await make_driver().start(spec)
    await task.wait()
    await task.destroy()

    assert stdout(task_dir).splitlines() == ["own", "refused"]
