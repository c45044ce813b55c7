"""CNI network configurations: the built-in bridge, and those that the operator wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from yurt.agent.settings import ClientSettings
from yurt.errors import YurtError

CNI_VERSION = "0.4.0"
ADMIN_CHAIN = "NOMAD-ADMIN"
IPAM_DATA_DIR = "/var/run/cni"
SUFFIXES = (".conf", ".conflist", ".json")
CONFIG_BYTES_MAX = 1 << 20


class BadCniConfig(YurtError):
    """A CNI network configuration cannot be used."""


class CniConfig(msgspec.Struct, frozen=True, kw_only=True):
    """A network: its plugins are called one after the other, each with the result of the one before."""

    name: str
    version: str = CNI_VERSION
    plugins: tuple[dict[str, Any], ...] = ()


def bridge_config(settings: ClientSettings) -> CniConfig:
    """The network of mode `bridge`, as the client's settings describe it."""
    ranges = [[{"subnet": settings.bridge_network_subnet}]]
    routes = [{"dst": "0.0.0.0/0"}]
    if settings.bridge_network_subnet_ipv6:
        ranges.append([{"subnet": settings.bridge_network_subnet_ipv6}])
        routes.append({"dst": "::/0"})
    return CniConfig(
        name=settings.bridge_network_name,
        plugins=(
            {"type": "loopback"},
            {
                "type": "bridge",
                "bridge": settings.bridge_network_name,
                "ipMasq": True,
                "isGateway": True,
                "forceAddress": True,
                "hairpinMode": settings.bridge_network_hairpin_mode,
                "ipam": {
                    "type": "host-local",
                    "ranges": ranges,
                    "routes": routes,
                    "dataDir": IPAM_DATA_DIR,
                },
            },
            {"type": "firewall", "backend": "iptables", "iptablesAdminChainName": ADMIN_CHAIN},
            {"type": "portmap", "capabilities": {"portMappings": True}, "snat": True},
        ),
    )


def read_configs(directory: Path) -> dict[str, CniConfig]:
    """The operator's networks by name; of equal names the first file's holds. Unreadable ones are left out.

    Blocks for reading small files.
    """
    found: dict[str, CniConfig] = {}
    try:
        paths = sorted(path for path in directory.iterdir() if path.suffix in SUFFIXES)
    except OSError:
        return found
    for path in paths:
        try:
            with path.open("rb") as file:
                config = decode_config(file.read(CONFIG_BYTES_MAX))
        except (OSError, BadCniConfig):
            continue
        found.setdefault(config.name, config)
    return found


def decode_config(text: bytes) -> CniConfig:
    """Read a list of plugins, or a single plugin as a list of one. Raises BadCniConfig."""
    try:
        config = msgspec.json.decode(text, type=dict[str, Any])
    except msgspec.MsgspecError as error:
        raise BadCniConfig(f"it is no JSON object: {error}") from error
    name, version = config.get("name"), config.get("cniVersion", CNI_VERSION)
    plugins = config.get("plugins", [config])
    if not isinstance(name, str) or not name or not isinstance(version, str):
        raise BadCniConfig("its name and its cniVersion have to be texts")
    if not isinstance(plugins, list) or not plugins or not all(map(_is_plugin, plugins)):
        raise BadCniConfig(
            f'network "{name}": each of its plugins has to have a type, the plugin\'s file name'
        )
    return CniConfig(name=name, version=version, plugins=tuple(plugins))


def _is_plugin(value: object) -> bool:
    # A type is a file name in the plugin directories, never a path that leads out of them.
    kind = value.get("type") if isinstance(value, dict) else None
    return isinstance(kind, str) and bool(kind) and "/" not in kind
