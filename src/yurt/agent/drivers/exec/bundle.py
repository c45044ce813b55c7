"""A container's description as OCI runtimes read it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from yurt.agent.drivers.driver import TaskDevice, TaskMount
from yurt.agent.drivers.exec.root import Bind
from yurt.agent.launcher import Identity

OCI_VERSION = "1.0.2"
SHM_BYTES = 64 << 20
# Who may use a device is decided by who has its file at all.
_DEVICE_MODE = 0o666
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


class DeviceFile(msgspec.Struct, frozen=True, kw_only=True):
    """A character device in the container, and what may be done with it."""

    path: str
    major: int
    minor: int
    access: str

    @property
    def rule(self) -> str:
        """As control groups of version 1 have it."""
        return f"c {self.major}:{self.minor} {self.access}"


def device_file(device: TaskDevice) -> DeviceFile:
    """Look a device of the host up. Raises OSError."""
    found = os.stat(device.path)
    return DeviceFile(
        path=device.path,
        major=os.major(found.st_rdev),
        minor=os.minor(found.st_rdev),
        access=device.permissions,
    )


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
    devices: tuple[DeviceFile, ...] = ()
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
    if container.devices:
        linux["devices"] = [
            {
                "path": device.path,
                "type": "c",
                "major": device.major,
                "minor": device.minor,
                "fileMode": _DEVICE_MODE,
            }
            for device in container.devices
        ]
    if container.cgroups_path:
        # The limits are in the groups already; runtimes add the devices of every container to the rule.
        rules: list[dict[str, Any]] = [{"allow": False, "access": "rwm"}]
        rules += [
            {"allow": True, "type": "c", "major": one.major, "minor": one.minor, "access": one.access}
            for one in container.devices
        ]
        resources: dict[str, Any] = {"devices": rules}
        if container.cpus:
            resources["cpu"] = {"cpus": container.cpus}
        linux |= {"cgroupsPath": container.cgroups_path, "resources": resources}
    return linux
