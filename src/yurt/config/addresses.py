"""Works out where an agent listens and what it tells others."""

import ipaddress
import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from yurt.config.blocks.agent import FileConfig
from yurt.config.blocks.client import ClientConfig
from yurt.config.blocks.network import AddressesConfig, AdvertiseConfig
from yurt.config.problems import Notice
from yurt.sockaddr.interfaces import InterfaceAddress
from yurt.sockaddr.templates import BadTemplate, expand, private_address

LOOPBACK = "127.0.0.1"
ALL_ADDRESSES = "0.0.0.0"  # noqa: S104 (used only where TLS and ACLs guard the agent)

SERVICES = ("http", "rpc", "serf")

_HOST_NAME = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?")


class Resolved(msgspec.Struct, frozen=True, kw_only=True):
    """Addresses in their final form. `problems` maps a key to what is wrong with it."""

    bind_addr: str
    addresses: AddressesConfig
    advertise: AdvertiseConfig
    client: ClientConfig
    problems: Mapping[str, str]
    notices: tuple[Notice, ...]


def resolve_addresses(config: FileConfig, interfaces: Sequence[InterfaceAddress], *, dev: bool) -> Resolved:
    """Fill in and check the addresses of `config`.

    Without a `bind_addr`, only an agent that TLS and ACLs guard listens beyond the loopback address: an
    open API lets anybody run anything. Outside dev mode a loopback address that was asked for needs its
    `advertise`, since nobody else can reach it.
    """
    resolver = _Resolver(config, interfaces, dev=dev)
    bind = resolver.one_address("bind_addr", config.bind_addr) or resolver.default_bind()
    addresses = {service: resolver.bound(service, bind) for service in SERVICES}
    advertise = {service: resolver.advertised(service, addresses[service]) for service in SERVICES}
    return Resolved(
        bind_addr=bind,
        addresses=AddressesConfig(**addresses),
        advertise=AdvertiseConfig(**advertise),
        client=resolver.client(),
        problems=resolver.problems,
        notices=tuple(resolver.notices(f"{addresses['http']} {addresses['rpc']}".split())),
    )


def join_host_port(host: str, port: int) -> str:
    """`host:port`, with brackets around an IPv6 address."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def split_host_port(text: str, default_port: int) -> tuple[str, int]:
    """Read `host`, `host:port` or `[v6]:port`. Raises ValueError for other text."""
    bracketed = re.fullmatch(r"\[(.+)\](?::(\d+))?", text)
    if bracketed:
        host, port = bracketed[1], bracketed[2]
    elif text.count(":") == 1:
        host, _, port = text.partition(":")
    else:
        host, port = text, None
    if not _is_host(host) or not (port is None or port.isdecimal()):
        raise ValueError(f'"{text}" is not an address; write host or host:port')
    number = int(port) if port else default_port
    if not 0 < number <= 65535:
        raise ValueError(f'"{text}" has a port out of range 1-65535')
    return host, number


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach `host`."""
    address = _address(host)
    return host == "localhost" if address is None else address.is_loopback


