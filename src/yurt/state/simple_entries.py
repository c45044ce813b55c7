"""The entries of the log that only the simple dialect has."""

from __future__ import annotations

from typing import TypeAlias

from yurt.model.deliveries import Delivery
from yurt.model.simple.templates import JobTemplate, TemplateID
from yurt.model.wire import AllocID
from yurt.state.entry_base import EntryBase


class UpsertJobTemplate(EntryBase, frozen=True, kw_only=True):
    """A job template is new or replaced."""

    template: JobTemplate


class DeleteJobTemplate(EntryBase, frozen=True, kw_only=True):
    """A job template is forgotten."""

    template_id: TemplateID


class RecordDeliveries(EntryBase, frozen=True, kw_only=True):
    """Push nodes are about to be given allocations, or have taken them."""

    deliveries: tuple[Delivery, ...]


class ForgetDeliveries(EntryBase, frozen=True, kw_only=True):
    """Allocations are gone from push nodes, or were never there."""

    alloc_ids: tuple[AllocID, ...]


SimpleEntry: TypeAlias = UpsertJobTemplate | DeleteJobTemplate | RecordDeliveries | ForgetDeliveries
"""What only the simple dialect has."""
