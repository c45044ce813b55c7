"""Servers: `server`."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, TypeAlias

import msgspec

from yurt.config.blocks.base import Block, Bytes, Count, Seconds, unserved
from yurt.config.blocks.joining import JOIN_ALIASES, JoinConfig
from yurt.model.scheduler_configuration import PRIORITY_DELTA_DEFAULT

SCHEDULERS = ("service", "batch", "system", "sysbatch")

JOB_PRIORITY_MAX = 32766

Schedulers: TypeAlias = tuple[Literal["service", "batch", "system", "sysbatch", "_core"], ...]
Priority: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=JOB_PRIORITY_MAX)]


class PreemptionConfig(Block, frozen=True, kw_only=True):
    """`preemption_config`: which kinds of jobs may push out others of lower priority."""

    system_scheduler_enabled: bool = True
    sysbatch_scheduler_enabled: bool = False
    batch_scheduler_enabled: bool = False
    service_scheduler_enabled: bool = False
    priority_delta: Priority = PRIORITY_DELTA_DEFAULT


class SchedulerConfig(Block, frozen=True, kw_only=True):
    """`default_scheduler_config`: used once, when a cluster is first made."""

    # Every node is looked at: placement works on columns, so there is nothing to limit.
    UNSERVED: ClassVar[Mapping[str, tuple[str, ...]]] = unserved("node_limit_for_feasibility_checks")

    scheduler_algorithm: Literal["binpack", "spread", "balanced"] = "binpack"
    memory_oversubscription_enabled: bool = False
    reject_job_registration: bool = False
    pause_eval_broker: bool = False
    preemption_config: PreemptionConfig = msgspec.field(default_factory=PreemptionConfig)


class PlanRejectionTracker(Block, frozen=True, kw_only=True):
    """`plan_rejection_tracker`: when a node whose plans keep failing is set aside."""

    enabled: bool = False
    node_threshold: Annotated[int, msgspec.Meta(ge=1)] = 100
    node_window_s: Seconds = 300.0


class SearchConfig(Block, frozen=True, kw_only=True):
    """`search`: limits of the search endpoints."""

    fuzzy_enabled: bool = True
    limit_query: Count = 20
    limit_results: Count = 100
    min_term_length: Count = 2


class ClientIntroduction(Block, frozen=True, kw_only=True):
    """`client_introduction`: whether a new node must show an introduction token."""

    enforcement: Literal["none", "warn", "strict"] = "warn"
    default_identity_ttl_s: Seconds = 300.0
    max_identity_ttl_s: Seconds = 1800.0


class ServerConfig(Block, frozen=True, kw_only=True):
    """`server`: `num_schedulers` None means one for each core, `enabled_schedulers` empty means all."""

    # Servers share a store and elect through it: there is no Raft among them, no gossip and no CSI. One
    # scheduler takes batches, and nothing waits for a rate.
    UNSERVED: ClassVar[Mapping[str, tuple[str, ...]]] = unserved(
        "authoritative_region",
        "deploy_query_rate_limit",
        "enable_event_broker",
        "num_schedulers",
        "start_timeout",
        "encrypt",
        "raft_protocol",
        "raft_multiplier",
        "rejoin_after_leave",
        "server_join",
        "csi_volume_claim_gc_interval",
        "csi_volume_claim_gc_threshold",
        "csi_plugin_gc_threshold",
        "plan_apply_pipeline",
        "license_path",
        "non_voting_server",
        "redundancy_zone",
        "upgrade_version",
        raft_boltdb=("no_freelist_sync",),
        raft_logstore=("backend", "boltdb", "wal", "disable_log_cache", "verification"),
    )
    ALIASES: ClassVar[Mapping[str, str]] = {
        **JOIN_ALIASES,
        "snapshot_interval": "raft_snapshot_interval",
        "snapshot_threshold": "raft_snapshot_threshold",
    }

    enabled: bool = False
    bootstrap_expect: Count = 0
    data_dir: str = ""
    num_schedulers: Count | None = None
    enabled_schedulers: Schedulers = ()
    start_timeout_s: Seconds = 30.0
    oidc_issuer: str = ""

    node_gc_threshold_s: Seconds = 24 * 3600.0
    job_gc_interval_s: Seconds = 300.0
    job_gc_threshold_s: Seconds = 4 * 3600.0
    eval_gc_threshold_s: Seconds = 3600.0
    batch_eval_gc_threshold_s: Seconds = 24 * 3600.0
    deployment_gc_threshold_s: Seconds = 3600.0
    acl_token_gc_threshold_s: Seconds = 3600.0
    root_key_gc_interval_s: Seconds = 600.0
    root_key_gc_threshold_s: Seconds = 3600.0
    root_key_rotation_threshold_s: Seconds = 720 * 3600.0

    # Shorter than Nomad's: a heartbeat costs no disk write here, and lost work is noticed within 10 s.
    heartbeat_grace_s: Seconds = 4.0
    min_heartbeat_ttl_s: Seconds = 5.0
    max_heartbeats_per_second: Annotated[float, msgspec.Meta(gt=0)] = 2000.0
    failover_heartbeat_ttl_s: Seconds = 30.0

    enable_event_broker: bool = True
    event_buffer_size: Count = 100
    deploy_query_rate_limit: Annotated[float, msgspec.Meta(gt=0)] = 100.0

    job_default_priority: Priority = 50
    job_max_priority: Annotated[int, msgspec.Meta(ge=100, le=JOB_PRIORITY_MAX)] = 100
    job_max_count: Count = 50_000
    job_max_source_bytes: Bytes = msgspec.field(default=1_000_000, name="job_max_source_size")
    job_tracked_versions: Annotated[int, msgspec.Meta(ge=1)] = 6

    raft_snapshot_threshold: Count = 8192
    raft_snapshot_interval_s: Seconds = 120.0
    raft_trailing_logs: Count = 10_240

    authoritative_region: str = ""
    encrypt: str = ""
    raft_protocol: Count = 3
    rejoin_after_leave: bool = False
    server_join: JoinConfig = msgspec.field(default_factory=JoinConfig)
    default_scheduler_config: SchedulerConfig | None = None
    plan_rejection_tracker: PlanRejectionTracker = msgspec.field(default_factory=PlanRejectionTracker)
    search: SearchConfig = msgspec.field(default_factory=SearchConfig)
    client_introduction: ClientIntroduction = msgspec.field(default_factory=ClientIntroduction)
