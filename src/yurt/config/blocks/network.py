"""Where an agent listens and where others find it."""

from collections.abc import Mapping
from typing import ClassVar

from yurt.config.blocks.base import Block, Port


class PortsConfig(Block, frozen=True, kw_only=True):
    """`ports`: `serf` is only reported, servers find each other through their log's store."""

    ALIASES: ClassVar[Mapping[str, str]] = {
        "simple": ".simple_api.port",
        "simple_agent": ".simple_api.agent_port",
    }

    http: Port = 4646
    rpc: Port = 4647
    serf: Port = 4648


class AddressesConfig(Block, frozen=True, kw_only=True):
    """`addresses`: what to bind. In a loaded configuration each is an address; `http` may hold several."""

    http: str = ""
    rpc: str = ""
    serf: str = ""

    @property
    def http_hosts(self) -> tuple[str, ...]:
        return tuple(self.http.split())


class AdvertiseConfig(Block, frozen=True, kw_only=True):
    """`advertise`: what to tell others. In a loaded configuration each is `host:port`."""

    http: str = ""
    rpc: str = ""
    serf: str = ""
