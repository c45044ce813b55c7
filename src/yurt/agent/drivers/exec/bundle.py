"""A container's description as OCI runtimes read it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from yurt.agent.drivers.driver import TaskMount
from yurt.agent.drivers.exec.root import Bind
from yurt.agent.launcher import Identity

OCI_VERSION = "1.0.2"
SHM_BYTES = 64 << 20
_NO_FILES = ["nosuid", "noexec", "nodev"]
_KERNEL_MOUNTS: list[dict[str, Any]] = [
    {"destination": "/proc", "type": "proc", "source": "proc", "options": _NO_FILES},
    {
        "destination": "/dev",
        "type": "tmpfs",
        "source": "tmpfs",
        "options": ["nosuid", "strictatime", "mode=755", "size=65536k"],
    },
    {
        "destination": "/dev/pts",
        "type": "devpts",
        "source": "devpts",
        "options": ["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620", "gid=5"],
    },
    {
        "destination": "/dev/shm",  # noqa: S108 - inside the task's root
        "type": "tmpfs",
        "source": "shm",
        "options": [*_NO_FILES, "mode=1777", f"size={SHM_BYTES}"],
    },
    {"destination": "/dev/mqueue", "type": "mqueue", "source": "mqueue", "options": _NO_FILES},
    {"destination": "/sys", "type": "sysfs", "source": "sysfs", "options": [*_NO_FILES, "ro"]},
]
_MASKED = ["/proc/kcore", "/sys/firmware"]
_READONLY = ["/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus"]


class Container(msgspec.Struct, frozen=True, kw_only=True):
    """One command in a root of its own. `cgroups_path` empty leaves it in the runtime's own groups."""

    root: str
    args: tuple[str, ...]
    env: Mapping[str, str]
    work_dir: str
    identity: Identity
    capabilities: frozenset[str]
    binds: tuple[Bind, ...]
    mounts: tuple[TaskMount, ...] = ()
    own_pids: bool = True
    own_ipc: bool = True
    network_namespace: str = ""
    hostname: str = ""
    cgroups_path: str = ""
    cpus: str = ""
    binds_recursively_readonly: bool = True


def oci_config(container: Container) -> bytes:
    """The `config.json` of a bundle."""
    name = {"hostname": container.hostname} if container.hostname else {}
    return msgspec.json.encode(
        {
            **name,
            "ociVersion": OCI_VERSION,
            "root": {"path": container.root, "readonly": False},
            "process": _process(container),
            "mounts": [*_KERNEL_MOUNTS, *_host_mounts(container)],
            "linux": _linux(container),
        }
    )


def _process(container: Container) -> dict[str, Any]:
    names = sorted(f"CAP_{name.upper()}" for name in container.capabilities)
    identity = container.identity
    return {
        "terminal": False,
        "args": container.args,
        "env": [f"{name}={value}" for name, value in container.env.items()],
        "cwd": container.work_dir,
        "user": {"uid": identity.uid, "gid": identity.gid, "additionalGids": identity.groups},
        "capabilities": {
            kind: names for kind in ("bounding", "effective", "permitted", "inheritable", "ambient")
        },
        "noNewPrivileges": False,
    }


def _host_mounts(container: Container) -> Iterable[dict[str, Any]]:
    readonly = "rro" if container.binds_recursively_readonly else "ro"
    for bind in container.binds:
        options = ["rbind", readonly if bind.readonly else "rw"]
        yield {"destination": bind.target, "type": "bind", "source": bind.source, "options": options}
    for mount in container.mounts:
        options = ["rbind", "ro" if mount.readonly else "rw"]
        yield {"destination": mount.target, "type": "bind", "source": mount.source, "options": options}


def _linux(container: Container) -> dict[str, Any]:
    namespaces = [{"type": "mount"}]
    if container.own_pids:
        namespaces.append({"type": "pid"})
    if container.own_ipc:
        namespaces.append({"type": "ipc"})
    if container.network_namespace:
        namespaces.append({"type": "network", "path": container.network_namespace})
    if container.hostname:
        namespaces.append({"type": "uts"})
    linux: dict[str, Any] = {"namespaces": namespaces, "maskedPaths": _MASKED, "readonlyPaths": _READONLY}
    if container.cgroups_path:
        # The limits are in the groups already; runtimes add the devices of every container to the rule.
        resources: dict[str, Any] = {"devices": [{"allow": False, "access": "rwm"}]}
        if container.cpus:
            resources["cpu"] = {"cpus": container.cpus}
        linux |= {"cgroupsPath": container.cgroups_path, "resources": resources}
    return linux
