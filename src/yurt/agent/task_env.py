"""The environment of a task, and the values its settings may refer to."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Mapping

import msgspec

from yurt.agent.id_sets import format_ids
from yurt.model.alloc import NetworkStatus
from yurt.model.allocated import AllocatedPort
from yurt.model.client_protocol import ClientAlloc
from yurt.model.group import TaskGroup
from yurt.model.job import Job
from yurt.model.node import Node
from yurt.model.resources import NetworkResource
from yurt.model.task import Task

SHORT_ID_CHARS = 8

_REFERENCE = re.compile(r"\$\{([A-Za-z0-9_.-]+)\}")
# Names whose last part comes from a job file; shells cannot read them unless they are cleaned.
_CLEANED = re.compile(r"^NOMAD_(?:ADDR|IP|PORT|HOST_PORT|META)_")
_UNCLEAN = re.compile(r"[^A-Za-z0-9_.]")
_NOMAD, _YURT = "NOMAD_", "YURT_"


class TaskPaths(msgspec.Struct, frozen=True, kw_only=True):
    """A task's directories as it sees them: host paths, or paths inside its own root."""

    alloc_dir: str
    task_dir: str
    secrets_dir: str


# What tasks with a root of their own see.
ISOLATED_PATHS = TaskPaths(alloc_dir="/alloc", task_dir="/local", secrets_dir="/secrets")


class TaskEnv(msgspec.Struct, frozen=True):
    """The `variables` a task is started with, and what else its settings may refer to.

    `node_values` are `node.…`, `attr.…` and `meta.…`, flat.
    """

    variables: dict[str, str]
    node_values: dict[str, str]

    def interpolate(self, text: str) -> str:
        """Replace every `${name}` that has a value; others stay as they are. One pass, no nesting."""
        return _interpolate(text, self.variables, self.node_values)


class TaskEnvParts(msgspec.Struct, frozen=True, kw_only=True):
    """What goes into a task's environment besides its allocation.

    `host` is the agent's own environment, empty for tasks in images. `hooks` are variables that steps
    before the start add; `templates` those of `template { env = true }`; `secrets` what `${secret.…}`
    stands for. `network` is that of the allocation's own.
    """

    paths: TaskPaths
    host: Mapping[str, str] = {}
    hooks: Mapping[str, str] = {}
    templates: Mapping[str, str] = {}
    secrets: Mapping[str, str] = {}
    network: NetworkStatus | None = None


def task_env(alloc: ClientAlloc, task: Task, *, node: Node, region: str, parts: TaskEnvParts) -> TaskEnv:
    """Put together the environment of one task of `alloc`, whose job must have the alloc's group.

    Later layers win; the agent's own variables only fill gaps. A value in the task's `env` sees those
    keys of the same block that sort before its own.
    """
    group = alloc.job.group(alloc.task_group)
    assert group is not None, f"alloc {alloc.id} names group {alloc.task_group!r}, which its job lacks"
    known = {**node_values(node, region=region), **parts.secrets}

    variables = dict(_base(alloc, task, node=node, region=region, paths=parts.paths))
    variables.update(_ports(alloc, task, parts.network))
    variables.update(_upstreams(group))
    for key, text in _meta(alloc.job, group, task).items():
        value = _interpolate(text, variables, known)
        variables[f"NOMAD_META_{key.upper()}"] = value
        variables[f"NOMAD_META_{key}"] = value
    for name, value in parts.host.items():
        variables.setdefault(name, value)
    for name, text in sorted((task.env or {}).items()):
        variables[name] = _interpolate(text, variables, known)
    variables.update(parts.hooks)
    variables.update(parts.templates)
    return _complete(variables, known)


def _complete(variables: dict[str, str], known: dict[str, str]) -> TaskEnv:
    """The environment with names that shells can read, and under both prefixes."""
    cleaned: dict[str, str] = {}
    twins: dict[str, str] = {}
    for written, value in variables.items():
        name = written
        if written.startswith(_NOMAD):
            name = _UNCLEAN.sub("_", written) if _CLEANED.match(written) else written
            twins[_YURT + name.removeprefix(_NOMAD)] = value
        cleaned[name] = value
    return TaskEnv(twins | cleaned, known)


