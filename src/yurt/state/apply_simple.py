"""Applying what only the simple dialect has: job templates, and deliveries to push nodes."""

from __future__ import annotations

from typing import assert_never

from msgspec.structs import replace

from yurt.state import simple_entries as entries
from yurt.state.state import State


def apply_simple_entry(state: State, index: int, entry: entries.SimpleEntry) -> bool | None:
    """Apply one such entry; see `yurt.state.apply`."""
    outcome: bool | None = None
    match entry:
        case entries.UpsertJobTemplate(template=template):
            state.job_templates.put(template.template_id, replace(template, modify_index=index), index)
        case entries.DeleteJobTemplate(template_id=template_id):
            outcome = state.job_templates.delete(template_id, index) is not None
        case entries.RecordDeliveries(deliveries=deliveries):
            for delivery in deliveries:
                # A node that was forgotten meanwhile gets nothing.
                if delivery.node_id in state.nodes:
                    state.deliveries.put(delivery.alloc_id, replace(delivery, modify_index=index), index)
        case entries.ForgetDeliveries(alloc_ids=alloc_ids):
            for alloc_id in alloc_ids:
                state.deliveries.delete(alloc_id, index)
        case _:
            assert_never(entry)
    return outcome
