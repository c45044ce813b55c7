"""All sources of facts about the machine, and the Node made of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from yurt.agent.fingerprint.arch import fingerprint_arch
from yurt.agent.fingerprint.bridge import fingerprint_bridge
from yurt.agent.fingerprint.cgroup import fingerprint_cgroup
from yurt.agent.fingerprint.cni import fingerprint_cni
from yurt.agent.fingerprint.cpu import fingerprint_cpu
from yurt.agent.fingerprint.facts import Facts, Probe, merge
from yurt.agent.fingerprint.host import fingerprint_host
from yurt.agent.fingerprint.host_volumes import fingerprint_host_volumes
from yurt.agent.fingerprint.landlock import fingerprint_landlock
from yurt.agent.fingerprint.memory import fingerprint_memory
from yurt.agent.fingerprint.network import fingerprint_network
from yurt.agent.fingerprint.nomad import fingerprint_nomad
from yurt.agent.fingerprint.plugins import (
    fingerprint_cni_plugins,
    fingerprint_host_volume_plugins,
    fingerprint_secrets_plugins,
)
from yurt.agent.fingerprint.signals import fingerprint_signals
from yurt.agent.fingerprint.storage import fingerprint_storage
from yurt.agent.id_sets import parse_ids
from yurt.agent.settings import ClientSettings, Reserved
from yurt.model.node import (
    NODE_ELIGIBLE,
    NODE_INELIGIBLE,
    DriverInfo,
    Node,
    NodeCpu,
    NodeDisk,
    NodeMemory,
    NodeProcessors,
    NodeReservedResources,
    NodeResources,
    ReservedCpu,
    ReservedNetworks,
)
from yurt.model.wire import NodeID

Fingerprinter = Callable[[Probe], Facts]

# In the order of their names, which is the order in which their facts are merged.
FINGERPRINTERS: dict[str, Fingerprinter] = {
    "arch": fingerprint_arch,
    "bridge": fingerprint_bridge,
    "cgroup": fingerprint_cgroup,
    "cni": fingerprint_cni,
    "cpu": fingerprint_cpu,
    "host": fingerprint_host,
    "host_volume_plugins": fingerprint_host_volume_plugins,
    "host_volumes": fingerprint_host_volumes,
    "landlock": fingerprint_landlock,
    "memory": fingerprint_memory,
    "network": fingerprint_network,
    "nomad": fingerprint_nomad,
    "plugins_cni": fingerprint_cni_plugins,
    "secrets_plugins": fingerprint_secrets_plugins,
    "signal": fingerprint_signals,
    "storage": fingerprint_storage,
}

# What tasks are told, with cgroups of either version.
DEFAULT_CGROUP_PARENT = "nomad.slice"

# Job files that use Connect read these from the node.
DEFAULT_META = {
    "connect.sidecar_image": "docker.io/envoyproxy/envoy:v${NOMAD_envoy_version}",
    "connect.gateway_image": "docker.io/envoyproxy/envoy:v${NOMAD_envoy_version}",
    "connect.log_level": "info",
    "connect.proxy_concurrency": "1",
    "connect.transparent_proxy.default_uid": "101",
    "connect.transparent_proxy.default_outbound_port": "15001",
}


def fingerprint(probe: Probe, *, node_id: NodeID, secret_id: str, drivers: Mapping[str, DriverInfo]) -> Node:
    """Describe this machine as a Node, not yet registered.

    Blocks for a few milliseconds, longer where plugin executables have to be asked; raises a YurtError
    when the settings name something that the machine does not have.
    """
    settings = probe.settings
    facts = merge(source(probe) for source in _selected(settings.options))
    return Node(
        id=node_id,
        secret_id=secret_id,
        datacenter=settings.datacenter,
        name=settings.node_name or os.uname().nodename,
        cgroup_parent=settings.cgroup_parent or DEFAULT_CGROUP_PARENT,
        http_addr=settings.http_address,
        tls_enabled=settings.tls_enabled,
        attributes=facts.attributes | driver_attributes(drivers),
        node_resources=_resources(facts, settings),
        reserved_resources=_reserved(settings.reserved),
        meta=DEFAULT_META | settings.meta,
        node_class=settings.node_class,
        node_pool=settings.node_pool,
        scheduling_eligibility=NODE_INELIGIBLE if settings.default_ineligible else NODE_ELIGIBLE,
        drivers=dict(drivers),
        csi_controller_plugins={},
        csi_node_plugins={},
        host_volumes=facts.host_volumes,
        gc_volumes_on_node_gc=settings.gc_volumes_on_node_gc,
        host_networks=settings.host_networks or None,
        node_max_allocs=settings.node_max_allocs,
        countables=settings.countables or None,
    )


def driver_attributes(drivers: Mapping[str, DriverInfo]) -> dict[str, str]:
    """The node attributes that drivers add: `driver.<name>` is 1 while the driver is detected."""
    attributes: dict[str, str] = {}
    for name, info in drivers.items():
        if info.detected:
            attributes |= info.attributes or {}
            attributes[f"driver.{name}"] = "1"
    return attributes


def listed(options: Mapping[str, str], name: str) -> frozenset[str]:
    """Read a comma list from the client options; older spellings of the name work, too."""
    older = name.replace("allowlist", "whitelist").replace("denylist", "blacklist")
    text = options.get(name, options.get(older, ""))
    return frozenset(part.strip() for part in text.split(",") if part.strip())


def _selected(options: Mapping[str, str]) -> list[Fingerprinter]:
    allowed = listed(options, "fingerprint.allowlist")
    denied = listed(options, "fingerprint.denylist")
    return [
        source
        for name, source in FINGERPRINTERS.items()
        if (not allowed or name in allowed) and name not in denied
    ]


def _resources(facts: Facts, settings: ClientSettings) -> NodeResources:
    return NodeResources(
        cpu=facts.cpu or NodeCpu(),
        processors=facts.processors or NodeProcessors(),
        memory=facts.memory or NodeMemory(),
        disk=facts.disk or NodeDisk(),
        node_networks=facts.node_networks or None,
        networks=facts.networks or None,
        min_dynamic_port=settings.min_dynamic_port,
        max_dynamic_port=settings.max_dynamic_port,
    )


def _reserved(reserved: Reserved) -> NodeReservedResources:
    return NodeReservedResources(
        cpu=ReservedCpu(
            cpu_shares=reserved.cpu_mhz,
            reserved_cpu_cores=tuple(sorted(parse_ids(reserved.cores))) or None,
        ),
        memory=NodeMemory(memory_mb=reserved.memory_mb),
        disk=NodeDisk(disk_mb=reserved.disk_mb),
        networks=ReservedNetworks(reserved_host_ports=reserved.ports),
    )
