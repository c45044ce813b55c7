"""Finding a namespace, a quota or a node pool by a prefix of its name."""

from collections.abc import Sequence
from typing import Protocol, TypeVar

from yurt.cli.command import Session
from yurt.cli.errors import CommandError, failing_as
from yurt.cli.layout import table
from yurt.sdk import namespaces, node_pools, quotas
from yurt.sdk.namespaces import Namespace
from yurt.sdk.node_pools import NodePool
from yurt.sdk.quotas import Quota


class Named(Protocol):
    """Something with a name and a description."""

    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...


NamedT = TypeVar("NamedT", bound=Named)


def find_namespace(session: Session, text: str) -> Namespace:
    """Find a namespace; an exact name wins over a prefix."""
    with failing_as("Error retrieving namespaces"):
        found = namespaces.listing(session.client, prefix=text).value
    not_found = f'Error retrieving namespaces: Namespace "{text}" matched no namespaces'
    return _choose(found, text, not_found, "Prefix matched multiple namespaces")


def find_pool(session: Session, text: str) -> NodePool:
    """Find a node pool; an exact name wins over a prefix."""
    with failing_as("Error retrieving node pool"):
        found = node_pools.listing(session.client, prefix=text).value
    not_found = f'Error retrieving node pool: No node pool with prefix "{text}" found'
    return _choose(found, text, not_found, "Prefix matched multiple node pools")


def find_quota(session: Session, text: str) -> Quota:
    """Find a quota; an exact name wins over a prefix."""
    with failing_as("Error retrieving quota"):
        found = quotas.listing(session.client, prefix=text).value
    not_found = f'Error retrieving quota: Quota "{text}" matched no quotas'
    return _choose(found, text, not_found, "Prefix matched multiple quotas")


def _choose(found: Sequence[NamedT], text: str, not_found: str, several: str) -> NamedT:
    exact = [entry for entry in found if entry.name == text]
    chosen = exact or list(found)
    if not chosen:
        raise CommandError(not_found)
    if len(chosen) > 1:
        raise CommandError(f"{several}\n\n{name_table(chosen)}")
    return chosen[0]


def name_table(entries: Sequence[Named]) -> str:
    """List names and descriptions."""
    rows = [[entry.name, entry.description] for entry in entries]
    return table([["Name", "Description"], *rows])
