"""The file system that holds the allocations."""

from __future__ import annotations

import os
from pathlib import PurePosixPath

from yurt.agent.fingerprint.facts import Facts, Probe
from yurt.model.node import NodeDisk


def fingerprint_storage(probe: Probe) -> Facts:
    """Size the file system of the allocation directory, or take the configured amount."""
    alloc_dir = probe.settings.alloc_dir
    usage = os.statvfs(_existing(alloc_dir))
    total_bytes = usage.f_blocks * usage.f_frsize
    disk_mb = probe.settings.disk_total_mb or total_bytes >> 20
    attributes = {"unique.storage.bytestotal": str(total_bytes)}
    if volume := _device_of(probe, alloc_dir):
        attributes["unique.storage.volume"] = volume
    return Facts(attributes=attributes, disk=NodeDisk(disk_mb=disk_mb))


def _existing(path: str) -> str:
    """The nearest directory on the way to `path` that exists."""
    while not os.path.exists(path) and path != os.path.dirname(path):
        path = os.path.dirname(path)
    return path or "."


def _device_of(probe: Probe, path: str) -> str:
    """The device mounted nearest above `path`."""
    best, device = "", ""
    for line in probe.text("/proc/self/mountinfo").splitlines():
        mount, dash, source = line.partition(" - ")
        fields, source_fields = mount.split(), source.split()
        if not dash or len(fields) < 5 or len(source_fields) < 2:
            continue
        mount_point = fields[4]
        # Of two mounts on one point the later hides the earlier.
        if PurePosixPath(path).is_relative_to(mount_point) and len(mount_point) >= len(best):
            best, device = mount_point, source_fields[1]
    return device
