"""Turns the agent's flags into configuration values, read by the same rules as files."""

from collections.abc import Mapping

import msgspec

from yurt.cli.agent_flags import AgentFlags
from yurt.config.decode import Layer, decode
from yurt.config.problems import Location, Problem
from yurt.jobspec.hcl import LiteralBody, LiteralValue

FLAG_KEYS: Mapping[str, str] = {
    "bind": "bind_addr",
    "data_dir": "data_dir",
    "plugin_dir": "plugin_dir",
    "dc": "datacenter",
    "region": "region",
    "node": "name",
    "log_level": "log_level",
    "log_json": "log_json",
    "log_include_location": "log_include_location",
    "eventlog": "eventlog.enabled",
    "eventlog_level": "eventlog.level",
    "server": "server.enabled",
    "bootstrap_expect": "server.bootstrap_expect",
    "encrypt": "server.encrypt",
    "rejoin": "server.rejoin_after_leave",
    "raft_protocol": "server.raft_protocol",
    "client": "client.enabled",
    # Servers find each other through the store they share, so joining is what a client does.
    "join": "client.server_join.start_join",
    "retry_join": "client.server_join.retry_join",
    "retry_max": "client.server_join.retry_max",
    "retry_interval": "client.server_join.retry_interval",
    "servers": "client.servers",
    "standalone": "simple_api.standalone",
    "simple_server": "simple_api.server",
    "node_class": "client.node_class",
    "node_pool": "client.node_pool",
    "meta": "client.meta",
    "network_interface": "client.network_interface",
    "network_speed": "client.network_speed",
    "preferred_address_family": "client.preferred_address_family",
    "state_dir": "client.state_dir",
    "alloc_dir": "client.alloc_dir",
    "alloc_mounts_dir": "client.alloc_mounts_dir",
    "host_volumes_dir": "client.host_volumes_dir",
    "host_volume_plugin_dir": "client.host_volume_plugin_dir",
    "client_intro_token": "client.intro_token",
    "acl_enabled": "acl.enabled",
    "acl_replication_token": "acl.replication_token",
}
"""Field of `AgentFlags` → the key it sets."""

_HANDLED_BY_LOADING = ("config", "dev", "dev_connect", "dev_consul", "dev_vault")
_UNSERVED_PREFIXES = ("consul_", "vault_")


def decode_flags(flags: AgentFlags) -> Layer:
    """What the flags set; those without effect are named like `-consul-address`."""
    layer = Layer()
    for field in msgspec.structs.fields(AgentFlags):
        value = getattr(flags, field.name)
        if value is None or value == () or field.name in _HANDLED_BY_LOADING:
            continue
        flag = "-" + field.name.replace("_", "-")
        if field.name.startswith(_UNSERVED_PREFIXES):
            layer.unserved[flag] = Location(flag)
            continue
        try:
            one = _decode_one(FLAG_KEYS[field.name], _as_file_value(field.name, value), flag)
        except ValueError as error:
            layer.problems.append(Problem(text=str(error), location=Location(flag)))
            continue
        layer.values.update(one.values)
        layer.problems.extend(one.problems)
        if one.unserved:
            layer.unserved[flag] = Location(flag)
    return layer


def _as_file_value(field: str, value: object) -> LiteralValue:
    """The value as a file would hold it. Raises ValueError for a `-meta` that is no pair."""
    match value:
        case str() if field == "servers":
            return [server.strip() for server in value.split(",") if server.strip()]
        case tuple() if field == "meta":
            return [_pairs(value)]
        case tuple():
            return [str(item) for item in value]
        case str() | bool() | int():
            return value
    raise AssertionError(f"flag {field} has a value of a new kind: {value!r}")


def _pairs(texts: tuple[str, ...]) -> LiteralBody:
    body = LiteralBody()
    for text in texts:
        key, separator, value = text.partition("=")
        if not separator or not key:
            raise ValueError(f'expected key=value, got "{text}"')
        body[key] = value
        body.lines[key] = 0
    return body


def _decode_one(key: str, value: LiteralValue, flag: str) -> Layer:
    for step in reversed(key.split(".")):
        body = LiteralBody()
        body[step] = value
        body.lines[step] = 0
        value = [body]
    assert isinstance(value, list)
    (top,) = value
    assert isinstance(top, LiteralBody)
    return decode(top, flag)
