"""Time starting isolated tasks beside the container runtime alone, on the same root."""

from __future__ import annotations

import asyncio
import json
import os
import select
import tempfile
import time
from pathlib import Path
from statistics import median, quantiles

import uvloop

from yurt.agent.drivers import TaskResources, TaskSpec
from yurt.agent.drivers.cgroups import CgroupTree, find_cgroups
from yurt.agent.drivers.exec import ExecDriver, Isolation, IsolationOptions
from yurt.agent.drivers.exec.runtime import find_runtime
from yurt.agent.launcher import LauncherClient
from yurt.agent.launcher.daemon.processes import hide_mounts

STARTS = 60
PAUSE_S = 0.02  # between starts, as on an agent that is not busy
CPU_SHARES, MEMORY_MB = 100, 64

TARGETS = {"times_bare_runtime": "<= 1.3"}


def run() -> dict[str, float]:
    """Return the times to a task's first instruction: by the driver, by the runtime alone, and their ratio.

    The two are measured in turn, so that a busy machine slows down both.
    """
    with tempfile.TemporaryDirectory(prefix="yurt-bench-") as name:
        return uvloop.run(_measure(Path(name)))


async def _measure(directory: Path) -> dict[str, float]:
    for path in ("alloc/task/local", "alloc/alloc/logs"):
        (directory / path).mkdir(parents=True)
    fifo = directory / "alloc/task/mailbox"
    os.mkfifo(fifo)
    fifo.chmod(0o666)
    mailbox = os.open(fifo, os.O_RDWR | os.O_NONBLOCK)
    cgroups = find_cgroups(parent="yurt-bench")
    assert cgroups is not None, "run this as root"
    client = LauncherClient(directory / "launcher")
    driver = ExecDriver(Isolation(client, IsolationOptions(pids_limit=1000), cgroups))
    by_driver, by_runtime, without_limits = [], [], []
    try:
        for attempt in range(STARTS):
            await asyncio.sleep(PAUSE_S)
            spec = _spec(directory, attempt)
            begun = time.perf_counter()
            starting = asyncio.ensure_future(driver.start(spec))
            await _first_instruction(mailbox)
            by_driver.append((time.perf_counter() - begun) * 1e3)
            handle = await starting
            await handle.wait()
            [bundle] = (directory / "launcher/containers").iterdir()
            await asyncio.sleep(PAUSE_S)
            by_runtime.append(await asyncio.to_thread(_run_bare, bundle, mailbox, cgroups))
            await asyncio.sleep(PAUSE_S)
            without_limits.append(await asyncio.to_thread(_run_bare, bundle, mailbox, None))
            await handle.destroy()
    finally:
        await client.shutdown(kill_tasks=True)
        os.close(mailbox)
        _remove_groups(cgroups)
    return {
        "driver_p50_ms": median(by_driver),
        "driver_p99_ms": quantiles(by_driver, n=100)[98],
        "bare_runtime_p50_ms": median(by_runtime),
        "bare_runtime_without_limits_p50_ms": median(without_limits),
        "times_bare_runtime": median(by_driver) / median(by_runtime),
    }


def _spec(directory: Path, attempt: int) -> TaskSpec:
    return TaskSpec(
        alloc_id="bench",
        task="t",
        attempt=attempt,
        config={"command": "/bin/sh", "args": ["-c", "echo > /mailbox"]},
        env={"PATH": "/usr/bin:/bin"},
        task_dir=str(directory / "alloc/task"),
        shared_dir=str(directory / "alloc/alloc"),
        log_dir=str(directory / "alloc/alloc/logs"),
        resources=TaskResources(cpu_shares=CPU_SHARES, memory_mb=MEMORY_MB),
    )


async def _first_instruction(mailbox: int) -> None:
    loop = asyncio.get_running_loop()
    arrived = asyncio.Event()
    loop.add_reader(mailbox, arrived.set)
    await arrived.wait()
    loop.remove_reader(mailbox)
    os.read(mailbox, 1)


def _run_bare(bundle: Path, mailbox: int, cgroups: CgroupTree | None) -> float:
    """Run the driver's own bundle with nothing around it, in control groups like the task's or in none."""
    runtime = find_runtime()
    assert runtime is not None
    if cgroups is not None:
        config = json.loads((bundle / "config.json").read_text())
        limits = {"memory": {"limit": MEMORY_MB << 20}, "cpu": {"shares": CPU_SHARES}}
        config["linux"] |= {"cgroupsPath": f"/{cgroups.parent}/bare", "resources": limits}
        (bundle / "config.json").write_text(json.dumps(config))
    arguments = (
        runtime.path,
        "--root",
        f"{bundle}/bare",
        *([] if cgroups else ["--cgroup-manager", "disabled"]),
    )
    begun = time.perf_counter()
    pid = os.fork()
    if pid == 0:
        # crun does not work where it sees version 2 of control groups beside version 1.
        hide_mounts([path for path in ["/sys/fs/cgroup/unified"] if os.path.ismount(path)])
        os.execv(runtime.path, (*arguments, "run", "--bundle", str(bundle), "bare"))
    select.select([mailbox], [], [])
    elapsed_ms = (time.perf_counter() - begun) * 1e3
    os.read(mailbox, 1)
    os.waitpid(pid, 0)
    return elapsed_ms


def _remove_groups(cgroups: CgroupTree) -> None:
    for folder in sorted(Path(cgroups.mount).glob(f"**/{cgroups.parent}/**/"), reverse=True):
        folder.rmdir()
