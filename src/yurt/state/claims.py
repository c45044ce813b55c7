"""What allocations hold exclusively on nodes: ports, cores, devices."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from yurt.model.alloc import Allocation
from yurt.model.wire import NodeID
from yurt.state.use import Claim, use_of


class Claims:
    """Holders of each claim, by node.

    A node's claims are gathered when they are first asked for, and kept current from then on: most
    nodes of most clusters are never asked about.
    """

    def __init__(self, allocs_of: Callable[[NodeID], Iterable[Allocation]]) -> None:
        self._allocs_of = allocs_of
        self._nodes: dict[NodeID, dict[Claim, int]] = {}

    def of(self, node_id: NodeID) -> Mapping[Claim, int]:
        """How many allocations whose tasks may still run hold each claim of a node; never 0."""
        held = self._nodes.get(node_id)
        if held is None:
            held = self._nodes[node_id] = {}
            for alloc in self._allocs_of(node_id):
                if not alloc.is_client_terminal:
                    change_claims(held, use_of(alloc.resources).claims, 1)
        return held

    def change(self, node_id: NodeID, claims: Iterable[Claim], by: int) -> None:
        """Count `claims` of a node as held `by` times more."""
        held = self._nodes.get(node_id)
        if held is not None:
            change_claims(held, claims, by)


def change_claims(held: dict[Claim, int], claims: Iterable[Claim], by: int) -> None:
    """Count `claims` in `held` as held `by` times more."""
    for claim in claims:
        holders = held.get(claim, 0) + by
        if holders:
            held[claim] = holders
        else:
            held.pop(claim, None)