def group_env(alloc: ClientAlloc, *, node: Node, region: str, status: NetworkStatus | None = None) -> TaskEnv:
    """What the settings of a group, which is no task, may refer to; its job must have the group."""
    group = alloc.job.group(alloc.task_group)
    assert group is not None, f"alloc {alloc.id} names group {alloc.task_group!r}, which its job lacks"
    known = node_values(node, region=region)
    variables = dict(_identity(alloc, node=node, region=region))
    for port in alloc.resources.shared.ports or ():
        variables.update(_group_port(port, status))
    for key, text in _meta(alloc.job, group).items():
        value = _interpolate(text, variables, known)
        variables |= {f"NOMAD_META_{key.upper()}": value, f"NOMAD_META_{key}": value}
    return _complete(variables, known)


def node_values(node: Node, *, region: str) -> dict[str, str]:
    """The values of a node that job files may refer to, by their dotted names."""
    values = {
        "node.unique.id": str(node.id),
        "node.unique.name": node.name,
        "node.datacenter": node.datacenter,
        "node.region": region,
        "node.class": node.node_class,
        "node.pool": node.node_pool,
    }
    values.update((f"attr.{name}", value) for name, value in node.attributes.items())
    values.update((f"meta.{name}", value) for name, value in (node.meta or {}).items())
    return values


def alloc_index(name: str) -> str:
    """The `3` of `job.group[3]`."""
    return name.rpartition("[")[2].removesuffix("]")


def _interpolate(text: str, variables: Mapping[str, str], known: Mapping[str, str]) -> str:
    if "${" not in text:
        return text

    def value(match: re.Match[str]) -> str:
        name = match[1]
        # YURT_ twins are added at the very end, but a job file may refer to them before.
        nomad_name = _NOMAD + name.removeprefix(_YURT) if name.startswith(_YURT) else name
        for source in (variables, known):
            for candidate in (name, nomad_name):
                if candidate in source:
                    return source[candidate]
        return match[0]

    return _REFERENCE.sub(value, text)


def _base(
    alloc: ClientAlloc, task: Task, *, node: Node, region: str, paths: TaskPaths
) -> Iterator[tuple[str, str]]:
    yield "NOMAD_ALLOC_DIR", paths.alloc_dir
    yield "NOMAD_TASK_DIR", paths.task_dir
    yield "NOMAD_SECRETS_DIR", paths.secrets_dir
    given = alloc.resources.tasks.get(task.name)
    if given is not None:
        yield "NOMAD_MEMORY_LIMIT", str(given.memory.memory_mb)
        if given.memory.memory_max_mb:
            yield "NOMAD_MEMORY_MAX_LIMIT", str(given.memory.memory_max_mb)
        yield "NOMAD_CPU_LIMIT", str(given.cpu.cpu_shares)
        yield "NOMAD_CPU_CORES", format_ids(given.cpu.reserved_cores or ()) or " "
    yield "NOMAD_TASK_NAME", task.name
    yield from _identity(alloc, node=node, region=region)


def _identity(alloc: ClientAlloc, *, node: Node, region: str) -> Iterator[tuple[str, str]]:
    job = alloc.job
    yield "NOMAD_ALLOC_ID", alloc.id
    yield "NOMAD_SHORT_ALLOC_ID", alloc.id[:SHORT_ID_CHARS]
    yield "NOMAD_ALLOC_NAME", alloc.name
    yield "NOMAD_ALLOC_INDEX", alloc_index(alloc.name)
    yield "NOMAD_GROUP_NAME", alloc.task_group
    yield "NOMAD_JOB_ID", job.id
    yield "NOMAD_JOB_NAME", job.name
    if job.parent_id:
        yield "NOMAD_JOB_PARENT_ID", job.parent_id
    yield "NOMAD_DC", node.datacenter
    yield "NOMAD_REGION", region
    yield "NOMAD_NAMESPACE", alloc.namespace
    if node.cgroup_parent:
        yield "NOMAD_PARENT_CGROUP", node.cgroup_parent


