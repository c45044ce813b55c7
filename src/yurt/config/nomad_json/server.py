"""The `Server` member."""

from typing import Any

from yurt.config.blocks.joining import JoinConfig
from yurt.config.blocks.server import SchedulerConfig, ServerConfig
from yurt.config.nomad_json.unset import (
    if_set,
    is_default,
    list_or_null,
    nanoseconds_if_set,
    text_if_set,
)
from yurt.config.quantities import duration_text, nanoseconds, size_text
from yurt.model.scheduler_configuration import PRIORITY_DELTA_DEFAULT

_NULL: Any = None

# Settings that have no effect here are shown as Nomad shows them when they are not set.
_UNSERVED: dict[str, Any] = {
    "CSIPluginGCThreshold": "",
    "CSIVolumeClaimGCInterval": "",
    "CSIVolumeClaimGCThreshold": "",
    "LicenseEnv": "",
    "LicensePath": "",
    "LogFile": "",
    "NonProduction": False,
    "NonVotingServer": False,
    "PlanApplyPipeline": 1,
    "RaftBoltConfig": None,
    "RaftLogStoreConfig": None,
    "RaftMultiplier": None,
    "RedundancyZone": "",
    "RetryInterval": 0,
    "RetryJoin": [],
    "RetryMaxAttempts": 0,
    "StartJoin": [],
    "UpgradeVersion": "",
}


def server_json(server: ServerConfig) -> dict[str, Any]:
    introduction, tracker, search = (
        server.client_introduction,
        server.plan_rejection_tracker,
        server.search,
    )
    scheduler = server.default_scheduler_config
    return {
        **_UNSERVED,
        **_limits_json(server),
        "AuthoritativeRegion": server.authoritative_region,
        "BootstrapExpect": server.bootstrap_expect,
        "ClientIntroduction": {
            "DefaultIdentityTTL": nanoseconds_if_set(introduction, "default_identity_ttl_s"),
            "Enforcement": if_set(introduction, "enforcement", ""),
            "MaxIdentityTTL": nanoseconds_if_set(introduction, "max_identity_ttl_s"),
        },
        "DataDir": server.data_dir,
        "DefaultSchedulerConfig": scheduler and _scheduler_json(scheduler),
        "EnableEventBroker": server.enable_event_broker,
        "Enabled": server.enabled,
        "EnabledSchedulers": list_or_null(server.enabled_schedulers),
        "EventBufferSize": server.event_buffer_size,
        "NumSchedulers": server.num_schedulers,
        "OIDCIssuer": server.oidc_issuer,
        "PlanRejectionTracker": {
            "Enabled": tracker.enabled,
            "NodeThreshold": tracker.node_threshold,
            "NodeWindow": nanoseconds(tracker.node_window_s),
        },
        "RaftProtocol": server.raft_protocol,
        "RaftSnapshotInterval": (
            None
            if is_default(server, "raft_snapshot_interval_s")
            else duration_text(server.raft_snapshot_interval_s)
        ),
        "RaftSnapshotThreshold": if_set(server, "raft_snapshot_threshold", _NULL),
        "RaftTrailingLogs": if_set(server, "raft_trailing_logs", _NULL),
        "RejoinAfterLeave": server.rejoin_after_leave,
        "Search": {
            "FuzzyEnabled": search.fuzzy_enabled,
            "LimitQuery": search.limit_query,
            "LimitResults": search.limit_results,
            "MinTermLength": search.min_term_length,
        },
        "ServerJoin": join_json(server.server_join),
        "StartTimeout": text_if_set(server, "start_timeout_s"),
    }


def join_json(join: JoinConfig) -> dict[str, Any]:
    return {
        "RetryInterval": nanoseconds(join.retry_interval_s),
        "RetryJoin": list(join.retry_join),
        "RetryMaxAttempts": join.retry_max,
        "StartJoin": list_or_null(join.start_join),
    }


def _limits_json(server: ServerConfig) -> dict[str, Any]:
    return {
        "ACLTokenGCThreshold": text_if_set(server, "acl_token_gc_threshold_s"),
        "BatchEvalGCThreshold": text_if_set(server, "batch_eval_gc_threshold_s"),
        "DeploymentGCThreshold": text_if_set(server, "deployment_gc_threshold_s"),
        "DeploymentQueryRateLimit": if_set(server, "deploy_query_rate_limit", 0.0),
        "EvalGCThreshold": text_if_set(server, "eval_gc_threshold_s"),
        "FailoverHeartbeatTTL": nanoseconds_if_set(server, "failover_heartbeat_ttl_s"),
        "HeartbeatGrace": nanoseconds_if_set(server, "heartbeat_grace_s"),
        "JobDefaultPriority": if_set(server, "job_default_priority", _NULL),
        "JobGCInterval": text_if_set(server, "job_gc_interval_s"),
        "JobGCThreshold": text_if_set(server, "job_gc_threshold_s"),
        "JobMaxCount": if_set(server, "job_max_count", _NULL),
        "JobMaxPriority": if_set(server, "job_max_priority", _NULL),
        "JobMaxSourceSize": (
            "1M" if is_default(server, "job_max_source_bytes") else size_text(server.job_max_source_bytes)
        ),
        "JobTrackedVersions": server.job_tracked_versions,
        "MaxHeartbeatsPerSecond": if_set(server, "max_heartbeats_per_second", 0.0),
        "MinHeartbeatTTL": nanoseconds_if_set(server, "min_heartbeat_ttl_s"),
        "NodeGCThreshold": text_if_set(server, "node_gc_threshold_s"),
        "RootKeyGCInterval": text_if_set(server, "root_key_gc_interval_s"),
        "RootKeyGCThreshold": text_if_set(server, "root_key_gc_threshold_s"),
        "RootKeyRotationThreshold": text_if_set(server, "root_key_rotation_threshold_s"),
    }


def _scheduler_json(scheduler: SchedulerConfig) -> dict[str, Any]:
    preemption = scheduler.preemption_config
    return {
        "SchedulerAlgorithm": scheduler.scheduler_algorithm,
        "MemoryOversubscriptionEnabled": scheduler.memory_oversubscription_enabled,
        "RejectJobRegistration": scheduler.reject_job_registration,
        "PauseEvalBroker": scheduler.pause_eval_broker,
        "PreemptionConfig": {
            "SystemSchedulerEnabled": preemption.system_scheduler_enabled,
            "SysBatchSchedulerEnabled": preemption.sysbatch_scheduler_enabled,
            "BatchSchedulerEnabled": preemption.batch_scheduler_enabled,
            "ServiceSchedulerEnabled": preemption.service_scheduler_enabled,
            **(
                {"PriorityDelta": preemption.priority_delta}
                if preemption.priority_delta != PRIORITY_DELTA_DEFAULT
                else {}
            ),
        },
    }
