"""The API over a large State in a process of its own, with a watch on its loop.

usage: python -m benchmarks.api.served NODES JOBS ALLOCS_PER_JOB
Writes its port once it serves, and ends when its standard input does.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import subprocess
import sys
import time
from collections.abc import Iterator
from random import Random

import msgspec
import uvloop
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from benchmarks.state.world import fill, register_nodes
from yurt.api.app import HttpApp
from yurt.api.connection_limits import ConnectionLimits
from yurt.api.deps import AgentInfo, Deps
from yurt.api.http_server import HttpServer, bind
from yurt.api.v1.table import v1_routes
from yurt.clock import SystemClock
from yurt.main_agent import calm_collector
from yurt.server.server import Server
from yurt.server.settings import ServerSettings

STALL_PATH = "/bench/stall"
PROBE_INTERVAL_S = 0.002
STOP_GRACE_S = 5.0
# All readers of a benchmark come from one address.
UNLIMITED = ConnectionLimits(connections_per_client_max=0)


class ServedProcess(msgspec.Struct, frozen=True, kw_only=True):
    """A served State."""

    port: int
    pid: int


@contextlib.contextmanager
def served_process(*, nodes: int, jobs: int, per_job: int) -> Iterator[ServedProcess]:
    """Serve a State of that size while the block runs."""
    command = [sys.executable, "-m", "benchmarks.api.served", str(nodes), str(jobs), str(per_job)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            assert line, "the server ended before it served"
            yield ServedProcess(port=int(line), pid=process.pid)
        finally:
            process.stdin.close()
            process.wait()


class _Watched:
    """The API, and a route that tells the longest time its loop was busy since it was last asked."""

    def __init__(self, app: HttpApp) -> None:
        self._app = app
        self._stall_s = 0.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == STALL_PATH:
            stall, self._stall_s = self._stall_s, 0.0
            await Response(str(stall * 1e3))(scope, receive, send)
            return
        await self._app(scope, receive, send)

    async def watch(self) -> None:
        """Note how much work the loop does between two looks, until cancelled.

        Counted in CPU time, so that other programs on the machine do not count.
        """
        while True:
            before = time.process_time()
            await asyncio.sleep(PROBE_INTERVAL_S)
            self._stall_s = max(self._stall_s, time.process_time() - before)


async def _serve(nodes: int, jobs: int, per_job: int) -> None:
    server = await Server.open(ServerSettings(name="bench"), SystemClock(), Random(1))
    rng = Random(2)
    register_nodes(server.state, nodes, rng)
    fill(server.state, jobs=jobs, per_job=per_job, rng=rng)
    # What was filled in did not go through the log, whose next entry must follow it.
    await server.log.reset(server.state.index + 1)
    gc.collect()
    calm_collector()
    info = AgentInfo(
        name="bench",
        region="global",
        datacenter="dc1",
        config={},
        http_address="127.0.0.1:4646",
        rpc_address="127.0.0.1:4647",
        has_client=False,
        pid=0,
    )
    watched = _Watched(HttpApp(v1_routes(Deps(server, None, info, Random(3)))))
    sock = bind("127.0.0.1", 0, "ports.http")
    stop = asyncio.Event()
    watching = asyncio.ensure_future(watched.watch())
    ended = asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    ended.add_done_callback(lambda _: stop.set())
    sys.stdout.write(f"{sock.getsockname()[1]}\n")
    sys.stdout.flush()
    await HttpServer(watched, [sock], limits=UNLIMITED).serve(stop, STOP_GRACE_S)
    watching.cancel()


if __name__ == "__main__":
    uvloop.run(_serve(*(int(number) for number in sys.argv[1:])))
