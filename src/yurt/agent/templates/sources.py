"""What templates can ask for: services, variables and files, and how each is named in messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import msgspec

from yurt.model.service_registration import ServiceRegistration
from yurt.model.wire import AllocID, Nanoseconds


class TemplateVariable(msgspec.Struct, frozen=True, kw_only=True):
    """A variable of the cluster, decrypted."""

    namespace: str
    path: str
    items: dict[str, str] = {}
    create_index: int = 0
    modify_index: int = 0
    create_time: Nanoseconds = 0
    modify_time: Nanoseconds = 0


class ServiceQuery(msgspec.Struct, frozen=True):
    """The instances of a service."""

    namespace: str
    name: str


class ServicesQuery(msgspec.Struct, frozen=True):
    """All instances of all services of a namespace."""

    namespace: str


class VariableQuery(msgspec.Struct, frozen=True):
    """One variable."""

    namespace: str
    path: str


class VariablesQuery(msgspec.Struct, frozen=True):
    """The variables of a namespace whose paths begin alike; without their items."""

    namespace: str
    prefix: str


class ConsulKeyQuery(msgspec.Struct, frozen=True):
    """A key of Consul; an empty datacenter is that of its agent."""

    path: str
    datacenter: str = ""


class ConsulServiceQuery(msgspec.Struct, frozen=True):
    """The instances of a service in Consul that work, of one tag if it is given."""

    name: str
    tag: str = ""
    datacenter: str = ""


class ConsulInstance(msgspec.Struct, frozen=True, kw_only=True):
    """One instance of a service in Consul; without an address it is at its node's."""

    id: str
    name: str
    node: str
    node_id: str
    node_address: str
    address: str
    port: int
    tags: tuple[str, ...] = ()
    meta: tuple[tuple[str, str], ...] = ()


class FileQuery(msgspec.Struct, frozen=True):
    """The content of a file in the allocation's directory."""

    path: str


class OutsideFile(msgspec.Struct, frozen=True):
    """Found in place of a file that templates of the task may not read."""


class OwnedQuery(msgspec.Struct, frozen=True):
    """A query on behalf of one task: what it finds depends on what that task may read."""

    query: VariableQuery | VariablesQuery
    alloc_id: AllocID
    task: str


FollowedQuery: TypeAlias = ServiceQuery | ServicesQuery | OwnedQuery | ConsulKeyQuery | ConsulServiceQuery
"""What is asked of the servers, or of Consul; queries that all tasks may make are followed once for all."""

ClusterQuery: TypeAlias = (
    ServiceQuery | ServicesQuery | VariableQuery | VariablesQuery | ConsulKeyQuery | ConsulServiceQuery
)
Query: TypeAlias = ClusterQuery | FileQuery
Found: TypeAlias = (
    tuple[ServiceRegistration, ...]
    | tuple[TemplateVariable, ...]
    | tuple[ConsulInstance, ...]
    | TemplateVariable
    | OutsideFile
    | str
    | None
)
"""What a query found: instances, variables, one variable, the text of a file or key; None without any."""

Known: TypeAlias = Mapping[Query, Found]
"""What is known so far; a query that is not in it was not answered yet."""


def followed_query(query: ClusterQuery, *, alloc_id: AllocID, task: str) -> FollowedQuery:
    """How a query of one task is followed."""
    if isinstance(query, VariableQuery | VariablesQuery):
        return OwnedQuery(query, alloc_id, task)
    return query


class Wanted:
    """What one rendering asked for; `missing` names what it cannot do without."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self.used: set[Query] = set()
        self.missing: set[str] = set()

    def look_up(self, query: Query, name: str, *, must_exist: bool) -> Found:
        """What is known; None when that is nothing. What must exist and does not is noted as missing."""
        self.used.add(query)
        if query not in self._known:
            self.missing.add(name)
            return None
        found = self._known[query]
        if must_exist and (found is None or found == ()):
            self.missing.add(name)
        return found
