"""The docker driver with a real daemon, held against what Nomad's was recorded to tell."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.agent.drivers.docker_daemon import IMAGE, DockerDaemon
from tests.agent.drivers.specs import a_spec, as_recorded, event, parent_of, stdout, terminated
from tests.agent.launcher.real_tasks import Gate, Mailbox, wait_gone
from yurt.agent.drivers import DriverError, TaskMount, TaskPort, TaskResources, TaskSpec, config_error_text
from yurt.agent.drivers.docker import DockerDriver, DockerOptions
from yurt.agent.drivers.docker.options import DanglingOptions, GcOptions, VolumesOptions
from yurt.agent.drivers.docker.task import DockerTask
from yurt.agent.launcher import LauncherClient
from yurt.clock import SystemClock
from yurt.model.times import SECOND_NS

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("dockerd") is None, reason="wants root, and dockerd installed"
)
WAIT_S_MAX = 60.0
MakeDriver = Callable[..., DockerDriver]


class ShiftedClock(SystemClock):
    """The machine's clock, ahead by as much as a test wants."""

    def __init__(self) -> None:
        self._ahead_s = 0

    def advance(self, seconds: int) -> None:
        self._ahead_s += seconds

    def now_ns(self) -> int:
        return super().now_ns() + self._ahead_s * SECOND_NS

    def monotonic(self) -> float:
        return super().monotonic() + self._ahead_s


@pytest.fixture
def make_driver(launcher: LauncherClient, clean: DockerDaemon) -> MakeDriver:
    def make(
        launcher: LauncherClient = launcher, clock: ShiftedClock | None = None, **options: Any
    ) -> DockerDriver:
        return DockerDriver(
            launcher, clock or SystemClock(), DockerOptions(endpoint=clean.endpoint, **options)
        )

    return make


@pytest.fixture
def driver(make_driver: MakeDriver) -> DockerDriver:
    return make_driver()


@pytest.fixture
def task_dir(alloc_task_dir: Path) -> Path:
    return alloc_task_dir


@pytest.fixture
def inside(task_dir: Path) -> Iterator[Mailbox]:
    """A mailbox that a task finds at /local/mailbox."""
    mailbox = Mailbox(task_dir / "local/mailbox")
    yield mailbox
    mailbox.close()


@pytest.fixture
def gate(task_dir: Path) -> Iterator[Gate]:
    gate = Gate(task_dir / "local/gate")
    yield gate
    gate.close()


def script(task_dir: Path, text: str, config: dict[str, Any] | None = None, **changes: Any) -> TaskSpec:
    merged = {
        "image": IMAGE,
        "command": "/bin/sh",
        "args": ["-c", text],
        "network_mode": "none",
        **(config or {}),
    }
    defaults = {
        "shared_dir": str(task_dir.parent / "alloc"),
        "resources": TaskResources(cpu_shares=20, memory_mb=32),
        "env": {},
    }
    return a_spec(task_dir, merged, **(defaults | changes))


def sleeper(task_dir: Path, *, trap: str = "trap 'exit 9' TERM", **changes: Any) -> TaskSpec:
    """A task that says that it runs, then goes on."""
    text = f"{trap}; echo ready > /local/mailbox; while :; do sleep 0.05; done"
    return script(task_dir, text, **changes)


async def output(driver: DockerDriver, spec: TaskSpec) -> str:
    handle = await driver.start(spec)
    result = await handle.wait()
    errors = (Path(spec.log_dir) / "t.stderr.0").read_text()
    assert result.is_success, f"{result}: {errors}"
    await handle.destroy()
    return stdout(Path(spec.task_dir))


# --- as recorded ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scenario", "text"), [("docker-exit", "exit 3"), ("docker-oom", "x=a; while :; do x=$x$x; done")]
)
async def test_an_end_is_told_as_recorded(
    driver: DockerDriver, recorded_events: dict[str, Any], task_dir: Path, scenario: str, text: str
) -> None:
    handle = await driver.start(script(task_dir, text))

    assert as_recorded(await handle.wait()) == terminated(recorded_events, scenario)


async def test_a_kill_ends_as_recorded(
    driver: DockerDriver, recorded_events: dict[str, Any], task_dir: Path, inside: Mailbox
) -> None:
    handle = await driver.start(sleeper(task_dir, trap="trap '' TERM"))
    await inside.receive()

    result = await handle.kill("", 0.5)

    assert as_recorded(result) == terminated(recorded_events, "docker-kill")


