"""Rules that hold between the values of a configuration."""

import ipaddress
import re
from collections.abc import Callable, Iterator
from pathlib import PurePath
from typing import TypeAlias
from urllib.parse import urlsplit

from yurt.config.blocks.agent import LOG_LEVELS, FileConfig
from yurt.config.cipher_suites import CIPHER_SUITES
from yurt.jobspec.hcl.diagnostics import closest_name
from yurt.model.wire import ALL_NODE_POOL

Finding: TypeAlias = tuple[str, str]
"""The key at fault, and what is wrong with it."""

NO_ROLE_KEY = ""
"""The key of "neither server nor client": no single one is at fault."""

PORT_MAX = 65535

_NAME = re.compile(r"[^\s/\x00-\x1f]+")
_NODE_POOL = re.compile(r"[a-zA-Z0-9-_]{1,128}")
_FILE_MODE = re.compile(r"0?[0-7]{3}")
_RANGE = re.compile(r"\s*(\d+)\s*(?:-\s*(\d+)\s*)?")


def find_problems(config: FileConfig, *, dev: bool) -> Iterator[Finding]:
    """Everything that is wrong with a configuration whose single values are all of the right form."""
    yield from _check_role(config, dev=dev)
    for check in CHECKS:
        yield from check(config)


def _check_role(config: FileConfig, *, dev: bool) -> Iterator[Finding]:
    if not config.server.enabled and not config.client.enabled:
        yield NO_ROLE_KEY, "neither server nor client is enabled; use -server or -client or both, or -dev"
    if not config.data_dir and not (dev or config.simple_api.standalone):
        yield "data_dir", 'must be set outside of -dev; write data_dir = "/var/lib/yurt" or use -data-dir'
    if config.server.bootstrap_expect and not config.server.enabled:
        yield "server.bootstrap_expect", "needs server.enabled = true, or -server"
    if config.server.bootstrap_expect > 1 and config.etcd is None:
        yield (
            "server.bootstrap_expect",
            f"{config.server.bootstrap_expect} servers need a store to share, or each becomes a cluster "
            "of its own; add etcd { endpoints = [...] }, or set 1",
        )


def _check_names(config: FileConfig) -> Iterator[Finding]:
    for key, name in (("region", config.region), ("datacenter", config.datacenter), ("name", config.name)):
        if not (_NAME.fullmatch(name) or (key == "name" and not name)):
            yield key, f'"{name}" is not a name; leave out blanks and slashes'
    if config.log_level.upper() not in LOG_LEVELS:
        yield "log_level", f'expected one of {", ".join(LOG_LEVELS)}, got "{config.log_level}"'
    if not _NODE_POOL.fullmatch(config.client.node_pool):
        yield (
            "client.node_pool",
            f'"{config.client.node_pool}" is not a pool name; use letters, digits, - and _',
        )
    elif config.client.node_pool == ALL_NODE_POOL:
        yield "client.node_pool", f'"{ALL_NODE_POOL}" stands for every pool; choose another'


def _check_directories(config: FileConfig) -> Iterator[Finding]:
    client = config.client
    for key, path in (
        ("data_dir", config.data_dir),
        ("server.data_dir", config.server.data_dir),
        ("client.state_dir", client.state_dir),
        ("client.alloc_dir", client.alloc_dir),
        ("client.alloc_mounts_dir", client.alloc_mounts_dir),
        ("client.host_volumes_dir", client.host_volumes_dir),
        ("client.host_volume_plugin_dir", client.host_volume_plugin_dir),
        ("client.common_plugin_dir", client.common_plugin_dir),
        *((f"client.host_volume.{name}.path", volume.path) for name, volume in client.host_volumes.items()),
    ):
        if path and not PurePath(path).is_absolute():
            yield key, f'must be an absolute path, got "{path}"'


def _check_ports(config: FileConfig) -> Iterator[Finding]:
    if config.ports.http == config.ports.rpc:
        yield "ports.rpc", f"is {config.ports.rpc} like ports.http; choose another"
    low, high = config.client.min_dynamic_port, config.client.max_dynamic_port
    if low > high:
        yield "client.min_dynamic_port", f"{low} is above client.max_dynamic_port, {high}"
    networks = config.client.host_networks.items()
    for key, ports in (
        ("client.reserved.reserved_ports", config.client.reserved.reserved_ports),
        *(
            (f"client.host_network.{name}.reserved_ports", network.reserved_ports)
            for name, network in networks
        ),
    ):
        if not _is_number_set(ports, PORT_MAX):
            yield key, f'expected ports such as "22,8500-8600", got "{ports}"'


def _check_cores(config: FileConfig) -> Iterator[Finding]:
    client = config.client
    for key, cores in (
        ("client.reservable_cores", client.reservable_cores),
        ("client.reserved.cores", client.reserved.cores),
    ):
        if not _is_number_set(cores):
            yield key, f'expected cores such as "0,2-7", got "{cores}"'