class _Resolver:
    def __init__(self, config: FileConfig, interfaces: Sequence[InterfaceAddress], *, dev: bool) -> None:
        self._config = config
        self._interfaces = interfaces
        self._dev = dev
        self.problems: dict[str, str] = {}

    @property
    def _is_guarded(self) -> bool:
        tls = self._config.tls
        return self._config.acl.enabled and tls.http and tls.rpc

    def default_bind(self) -> str:
        return ALL_ADDRESSES if self._is_guarded else LOOPBACK

    def one_address(self, key: str, text: str) -> str:
        """Expand `text`, which must be a single address; empty stays empty."""
        found = self._expand(key, text).split()
        if len(found) > 1:
            self.problems[key] = f"expected one address, got {len(found)}: {' '.join(found)}"
        if found and not _is_host(found[0]):
            self.problems[key] = f'"{found[0]}" is not an IP address or host name'
        return found[0] if found else ""

    def bound(self, service: str, bind: str) -> str:
        key, text = f"addresses.{service}", getattr(self._config.addresses, service)
        if service != "http":
            return self.one_address(key, text) or bind
        hosts = self._expand(key, text).split()
        for host in hosts:
            if not _is_host(host):
                self.problems[key] = f'"{host}" is not an IP address or host name'
        return " ".join(hosts) or bind

    def advertised(self, service: str, bound: str) -> str:
        key = f"advertise.{service}"
        port = getattr(self._config.ports, service)
        text = self._expand(key, getattr(self._config.advertise, service))
        if not text:
            return join_host_port(self._reachable(service, bound.split(maxsplit=1)[0]), port)
        try:
            host, port = split_host_port(text, port)
        except ValueError as error:
            self.problems[key] = str(error)
            return text
        if _is_unspecified(host):
            self.problems[key] = f"{host} means all addresses and cannot be advertised; write one of them"
        return join_host_port(host, port)

    def _reachable(self, service: str, bound: str) -> str:
        key = f"advertise.{service}"
        if _is_unspecified(bound):
            private = private_address(self._interfaces)
            if private is None and not self._dev:
                self.problems[key] = (
                    f"must be set: the agent listens on {bound}, "
                    "and this machine has no private IP address to advertise"
                )
            return private or LOOPBACK
        was_asked_for = bool(self._config.bind_addr or getattr(self._config.addresses, service))
        # Nothing listens on the serf port, so what it would be bound to cannot be wrong.
        if is_loopback(bound) and was_asked_for and not self._dev and service != "serf":
            self.problems[key] = (
                f"must be set: {bound} is a loopback address, which other agents cannot reach; "
                f'write advertise {{ {service} = "<address>" }}, or use -dev to try Yurt on one machine'
            )
        return bound

    def client(self) -> ClientConfig:
        """`client` with the templates in its network settings expanded."""
        client = self._config.client
        networks = {
            name: msgspec.structs.replace(
                network,
                cidr=self._expand(f"client.host_network.{name}.cidr", network.cidr),
                interface=self._expand(f"client.host_network.{name}.interface", network.interface),
            )
            for name, network in client.host_networks.items()
        }
        interface = self._expand("client.network_interface", client.network_interface)
        return msgspec.structs.replace(client, network_interface=interface, host_networks=networks)

    def notices(self, hosts: Sequence[str]) -> Iterator[Notice]:
        open_hosts = [host for host in hosts if not is_loopback(host)]
        if open_hosts and not self._is_guarded:
            config = self._config
            states = {
                "acl.enabled": config.acl.enabled,
                "tls.http": config.tls.http,
                "tls.rpc": config.tls.rpc,
            }
            missing = tuple(key for key, state in states.items() if not state)
            yield Notice(
                event="config.open_to_network",
                text=f"the agent listens on {' '.join(dict.fromkeys(open_hosts))} "
                f"without {', '.join(missing)}: whoever reaches it can run anything; "
                "switch them on, or set bind_addr to a loopback address",
                keys=missing,
            )
        if not (open_hosts or self._config.bind_addr or self._dev):
            yield Notice(
                event="config.loopback_only",
                text="the agent serves this machine only, because tls.http, tls.rpc and acl.enabled "
                "are not all on; set bind_addr to serve others",
                keys=("bind_addr",),
            )

    def _expand(self, key: str, text: str) -> str:
        try:
            return expand(text, self._interfaces)
        except BadTemplate as error:
            self.problems[key] = str(error)
            return ""


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _is_unspecified(host: str) -> bool:
    address = _address(host)
    return address is not None and address.is_unspecified


def _is_host(text: str) -> bool:
    if _address(text) is not None:
        return True
    # What looks like an IPv4 address and is none is a typing error, not a name.
    return _HOST_NAME.fullmatch(text) is not None and not re.fullmatch(r"[\d.]+", text)
