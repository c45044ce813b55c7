"""Calls about the agent that answers, and about its cluster's servers."""

from collections.abc import Sequence

import msgspec

from yurt.sdk.client import Answer, Client
from yurt.sdk.wire import Record


class UiSettings(Record, frozen=True):
    """What an agent says about its web UI."""

    enabled: bool = False
    show_cli_hints: bool = msgspec.field(name="ShowCLIHints", default=False)


class AgentConfig(Record, frozen=True):
    """The part of an agent's configuration that clients look at."""

    region: str = ""
    datacenter: str = ""
    ui: UiSettings = UiSettings()


class Member(Record, frozen=True):
    """A server as the cluster knows it."""

    name: str = ""
    addr: str = ""
    port: int = 0
    tags: dict[str, str] = {}
    status: str = ""
    protocol_cur: int = 0


class Members(Record, frozen=True):
    """The servers of a cluster."""

    server_name: str = ""
    server_region: str = ""
    server_dc: str = msgspec.field(name="ServerDC", default="")
    members: tuple[Member, ...] = ()


class AgentSelf(msgspec.Struct, frozen=True):
    """An agent's description of itself; these names are lower case on the wire."""

    config: AgentConfig = AgentConfig()
    member: Member = Member()
    stats: dict[str, dict[str, str]] = {}


def read_self(client: Client) -> Answer[AgentSelf]:
    """Ask the agent about itself."""
    return client.get("/v1/agent/self", AgentSelf)


def members(client: Client) -> Answer[Members]:
    """List the servers."""
    return client.get("/v1/agent/members", Members)


def leader(client: Client) -> str:
    """Give the leader's RPC address."""
    return client.get("/v1/status/leader", str).value


class Joined(msgspec.Struct, frozen=True):
    """The answer to joining servers; these names are lower case on the wire."""

    num_joined: int = 0
    error: str = ""


def join(client: Client, addresses: Sequence[str]) -> Joined:
    """Have the agent join other servers."""
    return client.put("/v1/agent/join", Joined, address=tuple(addresses)).value


def force_leave(client: Client, name: str, *, prune: bool) -> None:
    """Declare a server gone."""
    client.send("PUT", "/v1/agent/force-leave", node=name, prune=prune)


def client_servers(client: Client) -> tuple[str, ...]:
    """List the servers that a client agent knows."""
    return client.get("/v1/agent/servers", tuple[str, ...]).value


def set_client_servers(client: Client, addresses: Sequence[str]) -> None:
    """Replace the servers that a client agent knows."""
    client.send("PUT", "/v1/agent/servers", address=tuple(addresses))


class GossipKeys(Record, frozen=True):
    """The keys that encrypt gossip, and how many servers have each."""

    keys: dict[str, int] = {}


def gossip_keys(client: Client) -> dict[str, int]:
    """List the keys that encrypt gossip."""
    return client.get("/v1/agent/keyring/list", GossipKeys).value.keys


def change_gossip_key(client: Client, action: str, key: str) -> None:
    """Do `install`, `use` or `remove` with a key."""
    client.send("PUT", f"/v1/agent/keyring/{action}", body={"Key": key})
