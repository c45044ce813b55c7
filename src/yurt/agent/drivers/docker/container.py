"""The description of a task's container, as Docker is asked to make it."""

from __future__ import annotations

import fnmatch
import posixpath
from pathlib import Path
from typing import Any

import msgspec

from yurt.agent.drivers.docker import limits, mounts, ports
from yurt.agent.drivers.docker.config import DockerConfig, LoggingConfig
from yurt.agent.drivers.docker.options import DockerOptions
from yurt.agent.drivers.driver import DriverError, TaskSpec
from yurt.agent.drivers.linux_capabilities import host_capabilities, task_capabilities

LABEL_PREFIX = "com.hashicorp.nomad."
# Beside Nomad's own: containers of a Nomad on the same machine are not ours to clean up.
OWN_LABEL = "yurt.alloc_id"
_DEFAULT_LOGGING = LoggingConfig(type="json-file", config={"max-file": "2", "max-size": "2m"})
_SECCOMP = "seccomp="
_UNCONFINED = "unconfined"


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What is not in the task: its image, the network its group gave it, and what the machine can do."""

    image_id: str
    group_network: str = ""
    has_swappiness: bool = False


def container_name(spec: TaskSpec) -> str:
    """One for each task of an alloc, so that a start that is repeated finds the container."""
    return f"{spec.task}-{spec.alloc_id}".replace("/", "_")


def container_body(
    spec: TaskSpec, config: DockerConfig, options: DockerOptions, facts: Facts
) -> dict[str, Any]:
    """What to post to make the container. Blocks for reading small files; raises DriverError."""
    _check(config, options)
    wanted_ports = ports.published(spec, config)
    network_mode = config.network_mode or facts.group_network
    if facts.group_network and config.hostname:
        raise DriverError(
            "hostname cannot be set together with group networking; set it in the network block"
        )
    bindings = {} if facts.group_network else ports.port_bindings(wanted_ports)
    body: dict[str, Any] = {
        "Image": facts.image_id,
        "Env": [f"{name}={value}" for name, value in sorted(spec.env.items())],
        "User": spec.user,
        "Labels": _labels(spec, config, options),
        "Tty": config.tty,
        "OpenStdin": config.interactive,
        "Hostname": config.hostname,
        "WorkingDir": config.work_dir,
        "ExposedPorts": {port: {} for port in bindings},
        "HostConfig": {
            **_host_config(spec, config, options),
            **limits.memory(spec.resources, config, has_swappiness=facts.has_swappiness),
            "NetworkMode": network_mode,
            "PortBindings": bindings,
        },
        "NetworkingConfig": {"EndpointsConfig": ports.endpoints(config)},
    }
    command = [config.command, *config.args] if config.command else list(config.args)
    if command:
        body["Cmd"] = command
    if config.entrypoint:
        body["Entrypoint"] = config.entrypoint
    if config.healthchecks.disable:
        body["Healthcheck"] = {"Test": ["NONE"]}
    return body


def _host_config(spec: TaskSpec, config: DockerConfig, options: DockerOptions) -> dict[str, Any]:
    has_own_dns = mounts.has_mount_at(spec, "/etc/resolv.conf")
    host: dict[str, Any] = {
        "Binds": mounts.binds(spec, config, options.volumes),
        "Mounts": mounts.mounts(spec, config, options.volumes),
        "VolumeDriver": config.volume_driver,
        "Devices": list(mounts.devices(config)),
        **limits.cpu(spec.resources, config),
        **limits.pids(config, options),
        "Ulimits": limits.ulimits(config),
        "LogConfig": _logging(config, options),
        "Privileged": config.privileged,
        "SecurityOpt": [_inlined(option) for option in config.security_opt],
        "Sysctls": config.sysctl,
        "StorageOpt": config.storage_opt,
        "ReadonlyRootfs": config.readonly_rootfs,
        "PidMode": config.pid_mode,
        "IpcMode": config.ipc_mode,
        "UTSMode": config.uts_mode,
        "UsernsMode": config.userns_mode,
        "CgroupnsMode": config.cgroupns,
        "ShmSize": config.shm_size,
        "OomScoreAdj": config.oom_score_adj or options.oom_score_adj,
        # Its runtime brings a GPU's files and libraries into the container, by the variables of the task.
        "Runtime": config.runtime or (options.nvidia_runtime if spec.devices else ""),
        "GroupAdd": config.group_add,
        # A shared network has no hosts of its own in Docker; the agent writes the file instead.
        "ExtraHosts": () if mounts.has_own_hosts(spec, config) else config.extra_hosts,
        "Isolation": config.isolation,
        "Dns": () if has_own_dns else config.dns_servers,
        "DnsSearch": () if has_own_dns else config.dns_search_domains,
        "DnsOptions": () if has_own_dns else config.dns_options,
    }
    if config.init:
        host["Init"] = True
    if not config.privileged:
        allowed = task_capabilities(
            allowed=options.allow_caps,
            add=config.cap_add,
            drop=config.cap_drop,
            supported=host_capabilities(),
        )
        host |= {"CapDrop": ["ALL"], "CapAdd": sorted(name.upper() for name in allowed)}
    return host


def _check(config: DockerConfig, options: DockerOptions) -> None:
    """Refuse what the operator does not allow."""
    if config.runtime and config.runtime not in options.allow_runtimes:
        raise DriverError(f'requested runtime "{config.runtime}" is not allowed')
    if options.allow_privileged:
        return
    if config.privileged:
        raise DriverError("Docker privileged mode is disabled on this Nomad agent")
    for device in config.devices:
        path = posixpath.normpath(device.host_path)
        if not any(fnmatch.fnmatchcase(path, pattern) for pattern in options.allow_devices):
            raise DriverError(
                f'device "{device.host_path}" is not allowed on this agent: its operator must list it in '
                "allow_devices or set allow_privileged"
            )
    for name, mode, allowed in (
        ("pid_mode", config.pid_mode, options.allowed_modes.pid),
        ("ipc_mode", config.ipc_mode, options.allowed_modes.ipc),
        ("uts_mode", config.uts_mode, options.allowed_modes.uts),
        ("userns_mode", config.userns_mode, options.allowed_modes.userns),
    ):
        if mode and not any(fnmatch.fnmatchcase(mode, pattern) for pattern in allowed):
            raise DriverError(
                f'{name} "{mode}" is not allowed on this agent: its operator must list it in '
                "allowed_modes or set allow_privileged"
            )


def _labels(spec: TaskSpec, config: DockerConfig, options: DockerOptions) -> dict[str, str]:
    owner = spec.owner
    offered = {
        "job_name": owner.job_name,
        "job_id": owner.job_id,
        "parent_job_id": owner.parent_job_id,
        "task_group_name": owner.group,
        "task_name": spec.task,
        "namespace": owner.namespace,
        "node_name": owner.node_name,
        "node_id": owner.node_id,
    }
    wanted = {
        f"{LABEL_PREFIX}{name}": value
        for name, value in offered.items()
        if value and any(fnmatch.fnmatchcase(name, pattern) for pattern in options.extra_labels)
    }
    return {**config.labels, **wanted, f"{LABEL_PREFIX}alloc_id": spec.alloc_id, OWN_LABEL: spec.alloc_id}


def _logging(config: DockerConfig, options: DockerOptions) -> dict[str, Any]:
    chosen = _DEFAULT_LOGGING
    for logging in (config.logging, options.logging):
        if logging.type or logging.driver:
            chosen = logging
            break
    return {"Type": chosen.type or chosen.driver, "Config": chosen.config}


def _inlined(option: str) -> str:
    """A security option; a seccomp profile is given to Docker by content, as it is read by the client."""
    path = option.removeprefix(_SECCOMP)
    if path in (option, _UNCONFINED):
        return option
    try:
        return _SECCOMP + Path(path).read_text()
    except OSError as error:
        raise DriverError(f"opening seccomp profile ({path}) failed: {error}") from error
