"""Applying what people and their tools ask for, besides running jobs."""

from __future__ import annotations

from typing import assert_never

from msgspec.structs import replace

from yurt.state import entries
from yurt.state.acl_entries import AclChange
from yurt.state.apply_acl import apply_acl_entry
from yurt.state.apply_job_versions import record_scaling, set_job_stability, tag_job_version
from yurt.state.apply_namespaces import (
    delete_namespaces,
    delete_node_pools,
    upsert_namespaces,
    upsert_node_pools,
)
from yurt.state.apply_quotas import apply_quota_entry
from yurt.state.apply_services import delete_services, upsert_services
from yurt.state.job_status import reconcile_summaries
from yurt.state.quota_entries import QuotaEntry
from yurt.state.state import AUTOPILOT_CONFIGURATION_KEY, SCHEDULER_CONFIGURATION_KEY, State


def apply_operator_entry(state: State, index: int, entry: entries.OperatorEntry) -> bool | None:
    """Apply one such entry; see `yurt.state.apply`."""
    if isinstance(entry, AclChange):
        return apply_acl_entry(state, index, entry)
    if isinstance(entry, QuotaEntry):
        return apply_quota_entry(state, index, entry)
    outcome: bool | None = None
    match entry:
        case entries.SetSchedulerConfiguration():
            outcome = _set_scheduler_configuration(state, index, entry)
        case entries.SetAutopilotConfiguration():
            outcome = _set_autopilot_configuration(state, index, entry)
        case entries.SetJobStability():
            outcome = set_job_stability(state, index, entry)
        case entries.TagJobVersion():
            outcome = tag_job_version(state, index, entry)
        case entries.RecordScaling():
            record_scaling(state, index, entry)
        case entries.ReconcileSummaries():
            reconcile_summaries(state, index)
        case entries.UpsertNamespaces():
            upsert_namespaces(state, index, entry)
        case entries.DeleteNamespaces():
            delete_namespaces(state, index, entry)
        case entries.UpsertNodePools():
            upsert_node_pools(state, index, entry)
        case entries.DeleteNodePools():
            delete_node_pools(state, index, entry)
        case entries.UpsertServices():
            upsert_services(state, index, entry)
        case entries.DeleteServices():
            outcome = delete_services(state, index, entry)
        case _:
            assert_never(entry)
    return outcome


def _set_scheduler_configuration(state: State, index: int, entry: entries.SetSchedulerConfiguration) -> bool:
    old = state.scheduler_configuration
    if entry.check_index is not None and entry.check_index != old.modify_index:
        return False
    state.settings.put(
        SCHEDULER_CONFIGURATION_KEY,
        replace(entry.configuration, create_index=old.create_index or index, modify_index=index),
        index,
    )
    return True


def _set_autopilot_configuration(state: State, index: int, entry: entries.SetAutopilotConfiguration) -> bool:
    old = state.autopilot_configuration
    if entry.check_index is not None and entry.check_index != old.modify_index:
        return False
    state.autopilot.put(
        AUTOPILOT_CONFIGURATION_KEY,
        replace(entry.configuration, create_index=old.create_index or index, modify_index=index),
        index,
    )
    return True
