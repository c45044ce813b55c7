"""Which of root's powers a task gets: Linux capabilities by the names job files use."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from yurt.agent.drivers.driver import DriverError

# In the kernel's order: the position is the capability's bit.
_NAMES = [
    "chown",
    "dac_override",
    "dac_read_search",
    "fowner",
    "fsetid",
    "kill",
    "setgid",
    "setuid",
    "setpcap",
    "linux_immutable",
    "net_bind_service",
    "net_broadcast",
    "net_admin",
    "net_raw",
    "ipc_lock",
    "ipc_owner",
    "sys_module",
    "sys_rawio",
    "sys_chroot",
    "sys_ptrace",
    "sys_pacct",
    "sys_admin",
    "sys_boot",
    "sys_nice",
    "sys_resource",
    "sys_time",
    "sys_tty_config",
    "mknod",
    "lease",
    "audit_write",
    "audit_control",
    "setfcap",
    "mac_override",
    "mac_admin",
    "syslog",
    "wake_alarm",
    "block_suspend",
    "audit_read",
    "perfmon",
    "bpf",
    "checkpoint_restore",
]

DEFAULTS = frozenset(
    [
        "audit_write",
        "chown",
        "dac_override",
        "fowner",
        "fsetid",
        "kill",
        "mknod",
        "net_bind_service",
        "setfcap",
        "setgid",
        "setpcap",
        "setuid",
        "sys_chroot",
    ]
)
"""What tasks have, and may ask for, unless the operator says otherwise."""

ALL = "all"


def host_capabilities(status: Path = Path("/proc/self/status")) -> frozenset[str]:
    """Every capability that this process could hand on."""
    for line in status.read_text().splitlines():
        if line.startswith("CapBnd:"):
            mask = int(line.split()[1], 16)
            return frozenset(name for bit, name in enumerate(_NAMES) if mask >> bit & 1)
    return frozenset()


def normal_names(names: Iterable[str]) -> frozenset[str]:
    """Names in any case, with or without `CAP_`, as they are written here."""
    return frozenset(name.strip().lower().removeprefix("cap_") for name in names)


def task_capabilities(
    *, allowed: Iterable[str], add: Iterable[str], drop: Iterable[str], supported: frozenset[str]
) -> frozenset[str]:
    """The defaults that are `allowed`, less `drop`, plus `add`.

    `all` may stand for every supported one. Raises DriverError for one in `add` that is not allowed, or
    is none at all.
    """
    may_have = _expanded(allowed, supported)
    wanted, unwanted = _expanded(add, supported), _expanded(drop, supported)
    refused = sorted(wanted - may_have)
    if refused:
        raise DriverError(f"driver does not allow the following capabilities: {', '.join(refused)}")
    return ((DEFAULTS & may_have & supported) - unwanted) | wanted


def _expanded(names: Iterable[str], supported: frozenset[str]) -> frozenset[str]:
    normal = normal_names(names)
    return (normal - {ALL}) | supported if ALL in normal else normal
