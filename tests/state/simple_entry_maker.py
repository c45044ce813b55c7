"""Random but valid entries about job templates and deliveries to push nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from yurt.model.deliveries import Delivery
from yurt.model.simple.templates import JobTemplate, TemplateID
from yurt.state import simple_entries

if TYPE_CHECKING:
    from tests.state.entry_maker import EntryMaker

_TEMPLATES = ("t1", "t2", "t3")


class SimpleEntryMaker:
    """Makes such entries for another maker's cluster."""

    def __init__(self, maker: EntryMaker) -> None:
        self._cluster = maker.cluster
        self._choices = maker.choices

    @property
    def makers(self) -> tuple[Callable[[], simple_entries.SimpleEntry], ...]:
        """A function for each kind of entry."""
        return (
            self.upsert_job_template,
            self.delete_job_template,
            self.record_deliveries,
            self.record_deliveries,
            self.forget_deliveries,
        )

    def upsert_job_template(self) -> simple_entries.UpsertJobTemplate:
        now = self._cluster.now
        template = JobTemplate(
            template_id=TemplateID(self._choices.pick(_TEMPLATES)),
            name=self._choices.pick(("web", "db")),
            task_groups=[{"name": "g", "tasks": []}],
            constraints={"region": "r"},
            created_at=now,
            updated_at=now,
        )
        return simple_entries.UpsertJobTemplate(at=now, template=template)

    def delete_job_template(self) -> simple_entries.DeleteJobTemplate:
        template_id = TemplateID(self._choices.pick(_TEMPLATES))
        return simple_entries.DeleteJobTemplate(at=self._cluster.now, template_id=template_id)

    def record_deliveries(self) -> simple_entries.RecordDeliveries:
        allocs = self._choices.some(list(self._cluster.state.allocs)[:12])
        accepted_at = self._choices.pick((0, self._cluster.now))
        deliveries = tuple(
            Delivery(alloc_id=alloc.id, node_id=alloc.node_id, ports=(80,), accepted_at=accepted_at)
            for alloc in allocs
        )
        return simple_entries.RecordDeliveries(at=self._cluster.now, deliveries=deliveries)

    def forget_deliveries(self) -> simple_entries.ForgetDeliveries:
        known = [delivery.alloc_id for delivery in self._cluster.state.deliveries]
        return simple_entries.ForgetDeliveries(
            at=self._cluster.now, alloc_ids=tuple(self._choices.some(known[:12]))
        )
