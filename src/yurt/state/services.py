"""The table of service registrations."""

from __future__ import annotations

from yurt.model.job import JobKey
from yurt.model.service_registration import ServiceRegistration
from yurt.model.wire import AllocID, JobID
from yurt.state.grouped import Grouped
from yurt.state.table import Table
from yurt.state.watches import Watches


class Services(Table[str, ServiceRegistration]):
    """Service registrations by id, with indexes by name, allocation and job."""

    def __init__(self, watches: Watches) -> None:
        super().__init__("services", watches)
        self._by_name: Grouped[tuple[str, str], str] = Grouped()
        self._by_alloc: Grouped[AllocID, str] = Grouped()
        self._by_job: Grouped[JobKey, str] = Grouped()

    def named(self, namespace: str, name: str) -> list[ServiceRegistration]:
        """The instances of a service."""
        return [self._rows[key] for key in self._by_name.of((namespace, name))]

    def of_alloc(self, alloc_id: AllocID) -> list[ServiceRegistration]:
        """The services of an allocation."""
        return [self._rows[key] for key in self._by_alloc.of(alloc_id)]

    def of_job(self, key: JobKey) -> list[ServiceRegistration]:
        """The services of a job."""
        return [self._rows[service_id] for service_id in self._by_job.of(key)]

    def put(self, key: str, row: ServiceRegistration, index: int) -> None:
        """Set one registration; one that stays of the same service keeps its place among the others."""
        old = self._rows.get(key)
        if old is not None and _owners(old) != _owners(row):
            self._unindex(old)
        self._by_name.add((row.namespace, row.service_name), key)
        self._by_alloc.add(row.alloc_id, key)
        self._by_job.add(JobKey(row.namespace, row.job_id), key)
        super().put(key, row, index)

    def delete(self, key: str, index: int) -> ServiceRegistration | None:
        """Remove one registration."""
        row = super().delete(key, index)
        if row is not None:
            self._unindex(row)
        return row

    def drop_alloc(self, alloc_id: AllocID, index: int) -> None:
        """Remove the services of an allocation that has ended."""
        for key in list(self._by_alloc.of(alloc_id)):
            self.delete(key, index)

    def _unindex(self, row: ServiceRegistration) -> None:
        self._by_name.discard((row.namespace, row.service_name), row.id)
        self._by_alloc.discard(row.alloc_id, row.id)
        self._by_job.discard(JobKey(row.namespace, row.job_id), row.id)


def _owners(row: ServiceRegistration) -> tuple[str, str, AllocID, JobID]:
    return row.namespace, row.service_name, row.alloc_id, row.job_id
