"""What an agent says about itself, its machine and its servers."""

from __future__ import annotations

from typing import Any

from yurt.model.wire import Wire, wire_names


def _as_is(name: str) -> str:
    return name


class Member(Wire, frozen=True, kw_only=True):
    """A server as the others know it."""

    name: str
    addr: str
    port: int
    tags: dict[str, str]
    status: str = "alive"
    protocol_min: int = 1
    protocol_max: int = 5
    protocol_cur: int = 2
    delegate_min: int = 2
    delegate_max: int = 5
    delegate_cur: int = 4


class AgentSelf(Wire, frozen=True, kw_only=True, rename=_as_is):
    """An agent: how it is configured, what it is among servers, and how it fares."""

    config: dict[str, Any]
    member: Member
    stats: dict[str, dict[str, str]]


class Health(Wire, frozen=True, kw_only=True, rename=_as_is):
    """Whether a part of the agent is well."""

    message: str = "ok"
    ok: bool = True


class Members(Wire, frozen=True, kw_only=True, rename=wire_names(server_dc="ServerDC")):
    """The servers that know each other."""

    server_name: str
    server_region: str
    server_dc: str
    members: tuple[Member, ...]


class Joined(Wire, frozen=True, kw_only=True, rename=_as_is):
    """What came of making servers known."""

    error: str
    num_joined: int = 0
    warning: str = ""


class SchedulerWorker(Wire, frozen=True, kw_only=True, rename=_as_is):
    """A scheduler of a server."""

    enabled_schedulers: tuple[str, ...]
    id: str
    started: str | None
    status: str
    workload_status: str


class SchedulerWorkers(Wire, frozen=True, kw_only=True, rename=_as_is):
    """The schedulers of a server."""

    schedulers: tuple[SchedulerWorker, ...]
    server_id: str


class SchedulerWorkersConfig(Wire, frozen=True, kw_only=True, rename=_as_is):
    """How many schedulers a server runs, and for what."""

    enabled_schedulers: tuple[str, ...]
    num_schedulers: int
    server_id: str


class DiskUse(Wire, frozen=True, kw_only=True):
    """How full a disk is."""

    disk_mb: int
    used_mb: int


class HostData(Wire, frozen=True, kw_only=True, rename=wire_names(os="OS")):
    """The machine that an agent runs on; secrets of its environment are not shown."""

    os: str
    network: tuple[dict[str, str], ...]
    resolv_conf: str
    hosts: str
    environment: dict[str, str]
    disk: dict[str, DiskUse]


class Jwks(Wire, frozen=True, kw_only=True, rename=_as_is):
    """Public keys, as JSON Web Keys."""

    keys: tuple[dict[str, Any], ...]


class OpenIdConfiguration(Wire, frozen=True, kw_only=True, rename=_as_is):
    """Who signs identities, for those who check them."""

    issuer: str
    jwks_uri: str
    id_token_signing_alg_values_supported: tuple[str, ...] = ("RS256", "EdDSA")
    response_types_supported: tuple[str, ...] = ("code",)
    subject_types_supported: tuple[str, ...] = ("public",)
