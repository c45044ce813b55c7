"""Main memory."""

from __future__ import annotations

import re

from yurt.agent.fingerprint.facts import Facts, Probe
from yurt.model.node import NodeMemory

_MEM_TOTAL = re.compile(r"^MemTotal:\s+(\d+) kB", re.MULTILINE)


def fingerprint_memory(probe: Probe) -> Facts:
    """Count the memory the kernel manages, or take the configured amount."""
    match = _MEM_TOTAL.search(probe.text("/proc/meminfo"))
    total_bytes = int(match[1]) << 10 if match else 0
    if probe.settings.memory_total_mb:
        total_bytes = probe.settings.memory_total_mb << 20
    return Facts(
        attributes={"memory.totalbytes": str(total_bytes)},
        memory=NodeMemory(memory_mb=total_bytes >> 20),
    )
