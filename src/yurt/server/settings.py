"""What a server is told at its start."""

from __future__ import annotations

from pathlib import Path

import msgspec

from yurt.model.acl.token import TokenLimits
from yurt.model.job import (
    BATCH,
    CORE,
    JOB_PRIORITY_DEFAULT,
    JOB_PRIORITY_MAX,
    SERVICE,
    SYSBATCH,
    SYSTEM,
)
from yurt.model.job_submission import SUBMISSION_BYTES_MAX
from yurt.model.job_versions import JOB_VERSIONS_KEPT
from yurt.model.scheduler_configuration import SchedulerConfiguration
from yurt.model.times import HOUR_NS, MINUTE_NS
from yurt.model.wire import Nanoseconds
from yurt.scheduler.kinds.core import Thresholds
from yurt.server.event_broker import EVENT_BATCHES_KEPT
from yurt.server.heartbeats import HEARTBEAT_GRACE_S, MAX_HEARTBEATS_PER_SECOND, MIN_HEARTBEAT_TTL_S
from yurt.server.plan_rejections import RejectionLimits
from yurt.server.snapshots import SNAPSHOT_INTERVAL_S, SNAPSHOT_THRESHOLD, TRAILING_ENTRIES

GC_INTERVAL_S = 300.0
WARN = "warn"
ROOT_KEY_GC_INTERVAL_S = 600.0
# Nodes that were up when the leader changed get this long to be heard by the new one.
FAILOVER_HEARTBEAT_TTL_S = 30.0


class AclSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Whether access is controlled, and how long tokens with an end may live."""

    is_enabled: bool = False
    token_ttl: TokenLimits = TokenLimits(ttl_min=MINUTE_NS, ttl_max=24 * HOUR_NS)


class SearchLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How much a search gives: so many ids of a kind, so many names that a text is part of."""

    is_fuzzy: bool = True
    ids_max: int = 20
    names_max: int = 100
    text_length_min: int = 2


class IntroductionSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Whether new nodes must be introduced, and how long introductions are good for."""

    enforcement: str = WARN
    default_ttl: Nanoseconds = 5 * MINUTE_NS
    ttl_max: Nanoseconds = 30 * MINUTE_NS


class ServerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What a server is told at its start. Without `data_dir` it keeps nothing."""

    name: str
    region: str = "global"
    datacenter: str = "dc1"
    data_dir: Path | None = None
    enabled_schedulers: tuple[str, ...] = (SERVICE, BATCH, SYSTEM, SYSBATCH, CORE)
    min_heartbeat_ttl_s: float = MIN_HEARTBEAT_TTL_S
    heartbeat_grace_s: float = HEARTBEAT_GRACE_S
    failover_heartbeat_ttl_s: float = FAILOVER_HEARTBEAT_TTL_S
    max_heartbeats_per_second: float = MAX_HEARTBEATS_PER_SECOND
    snapshot_interval_s: float = SNAPSHOT_INTERVAL_S
    snapshot_threshold: int = SNAPSHOT_THRESHOLD
    trailing_entries: int = TRAILING_ENTRIES
    gc_interval_s: float = GC_INTERVAL_S
    gc_thresholds: Thresholds = Thresholds()
    job_max_count: int = 50_000
    job_priority_default: int = JOB_PRIORITY_DEFAULT
    job_priority_max: int = JOB_PRIORITY_MAX
    job_source_bytes_max: int = SUBMISSION_BYTES_MAX
    job_versions_kept: int = JOB_VERSIONS_KEPT
    # When a node that plans keep failing on is set aside; None for never.
    plan_rejections: RejectionLimits | None = None
    event_batches_kept: int = EVENT_BATCHES_KEPT
    search: SearchLimits = SearchLimits()
    acl: AclSettings = AclSettings()
    introductions: IntroductionSettings = IntroductionSettings()
    # What a cluster begins with; afterwards only the API changes it.
    first_scheduler_configuration: SchedulerConfiguration = SchedulerConfiguration()
    rpc_advertise: str = "127.0.0.1:4647"
    # Who signs identities, for those who check them from outside; empty for nobody in particular.
    oidc_issuer: str = ""
    root_key_gc_interval_s: float = ROOT_KEY_GC_INTERVAL_S
    root_key_gc_threshold: Nanoseconds = HOUR_NS
    root_key_rotation_threshold: Nanoseconds = 30 * 24 * HOUR_NS
