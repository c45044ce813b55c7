"""Time starting containers by the docker driver beside `docker run -d` of the same image."""

from __future__ import annotations

import asyncio
import subprocess
import tempfile
import time
from pathlib import Path
from statistics import median

import uvloop

from tests.agent.drivers.docker_daemon import IMAGE, DockerDaemon
from yurt.agent.drivers import TaskResources, TaskSpec
from yurt.agent.drivers.docker import DockerDriver, DockerOptions
from yurt.agent.launcher import LauncherClient
from yurt.clock import SystemClock

STARTS = 20

TARGETS = {"driver_over_docker_run_ms": "<= 15"}


def run() -> dict[str, float]:
    """Return the times until a container runs, by either way, and how much more the driver takes.

    The two are measured in turn, so that a busy machine slows down both.
    """
    with tempfile.TemporaryDirectory(prefix="yurt-bench-") as name:
        daemon = DockerDaemon(Path(tempfile.mkdtemp(prefix="yurt-docker-")))
        try:
            daemon.start()
            asyncio.run(daemon.add_image(IMAGE, "ENV PATH=/bin:/usr/bin"))
            return uvloop.run(_measure(daemon, Path(name)))
        finally:
            daemon.remove()


async def _measure(daemon: DockerDaemon, directory: Path) -> dict[str, float]:
    for path in ("alloc/task/local", "alloc/task/secrets", "alloc/alloc/logs"):
        (directory / path).mkdir(parents=True)
    client = LauncherClient(directory / "launcher")
    driver = DockerDriver(client, SystemClock(), DockerOptions(endpoint=daemon.endpoint))
    await driver.fingerprint()
    by_driver, by_command = [], []
    try:
        for attempt in range(STARTS):
            begun = time.perf_counter()
            handle = await driver.start(_spec(directory, attempt))
            by_driver.append((time.perf_counter() - begun) * 1e3)
            await handle.destroy()
            begun = time.perf_counter()
            container = await asyncio.to_thread(_docker_run, daemon.endpoint)
            by_command.append((time.perf_counter() - begun) * 1e3)
            await daemon.engine.delete(f"/containers/{container}", force="true")
    finally:
        await client.shutdown(kill_tasks=True)
    return {
        "driver_p50_ms": median(by_driver),
        "docker_run_p50_ms": median(by_command),
        "driver_over_docker_run_ms": median(by_driver) - median(by_command),
    }


def _spec(directory: Path, attempt: int) -> TaskSpec:
    return TaskSpec(
        alloc_id="bench",
        task="t",
        attempt=attempt,
        config={"image": IMAGE, "command": "sleep", "args": ["1000"]},
        env={"PATH": "/bin:/usr/bin"},
        task_dir=str(directory / "alloc/task"),
        shared_dir=str(directory / "alloc/alloc"),
        log_dir=str(directory / "alloc/alloc/logs"),
        resources=TaskResources(cpu_shares=100, memory_mb=64),
    )


def _docker_run(endpoint: str) -> str:
    command = [
        "docker",
        "-H",
        endpoint,
        "run",
        "-d",
        "--cpu-shares=100",
        "--memory=64m",
        IMAGE,
        "sleep",
        "1000",
    ]
    return subprocess.check_output(command, text=True).strip()
