"""A running instance of a service, as others find it."""

from __future__ import annotations

from yurt.model.wire import DEFAULT_NAMESPACE, AllocID, JobID, NodeID, Wire


class ServiceRegistration(Wire, frozen=True, kw_only=True):
    """A running instance of a service."""

    id: str = ""
    service_name: str = ""
    namespace: str = DEFAULT_NAMESPACE
    node_id: NodeID = NodeID("")
    datacenter: str = ""
    job_id: JobID = JobID("")
    alloc_id: AllocID = AllocID("")
    tags: tuple[str, ...] | None = None
    address: str = ""
    port: int = 0
    create_index: int = 0
    modify_index: int = 0
