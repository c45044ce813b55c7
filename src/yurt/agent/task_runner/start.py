"""Turn a task of an allocation into what its driver is asked to start."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from yurt.agent import task_events
from yurt.agent.alloc_dir import TaskDir
from yurt.agent.config_template.evaluate import evaluate_config
from yurt.agent.drivers import (
    Driver,
    FsIsolation,
    TaskDevice,
    TaskMount,
    TaskOwner,
    TaskPort,
    TaskResources,
    TaskSpec,
    config_error_text,
)
from yurt.agent.network.group_network import GroupNetwork
from yurt.agent.node_context import NodeContext
from yurt.agent.task_env import ISOLATED_PATHS, TaskEnv, TaskEnvParts, alloc_index, task_env
from yurt.errors import YurtError
from yurt.model.client_protocol import ClientAlloc
from yurt.model.node import Node
from yurt.model.simple.tasks import asks_no_memory
from yurt.model.task import Task
from yurt.model.task_state import TaskEvent

HOST_VOLUME = "host"
NO_MEMORY_LIMIT = -1


class CannotStart(YurtError):
    """The task could not be started; `event` says why."""

    def __init__(self, event: TaskEvent, *, recoverable: bool) -> None:
        super().__init__(event.type)
        self.event = event
        self.recoverable = recoverable


class FromHooks(msgspec.Struct, frozen=True):
    """What the steps before the start found: variables, and what `${secret.…}` stands for."""

    variables: Mapping[str, str]
    secrets: Mapping[str, str] = {}


def environment(
    alloc: ClientAlloc,
    task: Task,
    *,
    node: NodeContext,
    driver: Driver,
    directory: TaskDir,
    hooks: FromHooks,
    network: GroupNetwork | None = None,
) -> TaskEnv:
    """The task's environment: paths as its driver shows them, the agent's own only without an image."""
    isolation = driver.capabilities.fs_isolation
    parts = TaskEnvParts(
        paths=directory.paths if isolation is FsIsolation.NONE else ISOLATED_PATHS,
        host={} if isolation is FsIsolation.IMAGE else node.host_env,
        hooks=hooks.variables,
        secrets=hooks.secrets,
        network=network.status if network is not None else None,
    )
    return task_env(alloc, task, node=node.node, region=node.settings.region, parts=parts)


def task_spec(
    alloc: ClientAlloc,
    task: Task,
    *,
    driver: Driver,
    directory: TaskDir,
    env: TaskEnv,
    node: NodeContext,
    attempt: int,
) -> TaskSpec:
    """Resolve and check the task's config. Raises CannotStart for one that its driver cannot use."""
    config, problems = evaluate_config(task.config or {}, env)
    problems = problems or driver.validate_config(config)
    if problems:
        event = task_events.failed_validation(node.clock.now_ns(), error=config_error_text(problems))
        raise CannotStart(event, recoverable=False)
    given = alloc.resources.tasks.get(task.name)
    logs = task.log_config
    return TaskSpec(
        alloc_id=alloc.id,
        task=task.name,
        attempt=attempt,
        config=config,
        env=env.variables,
        task_dir=directory.path,
        shared_dir=directory.shared,
        user=task.user,
        log_dir="" if logs.disabled else directory.logs,
        log_files_max=logs.max_files,
        log_file_mb_max=logs.max_file_size_mb,
        resources=TaskResources(
            cpu_shares=given.cpu.cpu_shares,
            node_cpu_shares=node.node.node_resources.cpu.cpu_shares,
            memory_mb=given.memory.memory_mb,
            memory_max_mb=NO_MEMORY_LIMIT if asks_no_memory(task) else given.memory.memory_max_mb,
            cores=given.cpu.reserved_cores or (),
        )
        if given
        else TaskResources(),
        mounts=tuple(_mounts(alloc, task, node=node.node, env=env)),
        ports=tuple(_ports(alloc, task)),
        owner=TaskOwner(
            job_id=alloc.job.id,
            job_name=alloc.job.name,
            parent_job_id=alloc.job.parent_id,
            group=alloc.task_group,
            namespace=alloc.namespace,
            node_id=str(node.node.id),
            node_name=node.node.name,
        ),
    )


def in_network(spec: TaskSpec, network: GroupNetwork | None) -> TaskSpec:
    """The start in a network of the allocation's own; `spec` itself without one."""
    if network is None:
        return spec
    names: tuple[TaskMount, ...] = ()
    if network.resolv_conf:
        names = (TaskMount(source=network.resolv_conf, target="/etc/resolv.conf", readonly=True),)
    return msgspec.structs.replace(
        spec,
        network_namespace=network.namespace,
        network_address=network.status.address or network.status.address_ipv6,
        network_folder=network.folder,
        hostname=network.hostname if network.namespace else "",
        mounts=(*spec.mounts, *names),
    )


def with_devices(spec: TaskSpec, files: tuple[TaskDevice, ...]) -> TaskSpec:
    """The start with the device files of what the task was given."""
    return msgspec.structs.replace(spec, devices=files) if files else spec


def _ports(alloc: ClientAlloc, task: Task) -> Iterator[TaskPort]:
    """The group's ports, and those that the task asked for itself in the older way."""
    for port in alloc.resources.shared.ports or ():
        yield TaskPort(label=port.label, host_ip=port.host_ip, host_port=port.value, to=port.to)
    given = alloc.resources.tasks.get(task.name)
    for network in (given.networks if given else None) or ():
        for own in (*(network.reserved_ports or ()), *(network.dynamic_ports or ())):
            yield TaskPort(label=own.label, host_ip=network.ip, host_port=own.value, to=own.to)


def _mounts(alloc: ClientAlloc, task: Task, *, node: Node, env: TaskEnv) -> Iterator[TaskMount]:
    """The host volumes of the task's group, where the task wants them."""
    group = alloc.job.group(alloc.task_group)
    assert group is not None
    for mount in task.volume_mounts or ():
        request = (group.volumes or {}).get(mount.volume)
        if request is None or request.type != HOST_VOLUME:
            continue
        name = f"{request.source}[{alloc_index(alloc.name)}]" if request.per_alloc else request.source
        volume = (node.host_volumes or {}).get(name)
        if volume is not None:
            yield TaskMount(
                source=volume.path,
                target=env.interpolate(mount.destination),
                readonly=mount.read_only or request.read_only or volume.read_only,
            )