def without_ids(text: str) -> str:
    return re.sub("[0-9a-f]{64}", "<hex64>", text)


@pytest.mark.parametrize(
    ("scenario", "config", "recoverable"),
    [
        ("bad-image", {"image": "127.0.0.1:9/none:1"}, True),
        ("docker-privileged-refused", {"image": IMAGE, "privileged": True}, False),
    ],
)
async def test_a_start_fails_as_recorded(
    driver: DockerDriver,
    recorded_events: dict[str, Any],
    task_dir: Path,
    scenario: str,
    config: dict[str, Any],
    recoverable: bool,
) -> None:
    told: list[tuple[str, dict[str, str]]] = []
    spec = a_spec(task_dir, config, announce=lambda *message: told.append(message))

    with pytest.raises(DriverError) as raised:
        await driver.start(spec)

    assert without_ids(str(raised.value)) == event(recorded_events, scenario, "Driver Failure")["DriverError"]
    assert raised.value.recoverable == recoverable
    recorded = [
        (entry["DriverMessage"], entry["Details"])
        for entry in recorded_events[scenario]["Tasks"]["t"]["Events"]
        if entry["Type"] == "Driver"
    ]
    assert told == recorded[:1]


async def test_a_command_that_is_not_there_is_told_as_recorded(
    driver: DockerDriver, clean: DockerDaemon, recorded_events: dict[str, Any], task_dir: Path
) -> None:
    with pytest.raises(DriverError) as raised:
        await driver.start(script(task_dir, "", {"command": "/nope", "args": []}))

    recorded = event(recorded_events, "docker-nocmd", "Driver Failure")["DriverError"]
    # Between these, each version of Docker names the programs it went through.
    first, last = recorded.partition("daemon: ")[0], recorded.rpartition("exec: ")[2]
    assert without_ids(str(raised.value)).startswith(f"{first}daemon: ")
    assert last in str(raised.value)
    assert not raised.value.recoverable
    assert await clean.containers() == [], "what could not be started is removed"


def test_an_unknown_option_is_refused_as_recorded(
    driver: DockerDriver, recorded_events: dict[str, Any]
) -> None:
    problems = driver.validate_config({"image": IMAGE, "nosuch": 1})

    recorded = event(recorded_events, "docker-unknown-option", "Failed Validation")["ValidationError"]
    assert config_error_text(problems) == recorded


# --- what a task sees -------------------------------------------------------------------------------


async def test_a_task_sees_its_directories_and_environment(driver: DockerDriver, task_dir: Path) -> None:
    for path, text in (("local/l", "local"), ("secrets/s", "secret"), ("../alloc/a", "shared")):
        (task_dir / path).write_text(f"{text}\n")
    text = "cat /local/l /secrets/s /alloc/a; env; touch /alloc/logs/x 2>/dev/null || echo read-only"

    told = (await output(driver, script(task_dir, text, env={"A": "1", "B": "x y"}))).splitlines()

    assert told[:3] == ["local", "secret", "shared"]
    assert {"A=1", "B=x y", "PATH=/bin:/usr/bin", "read-only"} <= set(told)
    assert not [line for line in told if line.startswith("YURT_SUPERVISOR")]


async def test_a_task_runs_as_told(driver: DockerDriver, task_dir: Path) -> None:
    config = {
        "entrypoint": ["/bin/sh", "-c"],
        "command": "id -u; pwd; echo $0",
        "args": ["first"],
        "work_dir": "/tmp",
        "hostname": "here",
    }

    told = await output(driver, script(task_dir, "", config, user="1000"))

    assert told == "1000\n/tmp\nfirst\n"


