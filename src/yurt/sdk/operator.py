"""Calls for those who run the cluster."""

from collections.abc import Mapping
from typing import Any

from yurt.sdk.client import Answer, Client
from yurt.sdk.exchange import Headers
from yurt.sdk.transport import path_segment
from yurt.sdk.wire import Record


class PreemptionConfig(Record, frozen=True):
    """Which schedulers may preempt."""

    system_scheduler_enabled: bool = False
    sys_batch_scheduler_enabled: bool = False
    batch_scheduler_enabled: bool = False
    service_scheduler_enabled: bool = False
    # None where the default holds.
    priority_delta: int | None = None


class SchedulerConfig(Record, frozen=True):
    """How the schedulers work."""

    scheduler_algorithm: str = ""
    preemption_config: PreemptionConfig = PreemptionConfig()
    memory_oversubscription_enabled: bool = False
    reject_job_registration: bool = False
    pause_eval_broker: bool = False
    node_limit_for_feasibility_checks: int = 0
    modify_index: int = 0


class SchedulerConfigAnswer(Record, frozen=True):
    """The scheduler configuration as the API wraps it."""

    scheduler_config: SchedulerConfig = SchedulerConfig()


class Updated(Record, frozen=True):
    """Whether a check-and-set took place."""

    updated: bool = False


class RaftServer(Record, frozen=True):
    """A server in the consensus configuration."""

    id: str = ""
    node: str = ""
    address: str = ""
    leader: bool = False
    voter: bool = False
    raft_protocol: str = ""


class RaftConfiguration(Record, frozen=True):
    """The servers that agree on the log."""

    servers: tuple[RaftServer, ...] = ()


class AutopilotConfig(Record, frozen=True):
    """How dead servers are dealt with."""

    cleanup_dead_servers: bool = False
    last_contact_threshold: str = ""
    max_trailing_logs: int = 0
    min_quorum: int = 0
    server_stabilization_time: str = ""
    enable_redundancy_zones: bool = False
    disable_upgrade_migration: bool = False
    enable_custom_upgrades: bool = False


class ServerHealth(Record, frozen=True):
    """How one server fares."""

    id: str = ""
    name: str = ""
    address: str = ""
    serf_status: str = ""
    version: str = ""
    leader: bool = False
    voter: bool = False
    healthy: bool = False
    last_contact: str = ""
    last_term: int = 0
    last_index: int = 0
    stable_since: str = ""


class ClusterHealth(Record, frozen=True):
    """How the servers fare together."""

    healthy: bool = False
    failure_tolerance: int = 0
    leader: str = ""
    voters: tuple[str, ...] = ()
    servers: tuple[ServerHealth, ...] = ()


class RootKey(Record, frozen=True):
    """A key that encrypts variables and signs identities; times in nanoseconds."""

    key_id: str = ""
    state: str = ""
    create_time: int = 0
    publish_time: int = 0


class Rotated(Record, frozen=True):
    """The answer to a key rotation."""

    key: RootKey = RootKey()


def scheduler_config(client: Client) -> Answer[SchedulerConfigAnswer]:
    """Read the scheduler configuration."""
    return client.get("/v1/operator/scheduler/configuration", SchedulerConfigAnswer)


def set_scheduler_config(client: Client, config: Mapping[str, Any], *, check_index: int | None) -> bool:
    """Replace the scheduler configuration, and say whether `check_index` let it happen."""
    cas = "" if check_index is None else check_index
    path = "/v1/operator/scheduler/configuration"
    return client.put(path, Updated, body=config, cas=cas).value.updated


def raft_configuration(client: Client, *, stale: bool = False) -> Answer[RaftConfiguration]:
    """List the servers that agree on the log."""
    return client.get("/v1/operator/raft/configuration", RaftConfiguration, stale=stale)


def remove_raft_peer(client: Client, peer_id: str) -> None:
    """Remove a server that will not come back."""
    client.send("DELETE", "/v1/operator/raft/peer", id=peer_id)


def transfer_leadership(client: Client, /, **target: str) -> None:
    """Make another server the leader; `id` or `address` names it."""
    client.send("PUT", "/v1/operator/raft/transfer-leadership", **target)


def autopilot_config(client: Client) -> Answer[AutopilotConfig]:
    """Read the autopilot configuration."""
    return client.get("/v1/operator/autopilot/configuration", AutopilotConfig)


def set_autopilot_config(client: Client, config: Mapping[str, Any]) -> None:
    """Replace the autopilot configuration."""
    client.send("PUT", "/v1/operator/autopilot/configuration", body=config)


def cluster_health(client: Client) -> tuple[int, Headers, bytes]:
    """Read the servers' health: an unhealthy cluster answers with status 429 and the same body."""
    return client.exchange("GET", "/v1/operator/autopilot/health")


def root_keys(client: Client) -> Answer[tuple[RootKey, ...]]:
    """List the keys of the keyring."""
    return client.get("/v1/operator/keyring/keys", tuple[RootKey, ...])


def rotate_root_key(client: Client, *, full: bool, publish_time: int) -> Answer[Rotated]:
    """Make a new key; `publish_time` in nanoseconds announces it first, 0 uses it at once."""
    return client.put("/v1/operator/keyring/rotate", Rotated, full=full, publish_time=publish_time or "")


def remove_root_key(client: Client, key_id: str, *, force: bool) -> None:
    """Remove a key that is not in use."""
    client.send("DELETE", f"/v1/operator/keyring/key/{path_segment(key_id)}", force=force)


def collect_garbage(client: Client) -> None:
    """Ask for garbage collection now."""
    client.send("PUT", "/v1/system/gc")


def reconcile_summaries(client: Client) -> None:
    """Count the allocations of all jobs anew."""
    client.send("PUT", "/v1/system/reconcile/summaries")


def upgrade_check(client: Client, check: str = "vault-workload-identity") -> Answer[dict[str, Any]]:
    """Say what keeps the cluster from an upgrade."""
    return client.get(f"/v1/operator/upgrade-check/{path_segment(check)}", dict[str, Any])


def license_status(client: Client) -> int:
    """Read the licence: status 204, for none is needed."""
    return client.exchange("GET", "/v1/operator/license")[0]