def _ports(alloc: ClientAlloc, task: Task, status: NetworkStatus | None) -> Iterator[tuple[str, str]]:
    for port in alloc.resources.shared.ports or ():
        yield from _group_port(port, status)
    for name, given in alloc.resources.tasks.items():
        for network in given.networks or ():
            yield from _task_network(network, label_prefix="" if name == task.name else f"{name}_")


def _group_port(port: AllocatedPort, status: NetworkStatus | None) -> Iterator[tuple[str, str]]:
    label, inside = port.label, str(port.to if port.to > 0 else port.value)
    address = _host_port(port.host_ip, port.value)
    yield f"NOMAD_PORT_{label}", inside
    yield f"NOMAD_ALLOC_PORT_{label}", inside
    yield f"NOMAD_HOST_PORT_{label}", str(port.value)
    yield f"NOMAD_IP_{label}", port.host_ip
    yield f"NOMAD_HOST_IP_{label}", port.host_ip
    yield f"NOMAD_ADDR_{label}", address
    yield f"NOMAD_HOST_ADDR_{label}", address
    own = (status.address or status.address_ipv6) if status is not None else ""
    if status is not None and own:
        yield f"NOMAD_ALLOC_INTERFACE_{label}", status.interface_name
        yield f"NOMAD_ALLOC_IP_{label}", own
        yield f"NOMAD_ALLOC_ADDR_{label}", _host_port(own, int(inside))


def _task_network(network: NetworkResource, *, label_prefix: str) -> Iterator[tuple[str, str]]:
    """Ports that a task asked for itself, in the older way; siblings see them under the task's name."""
    for port in (*(network.reserved_ports or ()), *(network.dynamic_ports or ())):
        label = f"{label_prefix}{port.label}"
        yield f"NOMAD_ADDR_{label}", _host_port(network.ip, port.value)
        yield f"NOMAD_IP_{label}", network.ip
        yield f"NOMAD_PORT_{label}", str(port.value)
        if not label_prefix:
            family = "IPv6" if ":" in network.ip else "IPv4"
            yield f"NOMAD_{family}_{label}", network.ip
            yield f"NOMAD_HOST_PORT_{label}", str(port.value)


def _upstreams(group: TaskGroup) -> Iterator[tuple[str, str]]:
    for service in group.services or ():
        sidecar = service.connect.sidecar_service if service.connect else None
        proxy = sidecar.proxy if sidecar else None
        for upstream in (proxy.upstreams or ()) if proxy else ():
            port = str(upstream.local_bind_port)
            written = upstream.destination_name
            for name in (written, _UNCLEAN.sub("_", written)):
                yield f"NOMAD_UPSTREAM_ADDR_{name}", f"127.0.0.1:{port}"
                yield f"NOMAD_UPSTREAM_IP_{name}", "127.0.0.1"
                yield f"NOMAD_UPSTREAM_PORT_{name}", port


def _meta(job: Job, group: TaskGroup, task: Task | None = None) -> dict[str, str]:
    """Merge the meta of job, group, task; later ones win. Optional dispatch keys are there in any case."""
    optional = job.parameterized_job.meta_optional if job.dispatched and job.parameterized_job else None
    own = (task.meta or {}) if task else {}
    return dict.fromkeys(optional or (), "") | (job.meta or {}) | (group.meta or {}) | own


def _host_port(ip: str, port: int) -> str:
    try:
        is_v6 = ipaddress.ip_address(ip).version == 6
    except ValueError:
        is_v6 = False
    return f"[{ip}]:{port}" if is_v6 else f"{ip}:{port}"


def host_environment(environment: Mapping[str, str], denied: frozenset[str]) -> dict[str, str]:
    """The agent's own variables that tasks without an image of their own inherit."""
    return {name: value for name, value in environment.items() if name not in denied}