async def test_limits_and_labels_reach_docker(
    make_driver: MakeDriver, clean: DockerDaemon, task_dir: Path, inside: Mailbox
) -> None:
    resources = TaskResources(cpu_shares=200, memory_mb=64, memory_max_mb=128)
    driver = make_driver(pids_limit=77, extra_labels=("job*",))
    config = {"labels": [{"team": "a"}], "ulimit": {"nofile": "64:128"}}
    handle = await driver.start(sleeper(task_dir, config=config, resources=resources))
    await inside.receive()

    told = await clean.engine.get(f"/containers/{handle.container_id}/json", dict[str, Any])

    host = told["HostConfig"]
    limits = [host[name] for name in ("Memory", "MemoryReservation", "MemorySwap", "CpuShares", "PidsLimit")]
    assert limits == [128 << 20, 64 << 20, 128 << 20, 200, 77]
    assert host["Ulimits"] == [{"Name": "nofile", "Soft": 64, "Hard": 128}]
    assert told["Name"] == "/t-5b0c1a2d-0000-4000-8000-000000000001"
    assert told["Config"]["Labels"]["com.hashicorp.nomad.alloc_id"] == "5b0c1a2d-0000-4000-8000-000000000001"
    assert told["Config"]["Labels"]["team"] == "a"
    await handle.destroy()


async def test_capabilities_are_those_asked_for(driver: DockerDriver, task_dir: Path) -> None:
    text = "while read -r name value; do case $name in CapBnd:) echo $value;; esac; done < /proc/self/status"
    config = {"cap_drop": ["all"], "cap_add": ["chown", "CAP_KILL"]}

    assert await output(driver, script(task_dir, text, config)) == f"{1 << 0 | 1 << 5:016x}\n"


async def test_ports_are_published(
    driver: DockerDriver, clean: DockerDaemon, task_dir: Path, inside: Mailbox, unused_port: int
) -> None:
    created = await clean.engine.post("/networks/create", body={"Name": "users", "Driver": "bridge"})
    network_id = msgspec.json.decode(created)["Id"]
    ports = (TaskPort(label="http", host_ip="127.0.0.1", host_port=unused_port, to=80),)
    config = {"network_mode": "users", "ports": ["http"], "network_aliases": ["web"]}
    text = "echo ready > /local/mailbox; nc -l -p 80 -e echo hello"
    handle = await driver.start(script(task_dir, text, config, ports=ports))
    try:
        await inside.receive()

        reader, writer = await connect(unused_port)
        assert await reader.read() == b"hello\n"
        writer.close()
        assert handle.network is not None
        assert (handle.network.port_map, handle.network.auto_advertise) == ({"http": 80}, True)
    finally:
        await handle.destroy()
        await clean.engine.delete(f"/networks/{network_id}")


