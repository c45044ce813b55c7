"""The ports of a container, and the address it has with them."""

from __future__ import annotations

from typing import Any

from yurt.agent.drivers.docker.answers import NetworkSettings
from yurt.agent.drivers.docker.config import DockerConfig
from yurt.agent.drivers.driver import DriverError, DriverNetwork, TaskPort, TaskSpec

# The container's address is of no use to others in these networks: they reach it by the host's.
_UNADVERTISED = ("bridge", "nat", "default")
_PROTOCOLS = ("tcp", "udp")


def published(spec: TaskSpec, config: DockerConfig) -> list[tuple[TaskPort, int]]:
    """The ports to publish, each with its number in the container. Raises DriverError for unknown labels."""
    known = {port.label: port for port in spec.ports}
    for label in (*config.ports, *config.port_map):
        if label not in known:
            raise DriverError(f'port "{label}" not found, check network block')
    wanted = [(known[label], known[label].to or known[label].host_port) for label in config.ports]
    return wanted + [(known[label], to) for label, to in config.port_map.items()]


def port_bindings(ports: list[tuple[TaskPort, int]]) -> dict[str, list[dict[str, str]]]:
    """Docker's map from a container's port to those of the host."""
    bindings: dict[str, list[dict[str, str]]] = {}
    for port, to in ports:
        for protocol in _PROTOCOLS:
            entry = {"HostIp": port.host_ip, "HostPort": str(port.host_port)}
            bindings.setdefault(f"{to}/{protocol}", []).append(entry)
    return bindings


def endpoints(config: DockerConfig) -> dict[str, Any]:
    """What the container is called in a network of the user's own; nothing in Docker's."""
    if not config.network_mode or config.network_mode.partition(":")[0] in _BUILT_IN_NETWORKS:
        return {}
    endpoint: dict[str, Any] = {}
    if config.network_aliases:
        endpoint["Aliases"] = config.network_aliases
    if config.mac_address:
        endpoint["MacAddress"] = config.mac_address
    if config.ipv4_address or config.ipv6_address:
        endpoint["IPAMConfig"] = {"IPv4Address": config.ipv4_address, "IPv6Address": config.ipv6_address}
    return {config.network_mode: endpoint}


_BUILT_IN_NETWORKS = ("default", "bridge", "host", "none", "container", "nat")


def driver_network(
    settings: NetworkSettings, *, port_map: dict[str, int], wants_ipv6: bool
) -> DriverNetwork | None:
    """The address of a running container, None when it has none of its own."""
    for name, endpoint in (settings.networks or {}).items():
        address = endpoint.global_ipv6_address if wants_ipv6 else endpoint.ip_address
        if address:
            return DriverNetwork(ip=address, port_map=port_map, auto_advertise=name not in _UNADVERTISED)
    return None
