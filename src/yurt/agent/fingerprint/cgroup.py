"""Which cgroup hierarchy the machine uses."""

from __future__ import annotations

from yurt.agent.fingerprint.facts import Facts, Probe


def fingerprint_cgroup(probe: Probe) -> Facts:
    """Say `2` for the unified hierarchy, `1` for controllers of their own; nothing when off."""
    version = cgroup_version(probe)
    return Facts(attributes={"os.cgroups.version": version} if version else {})


def cgroup_version(probe: Probe) -> str:
    """Find the version by its files; a mixed set-up counts as 1, since the controllers live there."""
    if probe.path("/sys/fs/cgroup/cgroup.controllers").exists():
        return "2"
    if probe.path("/sys/fs/cgroup/memory").exists() or probe.path("/sys/fs/cgroup/cpu").exists():
        return "1"
    return ""
