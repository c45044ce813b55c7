"""Measuring tasks: their processes in /proc, or all that is in their control groups."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol, runtime_checkable

import msgspec

from yurt.agent.drivers.group_usage import group_memory, groups_of, members, with_throttling
from yurt.model.resource_usage import CpuStats, MemoryStats, ResourceUsage, TaskResourceUsage, summed
from yurt.model.times import SECOND_NS

MEMORY_OF_PROCESS = ("RSS", "Swap")
CPU_OF_PROCESS = ("System Mode", "User Mode", "Percent")
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_NS_PER_TICK = SECOND_NS // _TICKS_PER_S


@runtime_checkable
class Measured(Protocol):
    """A task handle whose driver can tell what the task uses."""

    async def usage(self) -> TaskResourceUsage | None:
        """What the task uses now, its compute since the last call; None when it cannot be told.

        Compute is told in percent; who knows the node's clock rate adds the ticks.
        """


class CpuTimes(msgspec.Struct, frozen=True):
    """Compute that was used so far, in nanoseconds."""

    user: int = 0
    system: int = 0


class CpuRates:
    """Turns compute used so far into percents, by what it was at the last look."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[int, CpuTimes]] = {}

    def rate(self, name: str, times: CpuTimes, *, now: int, since: int) -> CpuStats:
        """The percents of one core that `name` used since the last look, at first since the time `since`."""
        at, before = self._last.get(name, (since, CpuTimes()))
        self._last[name] = (now, times)
        elapsed = max(now - at, 1)
        user = 100.0 * max(times.user - before.user, 0) / elapsed
        system = 100.0 * max(times.system - before.system, 0) / elapsed
        return CpuStats(system_mode=system, user_mode=user, percent=user + system, measured=CPU_OF_PROCESS)

    def keep(self, names: Iterable[str]) -> None:
        """Forget all others."""
        self._last = {name: self._last[name] for name in names if name in self._last}


class ProcessMeter:
    """Measures a process and all below it; with `in_groups` also the control groups that they are in.

    Its methods block.
    """

    def __init__(self, pid: int, started_ns: int, *, in_groups: bool) -> None:
        self._pid = pid
        self._started_ns = started_ns
        self._in_groups = in_groups
        self._rates = CpuRates()

    def measure(self) -> TaskResourceUsage | None:
        """What is used now; None when the process is gone."""
        now = time.time_ns()
        groups = groups_of(self._pid) if self._in_groups else None
        pids = members(groups) if groups else _tree(self._pid)
        usages = {str(pid): usage for pid in pids if (usage := self._process(pid, now)) is not None}
        self._rates.keep(usages)
        if not usages:
            return None
        total = summed(usages.values())
        if groups:
            total = msgspec.structs.replace(
                total, memory_stats=group_memory(groups), cpu_stats=with_throttling(total.cpu_stats, groups)
            )
        return TaskResourceUsage(resource_usage=total, timestamp=now, pids=usages)

    def _process(self, pid: int, now: int) -> ResourceUsage | None:
        try:
            stat = Path(f"/proc/{pid}/stat").read_bytes()
            status = Path(f"/proc/{pid}/status").read_bytes()
        except OSError:  # it ended
            return None
        # The command name may hold spaces and parentheses, so count from its end.
        fields = stat[stat.rindex(b")") + 2 :].split()
        # With what children used that have ended: a shell's work is that of its commands.
        user, system = (int(fields[11]) + int(fields[13]), int(fields[12]) + int(fields[14]))
        times = CpuTimes(user * _NS_PER_TICK, system * _NS_PER_TICK)
        return ResourceUsage(
            memory_stats=MemoryStats(
                rss=int(fields[21]) * _PAGE_BYTES, swap=_swap(status), measured=MEMORY_OF_PROCESS
            ),
            cpu_stats=self._rates.rate(str(pid), times, now=now, since=self._started_ns),
        )


def _swap(status: bytes) -> int:
    _, found, rest = status.partition(b"VmSwap:")
    return int(rest.split(None, 1)[0]) * 1024 if found else 0


def _tree(pid: int) -> list[int]:
    """A process and all below it."""
    found, left = [], [pid]
    while left:
        parent = left.pop()
        found.append(parent)
        try:
            for thread in os.listdir(f"/proc/{parent}/task"):
                text = Path(f"/proc/{parent}/task/{thread}/children").read_text()
                left.extend(int(child) for child in text.split())
        except OSError:  # it ended
            continue
    return found
