"""What nodes say to a job."""

from yurt.sdk.wire import Record


class NodeVerdict(Record, frozen=True):
    """What one node says to one more instance of a group."""

    node_id: str = ""
    node_name: str = ""
    verdict: str = ""
    rule: str = ""
    found: str | None = None
    wanted: str | None = None
    scores: dict[str, float] = {}
    score: float = 0.0


class Placements(Record, frozen=True):
    """What all nodes say, by group."""

    job_id: str = ""
    namespace: str = ""
    job_version: int = 0
    groups: dict[str, tuple[NodeVerdict, ...]] = {}
    is_truncated: bool = False
