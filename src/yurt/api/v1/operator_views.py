"""What those who run the cluster are told about its servers and its scheduling."""

from __future__ import annotations

from typing import Any

from yurt.api.v1.read_meta import ReadMeta
from yurt.model.scheduler_configuration import SchedulerConfiguration
from yurt.model.wire import Wire, wire_names


class SchedulerConfigurationAnswer(ReadMeta, frozen=True, kw_only=True):
    """How the cluster schedules."""

    scheduler_config: SchedulerConfiguration


class Updated(Wire, frozen=True, kw_only=True):
    """Whether a change took place, and at which index."""

    updated: bool
    index: int


class ServerHealth(Wire, frozen=True, kw_only=True):
    """How a server fares."""

    id: str
    name: str
    address: str
    serf_status: str
    version: str
    leader: bool
    last_contact: str
    last_term: int
    last_index: int
    healthy: bool
    voter: bool
    stable_since: str | None


class OperatorHealth(Wire, frozen=True, kw_only=True):
    """How the servers fare together."""

    healthy: bool
    failure_tolerance: int
    servers: tuple[ServerHealth, ...]
    leader: str
    voters: tuple[str, ...]


class RaftServer(Wire, frozen=True, kw_only=True):
    """A server that keeps the log."""

    id: str
    node: str
    address: str
    leader: bool
    voter: bool
    raft_protocol: str


class RaftConfiguration(Wire, frozen=True, kw_only=True):
    """The servers that keep the log."""

    servers: tuple[RaftServer, ...]
    index: int = 0


class RaftPeer(Wire, frozen=True, kw_only=True):
    """A server, by its address and its id."""

    address: str
    id: str


class LeadershipTransfer(Wire, frozen=True, kw_only=True, rename=wire_names(sender="From", target="To")):
    """What came of making another server the leader."""

    sender: RaftPeer
    target: RaftPeer
    noop: bool
    err: str | None = None


class UpgradeCheck(ReadMeta, frozen=True, kw_only=True):
    """What keeps the cluster from an upgrade."""

    jobs_without_vault_identity: tuple[dict[str, Any], ...] = ()
    outdated_nodes: tuple[dict[str, Any], ...] = ()
    vault_tokens: tuple[dict[str, Any], ...] | None = None
