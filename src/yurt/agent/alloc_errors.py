"""Why a node cannot give what is asked about an allocation."""

from __future__ import annotations

from yurt.errors import YurtError
from yurt.model.wire import AllocID


class AllocUnknown(YurtError):
    """The node has no such allocation."""

    def __init__(self, alloc_id: AllocID) -> None:
        super().__init__(f'Unknown allocation "{alloc_id}"')
        self.alloc_id = alloc_id


class SnapshotRefused(YurtError):
    """Somebody asks for an allocation's data who was not sent by the servers."""

    def __init__(self) -> None:
        super().__init__("Permission denied")
