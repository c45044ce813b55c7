"""What a container sees of the host's files."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from yurt.agent.drivers.docker.config import DockerConfig, MountConfig
from yurt.agent.drivers.docker.options import VolumesOptions
from yurt.agent.drivers.driver import DriverError, TaskSpec
from yurt.agent.network.resolver_files import hosts

BIND, VOLUME, TMPFS = "bind", "volume", "tmpfs"
_READONLY = "ro"
_HOSTS_MODE = 0o644


def binds(spec: TaskSpec, config: DockerConfig, options: VolumesOptions) -> list[str]:
    """The task's own directories, then its `volumes`. Raises DriverError for what it may not mount."""
    own = [(spec.shared_dir, "/alloc", ""), (f"{spec.shared_dir}/logs", "/alloc/logs", _READONLY)]
    own += [(f"{spec.task_dir}/{name}", f"/{name}", "") for name in ("local", "secrets")]
    wanted = [_volume(text, spec, config, options) for text in config.volumes]
    return [_bind(*entry, label=options.selinuxlabel) for entry in (*own, *wanted)]


def _bind(source: str, target: str, mode: str, *, label: str) -> str:
    modes = ",".join(filter(None, (mode, label)))
    return f"{source}:{target}:{modes}" if modes else f"{source}:{target}"


def _volume(text: str, spec: TaskSpec, config: DockerConfig, options: VolumesOptions) -> tuple[str, str, str]:
    source, colon, rest = text.partition(":")
    if not colon or not source or not rest:
        raise DriverError(f'invalid docker volume: "{text}" is not of the form source:target[:mode]')
    target, _, mode = rest.partition(":")
    if config.volume_driver:
        if not options.enabled:
            raise DriverError(f'volumes are not enabled; cannot use volume driver "{config.volume_driver}"')
        return source, target, mode
    path = os.path.normpath(os.path.join(spec.task_dir, source))
    if not options.enabled:
        if not _is_own(path, spec):
            raise DriverError(f'volumes are not enabled; cannot mount host paths: "{text}"')
        # What was checked is what is mounted, even if a link on the way is changed meanwhile.
        path = os.path.realpath(path)
    return path, target, mode


def mounts(spec: TaskSpec, config: DockerConfig, options: VolumesOptions) -> list[dict[str, Any]]:
    """The mounts of the task's config, then those of its group's volumes. Raises DriverError."""
    wanted = [_mount(mount, spec, options) for mount in (*config.mount, *config.mounts)]
    given = [
        {"Type": BIND, "Source": mount.source, "Target": mount.target, "ReadOnly": mount.readonly}
        for mount in spec.mounts
    ]
    if has_own_hosts(spec, config):
        given.append({"Type": BIND, "Source": _write_hosts(spec, config), "Target": "/etc/hosts"})
    return [*wanted, *given]


def has_own_hosts(spec: TaskSpec, config: DockerConfig) -> bool:
    """Whether the agent writes the task's hosts file, as it does for tasks in their group's network."""
    return bool(spec.network_namespace and spec.network_folder and not config.network_mode)


def _write_hosts(spec: TaskSpec, config: DockerConfig) -> str:
    """Write the hosts file of a task in a shared network; returns its path. Blocks."""
    path = Path(spec.network_folder, f"{spec.task}.hosts")
    path.write_text(hosts(spec.network_address, spec.hostname, config.extra_hosts))
    path.chmod(_HOSTS_MODE)
    return str(path)


def _mount(mount: MountConfig, spec: TaskSpec, options: VolumesOptions) -> dict[str, Any]:
    described: dict[str, Any] = {"Type": mount.type, "Target": mount.target, "ReadOnly": mount.readonly}
    match mount.type:
        case "bind":
            path = os.path.normpath(os.path.join(spec.task_dir, mount.source))
            if not options.enabled:
                if not _is_own(path, spec):
                    raise DriverError(f'volumes are not enabled; cannot mount host path: "{path}"')
                path = os.path.realpath(path)
            described["Source"] = path
            if mount.bind_options.propagation:
                described["BindOptions"] = {"Propagation": mount.bind_options.propagation}
        case "volume":
            if not options.enabled:
                raise DriverError(f'volumes are not enabled; cannot mount volume: "{mount.source}"')
            volume = mount.volume_options
            described["Source"] = mount.source
            described["VolumeOptions"] = {
                "NoCopy": volume.no_copy,
                "Labels": volume.labels,
                "DriverConfig": {
                    "Name": volume.driver_config.name,
                    "Options": volume.driver_config.options,
                },
            }
        case "tmpfs":
            if mount.source:
                raise DriverError(f'invalid source, must be "" for tmpfs: "{mount.source}"')
            described["TmpfsOptions"] = {
                "SizeBytes": mount.tmpfs_options.size,
                "Mode": mount.tmpfs_options.mode,
            }
        case _:
            raise DriverError(
                f'invalid mount type: "{mount.type}"; it may be "{BIND}", "{VOLUME}" or "{TMPFS}"'
            )
    return described


def has_mount_at(spec: TaskSpec, target: str) -> bool:
    """Whether the agent itself puts something at `target`."""
    return any(mount.target == target for mount in spec.mounts)


def devices(config: DockerConfig) -> Iterable[dict[str, str]]:
    """The host's devices. Raises DriverError for permissions that are none."""
    for device in config.devices:
        if not device.cgroup_permissions or set(device.cgroup_permissions) - set("rwm"):
            raise DriverError(
                f'invalid cgroup permission string: "{device.cgroup_permissions}"; it may hold r, w and m'
            )
        yield {
            "PathOnHost": device.host_path,
            "PathInContainer": device.container_path or device.host_path,
            "CgroupPermissions": device.cgroup_permissions,
        }


def _is_own(path: str, spec: TaskSpec) -> bool:
    """Whether a path stays in the alloc's directory, wherever links in it lead."""
    alloc_dir = os.path.realpath(os.path.dirname(spec.task_dir))
    return os.path.commonpath([alloc_dir, os.path.realpath(path)]) == alloc_dir
