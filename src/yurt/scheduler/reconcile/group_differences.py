"""Differences between two versions of a group that only a new allocation can take over."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from yurt.model.group import TaskGroup
from yurt.model.job import Job
from yurt.model.resources import NetworkResource, Port, Resources
from yurt.model.service import Service
from yurt.model.task import Task
from yurt.model.task_parts import Consul


def needs_new_alloc(old_job: Job, new_job: Job, group_name: str) -> bool:
    """Whether an allocation of `old_job` must be replaced to run the group as `new_job` has it."""
    old, new = old_job.group(group_name), new_job.group(group_name)
    if old is None or new is None:
        return True
    if _group_differs(old, new):
        return True
    return any(
        (task := new.task(before.name)) is None or _task_differs(before, task, (old_job, old), (new_job, new))
        for before in old.tasks
    )


def _group_differs(old: TaskGroup, new: TaskGroup) -> bool:
    return (
        len(old.tasks) != len(new.tasks)
        or old.ephemeral_disk != new.ephemeral_disk
        or _networks(old.networks) != _networks(new.networks)
        or _consul_differs(old.consul, new.consul)
        or _connect_differs(old.services, new.services)
        or (old.volumes or {}) != (new.volumes or {})
        or old.restart_policy.render_templates != new.restart_policy.render_templates
    )


def _task_differs(old: Task, new: Task, before: tuple[Job, TaskGroup], after: tuple[Job, TaskGroup]) -> bool:
    return (
        _as_run(old) != _as_run(new)
        or _consul_differs(old.consul, new.consul)
        or _networks(old.resources.networks) != _networks(new.resources.networks)
        or _amounts(old.resources) != _amounts(new.resources)
        or _merged_meta(*before, old) != _merged_meta(*after, new)
    )


def _as_run(task: Task) -> tuple[Any, ...]:
    """What a running task cannot change."""
    return (
        task.driver,
        task.user,
        task.config or {},
        task.env or {},
        task.artifacts or (),
        task.vault,
        task.secrets or (),
        task.templates or (),
        task.csi_plugin_config,
        task.volume_mounts or (),
        task.identity,
        task.identities or (),
        task.log_config.disabled,
        task.restart_policy.render_templates,
    )


def _amounts(resources: Resources) -> tuple[Any, ...]:
    return (
        resources.cpu,
        resources.cores,
        resources.memory_mb,
        resources.memory_max_mb,
        resources.secrets_mb,
        resources.devices or (),
        resources.numa,
    )


def _merged_meta(job: Job, group: TaskGroup, task: Task) -> dict[str, str]:
    return {**(job.meta or {}), **(group.meta or {}), **(task.meta or {})}


def _networks(networks: Iterable[NetworkResource] | None) -> list[tuple[Any, ...]]:
    return [
        (
            network.mode,
            network.mbits,
            network.hostname,
            network.dns,
            (network.cni.args or {}) if network.cni is not None else {},
            [(port.label, port.value, port.to, port.host_network) for port in network.reserved_ports or ()],
            [_dynamic(port) for port in network.dynamic_ports or ()],
        )
        for network in networks or ()
    ]


def _dynamic(port: Port) -> tuple[str, int, str]:
    return port.label, port.to, port.host_network


def _consul_differs(old: Consul | None, new: Consul | None) -> bool:
    if (old.namespace if old is not None else "") != (new.namespace if new is not None else ""):
        return True
    # A block that comes or goes with the defaults changes nothing for the tasks.
    return (
        old is not None and new is not None and (old.cluster, old.partition) != (new.cluster, new.partition)
    )


def _connect_differs(old: Iterable[Service] | None, new: Iterable[Service] | None) -> bool:
    before, after = _by_name(old), _by_name(new)
    return any(
        _mesh(before.get(name)) != _mesh(after.get(name))
        for name in {**before, **after}
        if any(s is not None and s.connect is not None for s in (before.get(name), after.get(name)))
    )


def _by_name(services: Iterable[Service] | None) -> Mapping[str, Service]:
    return {service.name: service for service in services or ()}


def _mesh(service: Service | None) -> tuple[Any, ...] | None:
    """What the proxy of a service is started with."""
    if service is None or service.connect is None:
        return None
    connect = service.connect
    sidecar = connect.sidecar_service
    return (
        service.port_label,
        service.cluster,
        connect.native,
        connect.gateway,
        connect.sidecar_task,
        sidecar.port if sidecar is not None else None,
    )
