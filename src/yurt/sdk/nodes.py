"""Calls about nodes."""

from collections.abc import Mapping

from yurt.sdk.client import Answer, Client
from yurt.sdk.transport import Param, path_segment
from yurt.sdk.types.allocs import Alloc
from yurt.sdk.types.nodes import HostStats, Node, NodeChanged, NodeMeta, NodeStub


def listing(client: Client, /, **params: Param) -> Answer[tuple[NodeStub, ...]]:
    """List nodes; `prefix`, `filter`, paging, `os` and `resources` may be given."""
    return client.get("/v1/nodes", tuple[NodeStub, ...], **params)


def read(client: Client, node_id: str) -> Answer[Node]:
    """Read a node by its full id."""
    return client.get(_path(node_id), Node)


def wait_past(client: Client, node_id: str, *, index: int, wait_s: float) -> Answer[Node]:
    """Read a node once it has changed since `index`, or after `wait_s`."""
    return client.wait_for_change(_path(node_id), Node, index=index, wait_s=wait_s)


def allocations(client: Client, node_id: str) -> Answer[tuple[Alloc, ...]]:
    """List the allocations of a node, in full."""
    return client.get(_path(node_id, "allocations"), tuple[Alloc, ...])


def allocations_past(client: Client, node_id: str, *, index: int, wait_s: float) -> Answer[tuple[Alloc, ...]]:
    """List the allocations of a node once they have changed since `index`, or after `wait_s`."""
    path = _path(node_id, "allocations")
    return client.wait_for_change(path, tuple[Alloc, ...], index=index, wait_s=wait_s)


def host_stats(client: Client, node_id: str) -> Answer[HostStats]:
    """Measure what a node's host uses."""
    return client.get("/v1/client/stats", HostStats, node_id=node_id)


def drain(
    client: Client,
    node_id: str,
    *,
    strategy: Mapping[str, object] | None,
    mark_eligible: bool,
    meta: Mapping[str, str],
) -> Answer[NodeChanged]:
    """Start a drain (`strategy` holds `Deadline` and `IgnoreSystemJobs`), or stop it with None."""
    body = {"NodeID": node_id, "DrainSpec": strategy, "MarkEligible": mark_eligible, "Meta": meta}
    return client.put(_path(node_id, "drain"), NodeChanged, body=body)


def set_eligibility(client: Client, node_id: str, *, eligible: bool) -> Answer[NodeChanged]:
    """Let the scheduler place work on a node, or not."""
    body = {"NodeID": node_id, "Eligibility": "eligible" if eligible else "ineligible"}
    return client.put(_path(node_id, "eligibility"), NodeChanged, body=body)


def read_meta(client: Client, node_id: str) -> Answer[NodeMeta]:
    """Read a node's metadata; an empty id means the agent that is asked."""
    return client.get("/v1/client/metadata", NodeMeta, node_id=node_id)


def apply_meta(client: Client, node_id: str, meta: Mapping[str, str | None]) -> Answer[NodeMeta]:
    """Set metadata; None unsets a key."""
    return client.post(
        "/v1/client/metadata", NodeMeta, body={"NodeID": node_id, "Meta": meta}, node_id=node_id
    )


def identity(client: Client, node_id: str) -> bytes:
    """Read the claims of a node's identity, as JSON: `{"Claims": {...}}`."""
    return client.get("/v1/client/identity", dict[str, object], node_id=node_id).body


def renew_identity(client: Client, node_id: str) -> None:
    """Have a node fetch a new identity."""
    client.send("PUT", "/v1/client/identity/renew", body={"NodeID": node_id}, node_id=node_id)


def evaluate(client: Client, node_id: str) -> Answer[NodeChanged]:
    """Have every job of a node looked at again."""
    return client.put(_path(node_id, "evaluate"), NodeChanged)


def purge(client: Client, node_id: str) -> Answer[NodeChanged]:
    """Forget a node; one that is alive registers again."""
    return client.put(_path(node_id, "purge"), NodeChanged)


def collect(client: Client, node_id: str = "") -> None:
    """Have a node delete all its allocations that are over; an empty id means the agent that is asked."""
    client.send("GET", "/v1/client/gc", node_id=node_id)


def _path(node_id: str, action: str = "") -> str:
    return f"/v1/node/{path_segment(node_id)}" + (f"/{action}" if action else "")
