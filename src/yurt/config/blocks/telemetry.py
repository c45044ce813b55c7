"""What an agent measures and who may read it: `telemetry`."""

from collections.abc import Mapping
from typing import ClassVar

from yurt.config.blocks.base import Block, Seconds, unserved

CIRCONUS_KEYS = tuple(
    f"circonus_{name}"
    for name in (
        "api_token",
        "api_app",
        "api_url",
        "broker_id",
        "broker_select_tag",
        "check_display_name",
        "check_force_metric_activation",
        "check_id",
        "check_instance_id",
        "check_search_tag",
        "check_tags",
        "submission_interval",
        "submission_url",
    )
)


class TelemetryConfig(Block, frozen=True, kw_only=True):
    """`telemetry`: metrics are read from the agent, never pushed by it."""

    UNSERVED: ClassVar[Mapping[str, tuple[str, ...]]] = unserved(
        "statsite_address",
        "statsd_address",
        "datadog_address",
        "datadog_tags",
        "disable_quota_utilization_metrics",
        "disable_rpc_rate_metrics_labels",
        *CIRCONUS_KEYS,
    )

    in_memory_collection_interval_s: Seconds = 10.0
    in_memory_retention_period_s: Seconds = 60.0
    collection_interval_s: Seconds = 1.0
    prometheus_metrics: bool = False
    publish_allocation_metrics: bool = False
    publish_node_metrics: bool = False
    include_alloc_metadata_in_metrics: bool = False
    allowed_metadata_keys_in_metrics: tuple[str, ...] = ()
    disable_hostname: bool = False
    use_node_name: bool = False
    prefix_filter: tuple[str, ...] = ()
    filter_default: bool = True
    disable_dispatched_job_summary_metrics: bool = False
    disable_allocation_hook_metrics: bool = False