@pytest.fixture
def unused_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def connect(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    async with asyncio.timeout(WAIT_S_MAX):
        return await asyncio.open_connection("127.0.0.1", port)


async def test_a_group_shares_the_network_of_its_pause_container(
    make_driver: MakeDriver, clean: DockerDaemon, task_dir: Path
) -> None:
    await clean.add_image("pause:1", 'ENTRYPOINT ["/bin/sleep", "100000"]')
    driver = make_driver(infra_image="pause:1")
    spec = script(task_dir, "readlink /proc/self/ns/net", {"network_mode": ""})

    path = await driver.create_network(spec.alloc_id)
    told = await output(driver, msgspec.structs.replace(spec, network_namespace=path))

    assert await driver.create_network(spec.alloc_id) == path, "it is there"
    assert f"net:[{os.stat(path).st_ino}]\n" == told
    await driver.destroy_network(spec.alloc_id)
    await driver.destroy_network(spec.alloc_id)
    assert await clean.containers() == []


async def test_volumes_and_mounts(make_driver: MakeDriver, task_dir: Path, tmp_path: Path) -> None:
    for name in ("host", "given"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(f"{name}\n")
    (task_dir / "local/own").mkdir()
    (task_dir / "local/own/file").write_text("own\n")
    config = {
        "volumes": [f"{tmp_path}/host:/host:ro", "local/own:/own"],
        "mount": [
            {"type": "tmpfs", "target": "/mem", "tmpfs_options": {"size": 65536}},
            {"type": "bind", "target": "/again", "source": "local/own"},
        ],
    }
    mounts = (TaskMount(source=str(tmp_path / "given"), target="/given", readonly=True),)
    text = "cat /host/file /own/file /again/file /given/file; touch /mem/x; touch /given/x || true"
    driver = make_driver(volumes=VolumesOptions(enabled=True))

    assert await output(driver, script(task_dir, text, config, mounts=mounts)) == "host\nown\nown\ngiven\n"


# --- its output -------------------------------------------------------------------------------------


async def test_output_is_kept_whole_and_in_both_streams(driver: DockerDriver, task_dir: Path) -> None:
    told = await output(driver, script(task_dir, "seq 20000; echo errors >&2; printf end"))

    assert told == "".join(f"{number}\n" for number in range(1, 20_001)) + "end"
    assert (task_dir.parent / "logs/t.stderr.0").read_text() == "errors\n"


async def test_a_terminals_output_is_kept(driver: DockerDriver, task_dir: Path) -> None:
    await output(driver, script(task_dir, "echo hello", {"tty": True}))

    assert (task_dir.parent / "logs/t.stdout.0").read_bytes() == b"hello\r\n"


async def test_output_is_thrown_away_when_it_is_not_wanted(
    make_driver: MakeDriver, launcher: LauncherClient, task_dir: Path
) -> None:
    handle = await make_driver(disable_log_collection=True).start(script(task_dir, "echo hello"))
    await handle.wait()

    assert os.listdir(task_dir.parent / "logs") == []
    assert launcher.keys() == []


async def test_output_has_no_gap_while_no_agent_is_there(
    driver: DockerDriver,
    make_driver: MakeDriver,
    task_dir: Path,
    tmp_path: Path,
    inside: Mailbox,
    gate: Gate,
) -> None:
    text = "seq 1 500; echo x > /local/mailbox; read go < /local/gate; seq 501 1000"
    handle = await driver.start(script(task_dir, text))
    await inside.receive()
    # Another agent: the first one's objects are not used any more.
    later = LauncherClient(tmp_path / "launcher")
    recovered = await make_driver(later).recover(handle.state)
    assert recovered is not None
    gate.open()

    assert (await recovered.wait()).is_success

    assert stdout(task_dir) == "".join(f"{number}\n" for number in range(1, 1001))
    await recovered.destroy()
    later.close()


async def test_a_killed_follower_goes_on_where_it_was(
    driver: DockerDriver,
    make_driver: MakeDriver,
    launcher: LauncherClient,
    task_dir: Path,
    tmp_path: Path,
    inside: Mailbox,
    gate: Gate,
) -> None:
    text = "seq 1 500; echo x > /local/mailbox; read go < /local/gate; seq 501 1000"
    handle = await driver.start(script(task_dir, text))
    await inside.receive()
    await until(lambda: stdout(task_dir).endswith("\n500\n"))
    follower = await launcher.attach(launcher.keys()[0])
    assert follower is not None
    supervisor = parent_of(follower.pid)
    os.kill(supervisor, signal.SIGKILL)
    wait_gone(supervisor)
    gate.open()
    later = LauncherClient(tmp_path / "launcher")

    recovered = await make_driver(later).recover(handle.state)
    assert recovered is not None
    assert (await recovered.wait()).is_success

    assert stdout(task_dir) == "".join(f"{number}\n" for number in range(1, 1001))
    await recovered.destroy()
    later.close()


async def until(condition: Callable[[], bool]) -> None:
    """Look until something has happened that nobody tells."""
    async with asyncio.timeout(WAIT_S_MAX):
        while not condition():  # noqa: ASYNC110 - another process makes it so
            await asyncio.sleep(0.01)


# --- its life ---------------------------------------------------------------------------------------


async def test_a_signal_reaches_the_task(driver: DockerDriver, task_dir: Path, inside: Mailbox) -> None:
    handle = await driver.start(sleeper(task_dir, trap="trap 'exit 5' HUP"))
    await inside.receive()

    await handle.signal("SIGHUP")

    assert (await handle.wait()).exit_code == 5


async def test_commands_run_beside_the_task(driver: DockerDriver, task_dir: Path, inside: Mailbox) -> None:
    handle = await driver.start(sleeper(task_dir))
    await inside.receive()

    assert await handle.run_command("sh", ["-c", "echo x > /local/told; exit 5"], timeout_s=60.0) == 5
    assert await handle.run_command("true", [], timeout_s=60.0) == 0

    assert (task_dir / "local/told").read_text() == "x\n"
    with pytest.raises(DriverError, match="sleep was not done within"):
        await handle.run_command("sleep", ["1000"], timeout_s=0.1)
    await handle.destroy()
    with pytest.raises(DriverError, match="cannot run true in the container"):
        await handle.run_command("true", [], timeout_s=1.0)


async def test_a_signal_that_is_none_is_refused(
    driver: DockerDriver, task_dir: Path, inside: Mailbox
) -> None:
    handle = await driver.start(sleeper(task_dir))
    await inside.receive()

    with pytest.raises(DriverError, match="Invalid signal: SIGFOO"):
        await handle.signal("SIGFOO")

    await handle.destroy()


@pytest.mark.parametrize(
    ("trap", "kill", "code"),
    [
        pytest.param("trap 'exit 4' USR1", ("SIGUSR1", 60.0), 4, id="it heeds the signal"),
        pytest.param("trap '' USR1 TERM", ("SIGUSR1", 0.1), 137, id="it does not"),
        pytest.param("trap 'exit 6' TERM", ("", 60.0), 6, id="the image's own signal"),
    ],
)
async def test_a_kill_gives_the_task_its_time(
    driver: DockerDriver, task_dir: Path, inside: Mailbox, trap: str, kill: tuple[str, float], code: int
) -> None:
    handle = await driver.start(sleeper(task_dir, trap=trap))
    await inside.receive()

    assert (await handle.kill(*kill)).exit_code == code


async def test_killing_what_has_ended_does_no_harm(driver: DockerDriver, task_dir: Path) -> None:
    handle = await driver.start(script(task_dir, "exit 2"))
    await handle.wait()

    assert (await handle.kill("SIGTERM", 1.0)).exit_code == 2


async def test_starting_again_attaches(driver: DockerDriver, task_dir: Path, inside: Mailbox) -> None:
    first = await driver.start(sleeper(task_dir))
    await inside.receive()

    again = await driver.start(sleeper(task_dir))

    assert again.container_id == first.container_id


async def test_what_an_earlier_try_left_is_replaced(
    driver: DockerDriver, clean: DockerDaemon, task_dir: Path
) -> None:
    left = await driver.start(script(task_dir, "exit 1"))
    await left.wait()

    result = await (await driver.start(script(task_dir, "true", attempt=1))).wait()

    assert result.is_success
    assert await clean.container(left.container_id) is None


async def test_a_task_ends_while_no_agent_is_there(
    driver: DockerDriver, make_driver: MakeDriver, task_dir: Path
) -> None:
    handle = await driver.start(script(task_dir, "exit 7"))
    await handle.wait()

    recovered = await make_driver().recover(handle.state)

    assert recovered is not None
    assert (await recovered.wait()).exit_code == 7
    await recovered.destroy()
    assert await make_driver().recover(handle.state) is None


async def test_a_container_that_is_gone_is_a_lost_task(
    driver: DockerDriver, clean: DockerDaemon, launcher: LauncherClient, task_dir: Path, inside: Mailbox
) -> None:
    handle = await driver.start(sleeper(task_dir))
    await inside.receive()
    await clean.engine.delete(f"/containers/{handle.container_id}", force="true")

    assert "removed by somebody else" in (await handle.wait()).error
    assert await driver.recover(handle.state) is None
    assert launcher.keys() == []


async def test_a_state_of_another_make_is_a_lost_task(driver: DockerDriver) -> None:
    assert await driver.recover(b"\x93nonsense") is None


async def test_destroying_leaves_nothing(
    driver: DockerDriver, clean: DockerDaemon, launcher: LauncherClient, task_dir: Path, inside: Mailbox
) -> None:
    handle = await driver.start(sleeper(task_dir))
    await inside.receive()

    await handle.destroy()

    assert await clean.containers() == []
    assert launcher.keys() == []
    assert os.listdir(launcher.directory / "docker") == []


async def test_an_operator_may_keep_containers(
    make_driver: MakeDriver, clean: DockerDaemon, task_dir: Path, inside: Mailbox
) -> None:
    driver = make_driver(gc=GcOptions(container=False))
    handle = await driver.start(sleeper(task_dir))
    await inside.receive()

    await handle.destroy()

    kept = await clean.container(handle.container_id)
    assert kept is not None
    assert not kept.state.running


# --- the daemon comes and goes ----------------------------------------------------------------------


async def test_a_task_and_its_output_outlive_the_daemon(
    driver: DockerDriver, clean: DockerDaemon, task_dir: Path, inside: Mailbox, gate: Gate
) -> None:
    text = "seq 1 500; echo x > /local/mailbox; read go < /local/gate; seq 501 1000; exit 8"
    handle = await driver.start(script(task_dir, text))
    assert (await driver.fingerprint()).healthy
    await inside.receive()
    waiting = asyncio.ensure_future(handle.wait())

    await asyncio.to_thread(clean.stop)
    gone = await driver.fingerprint()
    recovered = await driver.recover(handle.state)
    await asyncio.to_thread(clean.start)
    gate.open()

    assert (gone.detected, gone.healthy) == (True, False)
    assert gone.description == "Failed to connect to docker daemon"
    assert recovered is not None, "the daemon may come back with the container"
    async with asyncio.timeout(WAIT_S_MAX):
        assert (await waiting).exit_code == 8
    assert (await driver.fingerprint()).healthy
    assert stdout(task_dir) == "".join(f"{number}\n" for number in range(1, 1001))


async def test_a_daemon_is_told_with_its_attributes(make_driver: MakeDriver) -> None:
    driver = make_driver(allow_privileged=True, volumes=VolumesOptions(enabled=True), pids_limit=100)

    told = (await driver.fingerprint()).attributes

    assert told.pop("driver.docker.version")[0].isdigit()
    assert "runc" in told.pop("driver.docker.runtimes").split(",")
    assert told == {
        "driver.docker": "true",
        "driver.docker.os_type": "linux",
        "driver.docker.privileged.enabled": "true",
        "driver.docker.volumes.enabled": "true",
        "driver.docker.pids.limit": "100",
    }


async def test_without_a_daemon_there_is_no_driver(launcher: LauncherClient, tmp_path: Path) -> None:
    options = DockerOptions(endpoint=f"unix://{tmp_path}/none.sock")
    driver = DockerDriver(launcher, SystemClock(), options)

    assert not (await driver.fingerprint()).detected
    with pytest.raises(DriverError, match="cannot reach the Docker daemon") as raised:
        await driver.start(a_spec(tmp_path, {"image": IMAGE}))
    assert raised.value.recoverable


# --- cleaning up ------------------------------------------------------------------------------------


async def test_an_unused_image_is_removed_after_its_delay(
    make_driver: MakeDriver, clean: DockerDaemon, task_dir: Path
) -> None:
    await clean.add_image("unused:1", "LABEL x=y")
    clock = ShiftedClock()
    driver = make_driver(clock=clock)

    async def is_there() -> bool:
        images = await clean.engine.get("/images/json", list[dict[str, Any]])
        return any("unused:1" in (image["RepoTags"] or []) for image in images)

    async def run(attempt: int) -> DockerTask:
        handle = await driver.start(script(task_dir, "true", {"image": "unused:1"}, attempt=attempt))
        await handle.wait()
        return handle

    await (await run(1)).destroy()
    clock.advance(179)
    await driver.fingerprint()
    assert await is_there()
    using = await run(2)
    clock.advance(1000)
    await driver.fingerprint()
    assert await is_there(), "it is in use again"
    await using.destroy()
    clock.advance(181)
    await driver.fingerprint()
    assert not await is_there()


@pytest.mark.parametrize("dry_run", [True, False])
async def test_containers_of_no_task_are_removed(
    make_driver: MakeDriver, clean: DockerDaemon, task_dir: Path, inside: Mailbox, dry_run: bool
) -> None:
    lost = await make_driver().start(sleeper(task_dir))
    await inside.receive()
    stranger = await clean.engine.post("/containers/create", body={"Image": IMAGE, "Cmd": ["true"]})
    clock = ShiftedClock()
    driver = make_driver(clock=clock, gc=GcOptions(dangling_containers=DanglingOptions(dry_run=dry_run)))
    mine = await driver.start(script(task_dir, "sleep 1000", task="mine"))

    await driver.fingerprint()
    assert await clean.container(lost.container_id), "an agent that just started looks later"
    clock.advance(1000)
    await driver.fingerprint()

    assert (await clean.container(lost.container_id) is not None) == dry_run
    assert await clean.container(mine.container_id)
    assert await clean.container(msgspec.json.decode(stranger)["Id"]), "it is not ours"
    await mine.destroy()
    await lost.destroy()
