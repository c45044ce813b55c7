"""Calls about the agent that answers, and about its cluster's servers."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import msgspec

from yurt.sdk.client import Answer, Client
from yurt.sdk.streams import ByteStream
from yurt.sdk.transport import Param
from yurt.sdk.wire import Record

# A log that is followed shows a sign of life every second.
LOG_IDLE_TIMEOUT_S = 60.0


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


def gossip_keys(client: Client) -> Answer[GossipKeys]:
    """List the keys that encrypt gossip."""
    return client.get("/v1/agent/keyring/list", GossipKeys)


def change_gossip_key(client: Client, action: str, key: str) -> None:
    """Do `install`, `use` or `remove` with a key."""
    client.send("PUT", f"/v1/agent/keyring/{action}", body={"Key": key})


class Health(msgspec.Struct, frozen=True):
    """Whether a part of the agent is well."""

    message: str = ""
    ok: bool = False


def health(client: Client, *kinds: str) -> Answer[dict[str, Health]]:
    """Ask whether the agent is well: its `client`, its `server`, or both."""
    return client.get("/v1/agent/health", dict[str, Health], type=kinds)


def host(client: Client, **target: str) -> Answer[dict[str, Any]]:
    """Describe the machine of the agent; `node_id` or `server_id` names another."""
    return client.get("/v1/agent/host", dict[str, Any], **target)


def schedulers(client: Client) -> Answer[dict[str, Any]]:
    """List the schedulers of a server."""
    return client.get("/v1/agent/schedulers", dict[str, Any])


def scheduler_workers(client: Client) -> Answer[dict[str, Any]]:
    """Read how many schedulers a server runs."""
    return client.get("/v1/agent/schedulers/config", dict[str, Any])


def set_scheduler_workers(client: Client, config: Mapping[str, Any]) -> Answer[dict[str, Any]]:
    """Set how many schedulers a server runs: `num_schedulers`, `enabled_schedulers`."""
    return client.put("/v1/agent/schedulers/config", dict[str, Any], body=config)


def reload(client: Client) -> None:
    """Have the agent read its configuration again."""
    client.send("PUT", "/v1/agent/reload")


def command_line(client: Client) -> list[str]:
    """The command that the agent was started with."""
    return client.exchange("GET", "/v1/agent/pprof/cmdline")[2].decode().split("\0")


def regions(client: Client) -> tuple[str, ...]:
    """List the regions."""
    return client.get("/v1/regions", tuple[str, ...]).value


def peers(client: Client) -> tuple[str, ...]:
    """List the addresses of the servers."""
    return client.get("/v1/status/peers", tuple[str, ...]).value


def monitor(
    client: Client, *, log_level: str = "INFO", **target: Param
) -> AbstractContextManager[ByteStream]:
    """Follow what an agent logs, as frames; `node_id` names another one's node, `plain` asks for lines."""
    return client.stream(
        "/v1/agent/monitor", idle_timeout_s=LOG_IDLE_TIMEOUT_S, log_level=log_level, **target
    )


def journal(client: Client, service_name: str, **params: Param) -> AbstractContextManager[ByteStream]:
    """Read what a unit has written to the journal, as frames; `logs_since`, `follow`, `plain`, `node_id`."""
    return client.stream("/v1/agent/monitor/export", idle_timeout_s=None, service_name=service_name, **params)


def public_keys(client: Client) -> Answer[dict[str, Any]]:
    """The keys by which identities can be checked, as a JSON Web Key Set."""
    return client.get("/.well-known/jwks.json", dict[str, Any])


def openid_configuration(client: Client) -> Answer[dict[str, Any]]:
    """Who signs identities, for those who check them."""
    return client.get("/.well-known/openid-configuration", dict[str, Any])


def metrics(client: Client) -> Answer[dict[str, Any]]:
    """What the agent counts and measures."""
    return client.get("/v1/metrics", dict[str, Any])


def description(client: Client) -> Answer[dict[str, Any]]:
    """The API's own description, an OpenAPI document."""
    return client.get("/v1/openapi.json", dict[str, Any])
