"""What a container uses, as the Docker Engine measures it."""

from __future__ import annotations

import msgspec

from yurt.agent.drivers.docker.answers import ContainerStats
from yurt.agent.drivers.group_usage import CPU_OF_GROUP
from yurt.agent.drivers.usage import CpuRates, CpuTimes
from yurt.model.resource_usage import MemoryStats, ResourceUsage, TaskResourceUsage
from yurt.model.wire import Nanoseconds

MEASURED_V1 = ("RSS", "Cache", "Swap", "Usage", "Max Usage")
MEASURED_V2 = ("RSS", "Cache", "Swap", "Usage")


def container_usage(
    told: ContainerStats, rates: CpuRates, *, now: Nanoseconds, since: Nanoseconds
) -> TaskResourceUsage:
    """What the Engine told, with compute since the last look; at first since the time `since`."""
    memory, facts = told.memory_stats, told.memory_stats.stats
    is_v1 = "rss" in facts
    cpu = told.cpu_stats
    times = CpuTimes(cpu.cpu_usage.usage_in_usermode, cpu.cpu_usage.usage_in_kernelmode)
    rate = rates.rate("", times, now=now, since=since)
    usage = ResourceUsage(
        memory_stats=MemoryStats(
            rss=facts.get("rss", 0) if is_v1 else facts.get("anon", 0),
            cache=facts.get("cache", 0) if is_v1 else facts.get("file", 0),
            swap=facts.get("swap", 0),
            mapped_file=facts.get("mapped_file", 0) if is_v1 else facts.get("file_mapped", 0),
            usage=memory.usage,
            max_usage=memory.max_usage,
            measured=MEASURED_V1 if is_v1 else MEASURED_V2,
        ),
        cpu_stats=msgspec.structs.replace(
            rate,
            throttled_periods=cpu.throttling_data.throttled_periods,
            throttled_time=cpu.throttling_data.throttled_time,
            measured=CPU_OF_GROUP,
        ),
    )
    return TaskResourceUsage(resource_usage=usage, timestamp=now)
