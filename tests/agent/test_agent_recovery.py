"""An agent that is killed finds its tasks again: the same processes, with what became of them meanwhile."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from random import Random

import msgspec
import pytest
from aiohttp import web

from tests.agent.alloc_harness import destroy_all
from tests.agent.builders import a_job, a_task, an_alloc
from tests.agent.fake_servers import FakeServers
from tests.agent.launcher.real_tasks import wait_gone
from yurt.agent.launcher import LauncherClient
from yurt.model.client_protocol import ClientAlloc, Heartbeat, RegisterNode, UpdateAllocs, WatchAllocs
from yurt.model.task_parts import RestartPolicy
from yurt.model.wire import AllocID

PROCESS = Path(__file__).with_name("agent_process.py")
RPCS: dict[str, tuple[type, Callable[..., Awaitable[msgspec.Struct]]]] = {
    "register-node": (RegisterNode, FakeServers.register),
    "heartbeat": (Heartbeat, FakeServers.heartbeat),
    "watch-allocs": (WatchAllocs, FakeServers.watch_allocs),
    "update-allocs": (UpdateAllocs, FakeServers.update_allocs),
}


class RealNode:
    """A node agent in a process that a test kills and starts, and the servers it talks to."""

    def __init__(self, root: Path, address: str, servers: FakeServers) -> None:
        self.root = root
        self.servers = servers
        self._address = address
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        seen = len(self.servers.nodes)
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, str(PROCESS), str(self.root), self._address, start_new_session=True
        )
        await self.servers.until(lambda: len(self.servers.nodes) > seen)

    async def kill(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGKILL)
        await self._process.wait()
        self._process = None

    async def close(self) -> None:
        if self._process is not None:
            # With what it has just started: a launcher that comes up later would be nobody's to end.
            os.killpg(self._process.pid, signal.SIGKILL)
            await self.kill()
        launcher = LauncherClient(self.root / "client/launcher")
        await launcher.shutdown(kill_tasks=True)
        destroy_all(self.root / "alloc")

    def pids(self, name: str) -> list[int]:
        """The process ids under which a task was started, in order."""
        try:
            return [int(line) for line in (self.root / name).read_text().split()]
        except FileNotFoundError:
            return []

    async def first_pid(self, name: str) -> int:
        """Wait until a task has noted its start: it is reported as running a little before."""
        while not (pids := self.pids(name)):  # noqa: ASYNC110 - the task tells nobody
            await asyncio.sleep(0.002)
        return pids[0]


@pytest.fixture
async def node(tmp_path: Path) -> AsyncIterator[RealNode]:
    servers = FakeServers()

    async def handle(request: web.Request) -> web.Response:
        kind, method = RPCS[request.match_info["method"]]
        message: object = msgspec.msgpack.decode(await request.read(), type=kind)
        answer = await method(servers, message)
        return web.Response(body=msgspec.msgpack.encode(answer))

    app = web.Application()
    app.router.add_post("/rpc/v1/{method}", handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    made = RealNode(tmp_path, f"{host}:{port}", servers)
    yield made
    await made.close()
    await runner.cleanup()


def an_alloc_of(
    root: Path, name: str, script: str, *, restarts: int = 0, job_type: str = "batch"
) -> ClientAlloc:
    """An allocation whose task notes each of its starts in the file `name`."""
    task = a_task(
        driver="raw_exec",
        config={"command": "/bin/sh", "args": ["-c", f"echo $$ >> {root}/{name}; {script}"]},
        restart_policy=RestartPolicy(attempts=restarts, interval=10**12, delay=0),
    )
    return an_alloc(a_job(task, type=job_type), id=AllocID(name))


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().split()[3])


def kinds(node: RealNode, alloc_id: AllocID) -> list[str]:
    return [event.type for event in node.servers.reports[alloc_id].task_states["t"].events or ()]


async def test_a_running_task_is_the_same_process_afterwards(node: RealNode) -> None:
    alloc = an_alloc_of(
        node.root, "a1", f'trap "exit 5" INT; echo $$ > {node.root}/a1.up; while :; do sleep 0.05; done'
    )
    await node.start()
    node.servers.place(alloc)
    await node.servers.until_status(alloc.id, "running")
    await node.kill()
    await node.start()
    assert node.servers.nodes[0].id == node.servers.nodes[1].id
    assert node.servers.nodes[0].secret_id == node.servers.nodes[1].secret_id

    await node.first_pid("a1.up")
    node.servers.change(alloc.id, desired_status="stop")
    report = await node.servers.until_status(alloc.id, "complete")
    assert len(node.pids("a1")) == 1
    assert kinds(node, alloc.id) == [
        "Received",
        "Task Setup",
        "Started",
        "Killing",
        "Terminated",
        "Killed",
    ]
    assert (report.task_states["t"].events or ())[-2].exit_code == 5


@pytest.mark.parametrize(("exit_code", "status"), [(0, "complete"), (7, "failed")])
async def test_how_a_task_ended_meanwhile_is_known(node: RealNode, exit_code: int, status: str) -> None:
    go = node.root / "go"
    os.mkfifo(go)
    alloc = an_alloc_of(node.root, "a1", f"read x < {go}; exit {exit_code}")
    await node.start()
    node.servers.place(alloc)
    await node.servers.until_status(alloc.id, "running")
    await node.kill()
    await asyncio.to_thread(go.write_text, "now\n")
    await asyncio.to_thread(wait_gone, await node.first_pid("a1"))
    await node.start()
    report = await node.servers.until_status(alloc.id, status)

    terminated = next(e for e in report.task_states["t"].events or () if e.type == "Terminated")
    assert terminated.exit_code == exit_code
    assert len(node.pids("a1")) == 1
    assert kinds(node, alloc.id)[:4] == ["Received", "Task Setup", "Started", "Terminated"]


async def test_a_task_that_died_meanwhile_is_restarted_by_its_policy(node: RealNode) -> None:
    alloc = an_alloc_of(node.root, "a1", "exec sleep 1000", restarts=2)
    await node.start()
    node.servers.place(alloc)
    await node.servers.until_status(alloc.id, "running")
    await node.kill()
    os.kill(await node.first_pid("a1"), signal.SIGKILL)
    await asyncio.to_thread(wait_gone, await node.first_pid("a1"))
    await node.start()
    await node.servers.until(
        lambda: kinds(node, alloc.id)[-1] == "Started" and len(kinds(node, alloc.id)) > 3
    )

    assert kinds(node, alloc.id)[3:] == ["Terminated", "Restarting", "Started"]
    killed = (node.servers.reports[alloc.id].task_states["t"].events or ())[3]
    assert (killed.exit_code, killed.signal) == (137, 9)


async def test_a_task_without_its_supervisor_is_started_anew(node: RealNode) -> None:
    alloc = an_alloc_of(node.root, "a1", "exec sleep 1000")
    await node.start()
    node.servers.place(alloc)
    await node.servers.until_status(alloc.id, "running")
    await node.kill()
    task = await node.first_pid("a1")
    supervisor = parent_of(task)
    for pid in (supervisor, task):
        os.kill(pid, signal.SIGKILL)
        await asyncio.to_thread(wait_gone, pid)
    await node.start()
    await node.servers.until(lambda: len(kinds(node, alloc.id)) > 4)

    assert kinds(node, alloc.id)[3:] == ["Failed Restoring Task", "Started"]
    while len(node.pids("a1")) < 2:  # noqa: ASYNC110 - the task notes its start a little later
        await asyncio.sleep(0.01)
    assert len(node.pids("a1")) == 2
    assert node.servers.reports[alloc.id].task_states["t"].restarts == 0


async def test_tasks_start_once_whenever_the_agent_is_killed(node: RealNode) -> None:
    rng = Random(7)
    allocs = [an_alloc_of(node.root, f"a{n}", "exec sleep 1000", job_type="service") for n in range(12)]
    await node.start()
    for alloc in allocs:
        node.servers.place(alloc)
        if rng.random() < 0.4:
            await asyncio.sleep(rng.uniform(0, 0.02))  # the random moment, not something awaited
            await node.kill()
            await node.start()
    for alloc in allocs:
        await node.servers.until_status(alloc.id, "running")
        await node.first_pid(alloc.id)

    assert [len(node.pids(alloc.id)) for alloc in allocs] == [1] * len(allocs)


async def test_tasks_of_a_lost_memory_are_found_or_ended(node: RealNode) -> None:
    kept = an_alloc_of(node.root, "kept", "exec sleep 1000")
    dropped = an_alloc_of(node.root, "dropped", "exec sleep 1000")
    await node.start()
    node.servers.place(kept, dropped)
    await node.servers.until_status(kept.id, "running")
    await node.servers.until_status(dropped.id, "running")
    await node.kill()
    node.servers.drop(dropped.id)
    for name in os.listdir(node.root / "client"):
        if name.startswith("state.db"):
            os.unlink(node.root / "client" / name)
    node.servers.reports.clear()
    await node.start()
    await node.servers.until_status(kept.id, "running")
    await node.first_pid("kept")
    await asyncio.to_thread(wait_gone, await node.first_pid("dropped"))

    assert len(node.pids("kept")) == 1
