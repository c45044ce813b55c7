"""A delivery: an allocation that a push node was given, or may have been."""

from __future__ import annotations

import msgspec

from yurt.model.wire import AllocID, Nanoseconds, NodeID


class Delivery(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """What the servers know about an allocation on a push node, from before it is first sent until the
    node has confirmed that it is gone: it outlives the allocation's own record.
    """

    alloc_id: AllocID
    node_id: NodeID
    # How many tasks a deletion has to wait for, and the host ports that are taken until then.
    tasks: int = 1
    ports: tuple[int, ...] = ()
    accepted_at: Nanoseconds = 0
    modify_index: int = 0

    @property
    def is_accepted(self) -> bool:
        """Whether the node has said that it took the allocation."""
        return self.accepted_at > 0