def _check_networks(config: FileConfig) -> Iterator[Finding]:
    client = config.client
    for key, cidr in (
        ("client.bridge_network_subnet", client.bridge_network_subnet),
        ("client.bridge_network_subnet_ipv6", client.bridge_network_subnet_ipv6),
        *(("client.denied_networks", network) for network in client.denied_networks),
        *(
            (f"client.host_network.{name}.cidr", network.cidr)
            for name, network in client.host_networks.items()
        ),
    ):
        # A host network may be a template, which is expanded later.
        if cidr and "{{" not in cidr and not _is_network(cidr):
            yield key, f'expected a network such as "10.0.0.0/8", got "{cidr}"'


def _check_tls(config: FileConfig) -> Iterator[Finding]:
    tls = config.tls
    if tls.http or tls.rpc:
        for key, file in (("ca_file", tls.ca_file), ("cert_file", tls.cert_file), ("key_file", tls.key_file)):
            if not file:
                yield f"tls.{key}", "must be set when tls.http or tls.rpc is on"
    for name in tls.cipher_suites:
        if name not in CIPHER_SUITES:
            meant = closest_name(name, CIPHER_SUITES)
            hint = f"; did you mean {meant}?" if meant else f"; it may be {', '.join(CIPHER_SUITES)}"
            yield "tls.tls_cipher_suites", f'"{name}" is not a cipher suite that can be chosen{hint}'


def _check_audit(config: FileConfig) -> Iterator[Finding]:
    if len(config.audit.sinks) > 1:
        names = ", ".join(config.audit.sinks)
        yield "audit.sink", f"there can be one, got {len(config.audit.sinks)}: {names}"
    for name, sink in config.audit.sinks.items():
        if sink.path and not PurePath(sink.path).is_absolute():
            yield f"audit.sink.{name}.path", f'must be an absolute path, got "{sink.path}"'
        if not _FILE_MODE.fullmatch(sink.mode):
            yield f"audit.sink.{name}.mode", f'expected a file\'s mode such as "0600", got "{sink.mode}"'


def _check_order(config: FileConfig) -> Iterator[Finding]:
    """Pairs of which the first must not be above the second."""
    server, client, acl, telemetry = config.server, config.client, config.acl, config.telemetry
    introduction, wait = server.client_introduction, client.template.wait
    pairs: tuple[tuple[str, float, str, float], ...] = (
        (
            "server.job_default_priority",
            server.job_default_priority,
            "server.job_max_priority",
            server.job_max_priority,
        ),
        (
            "server.client_introduction.default_identity_ttl",
            introduction.default_identity_ttl_s,
            "server.client_introduction.max_identity_ttl",
            introduction.max_identity_ttl_s,
        ),
        (
            "acl.token_min_expiration_ttl",
            acl.token_min_expiration_ttl_s,
            "acl.token_max_expiration_ttl",
            acl.token_max_expiration_ttl_s,
        ),
        (
            "telemetry.in_memory_collection_interval",
            telemetry.in_memory_collection_interval_s,
            "telemetry.in_memory_retention_period",
            telemetry.in_memory_retention_period_s,
        ),
        ("client.template.wait.min", wait.min_s, "client.template.wait.max", wait.max_s),
        (
            "client.users.dynamic_user_min",
            client.users.dynamic_user_min,
            "client.users.dynamic_user_max",
            client.users.dynamic_user_max,
        ),
    )
    for low_key, low, high_key, high in pairs:
        if low > high:
            yield low_key, f"is above {high_key}"


def _check_etcd(config: FileConfig) -> Iterator[Finding]:
    if config.etcd is None:
        return
    if not config.etcd.endpoints:
        yield "etcd.endpoints", 'must name at least one endpoint, such as "http://127.0.0.1:2379"'
    for endpoint in config.etcd.endpoints:
        parts = urlsplit(endpoint)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            yield "etcd.endpoints", f'expected a URL such as "https://10.0.0.1:2379", got "{endpoint}"'


def _check_standalone(config: FileConfig) -> Iterator[Finding]:
    simple = config.simple_api
    for key, url in (("simple_api.server", simple.server), ("simple_api.endpoint", simple.endpoint)):
        parts = urlsplit(url)
        if url and (parts.scheme not in ("http", "https") or not parts.hostname):
            yield key, f'expected a URL such as "http://10.0.0.1:8500", got "{url}"'
    if not simple.standalone:
        return
    if config.server.enabled:
        yield "simple_api.standalone", "is for a client without servers of Yurt; leave out server.enabled"
    if not simple.server:
        yield "simple_api.server", "must be set for a standalone client; use -simple-server http://host:8500"
    if not simple.enabled or simple.agent_port == 0:
        yield "simple_api.agent_port", "must be on for a standalone client: its work comes that way"


CHECKS: tuple[Callable[[FileConfig], Iterator[Finding]], ...] = (
    _check_names,
    _check_directories,
    _check_ports,
    _check_cores,
    _check_networks,
    _check_tls,
    _check_audit,
    _check_order,
    _check_etcd,
    _check_standalone,
)


def _is_number_set(text: str, number_max: int | None = None) -> bool:
    """Whether `text` is like `1,3-5`, with no number above `number_max`; empty is an empty set."""
    for part in text.split(",") if text.strip() else ():
        match = _RANGE.fullmatch(part)
        if match is None:
            return False
        first, last = int(match[1]), int(match[2] or match[1])
        if first > last or (number_max is not None and last > number_max):
            return False
    return True


def _is_network(text: str) -> bool:
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
    return True
