"""Time starting tasks through the launcher, and weigh what stays beside each of them."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from pathlib import Path
from statistics import median, quantiles

import uvloop

from yurt.agent.launcher import LauncherClient, LaunchSpec, LogLimits, RunningTask, TaskKey
from yurt.agent.launcher.daemon.records import read_record

STARTS = 300
PAUSE_S = 0.02  # between starts, as on an agent that is not busy
AT_ONCE = 500
LOG_BLOCKS = 16_000
LOG_BLOCK_BYTES = 64 << 10

TARGETS = {
    "supervisor_private_mib": "<= 2",
    "log_mb_per_s": ">= 200",
    "log_supervisor_cores_at_200_mb_per_s": "<= 0.5",
}


def run() -> dict[str, float]:
    """Return start latencies (until the command is executed), rates, memory and the cost of output."""
    with tempfile.TemporaryDirectory(prefix="yurt-bench-") as name:
        return uvloop.run(_measure(Path(name)))


async def _measure(directory: Path) -> dict[str, float]:
    (directory / "logs").mkdir()
    client = LauncherClient(directory / "launcher")
    try:
        begun = time.perf_counter()
        await (await client.start(_spec(directory, "first", 0, "true"))).wait()
        first_ms = (time.perf_counter() - begun) * 1e3
        latencies, tasks = await _start_one_by_one(client, directory)
        private_mib = median(_private_kib(client, task) for task in tasks) / 1024
        results = {
            "first_start_ms": first_ms,
            "start_p50_ms": median(latencies),
            "start_p99_ms": quantiles(latencies, n=100)[98],
            "supervisor_private_mib": private_mib,
            "short_tasks_per_s": await _short_tasks_per_s(client, directory),
        }
        return results | await _log_throughput(client, directory)
    finally:
        await client.shutdown(kill_tasks=True)


async def _start_one_by_one(client: LauncherClient, directory: Path) -> tuple[list[float], list[RunningTask]]:
    latencies, tasks = [], []
    for attempt in range(STARTS):
        await asyncio.sleep(PAUSE_S)
        begun = time.perf_counter()
        tasks.append(await client.start(_spec(directory, "sleeper", attempt, "sleep", "1000")))
        latencies.append((time.perf_counter() - begun) * 1e3)
    return latencies, tasks


async def _short_tasks_per_s(client: LauncherClient, directory: Path) -> float:
    async def run_one(attempt: int) -> None:
        task = await client.start(_spec(directory, "short", attempt, "true"))
        await task.wait()

    begun = time.perf_counter()
    await asyncio.gather(*(run_one(attempt) for attempt in range(AT_ONCE)))
    return AT_ONCE / (time.perf_counter() - begun)


async def _log_throughput(client: LauncherClient, directory: Path) -> dict[str, float]:
    # The last thing the task does is to tell how much time its parent, the supervisor, has used.
    script = f"dd if=/dev/zero bs={LOG_BLOCK_BYTES} count={LOG_BLOCKS} 2>/dev/null; cat /proc/$PPID/stat >&2"
    begun = time.perf_counter()
    await (await client.start(_spec(directory, "writer", 0, "sh", "-c", script))).wait()
    seconds = time.perf_counter() - begun
    stat = (directory / "logs" / "writer.stderr.0").read_text().rpartition(")")[2].split()
    cpu_s = (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")
    megabytes = LOG_BLOCKS * LOG_BLOCK_BYTES / 1e6
    return {
        "log_mb_per_s": megabytes / seconds,
        "log_supervisor_cores_at_200_mb_per_s": 200 * cpu_s / megabytes,
    }


def _spec(directory: Path, task: str, attempt: int, *argv: str) -> LaunchSpec:
    return LaunchSpec(
        key=TaskKey("bench", task, attempt),
        path=next(path for path in (f"/bin/{argv[0]}", f"/usr/bin/{argv[0]}") if os.path.exists(path)),
        argv=argv,
        env={"PATH": os.environ["PATH"]},
        logs=LogLimits(directory=str(directory / "logs"), files_max=10, file_bytes_max=10 << 20),
    )


def _private_kib(client: LauncherClient, task: RunningTask) -> int:
    record = read_record(client._path(task.key))
    assert record is not None
    lines = Path(f"/proc/{record['supervisor']}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_"))
