"""Calls about evaluations."""

from yurt.sdk.client import Answer, Client
from yurt.sdk.transport import Param, path_segment
from yurt.sdk.types.allocs import AllocStub
from yurt.sdk.types.evals import EvalCount, EvalsDeleted, Evaluation


def listing(client: Client, /, **params: Param) -> Answer[tuple[Evaluation, ...]]:
    """List evaluations; `prefix`, `filter`, `job`, `status`, paging and `reverse` may be given."""
    return client.get("/v1/evaluations", tuple[Evaluation, ...], **params)


def read(client: Client, eval_id: str, *, related: bool = False) -> Answer[Evaluation]:
    """Read an evaluation by its full id."""
    return client.get(_path(eval_id), Evaluation, related=related)


def wait_past(client: Client, eval_id: str, *, index: int, wait_s: float) -> Answer[Evaluation]:
    """Read an evaluation once it has changed since `index`, or after `wait_s`."""
    return client.wait_for_change(_path(eval_id), Evaluation, index=index, wait_s=wait_s)


def allocations(client: Client, eval_id: str) -> Answer[tuple[AllocStub, ...]]:
    """List the allocations that an evaluation made or changed."""
    return client.get(f"{_path(eval_id)}/allocations", tuple[AllocStub, ...])


def count(client: Client, /, **params: Param) -> int:
    """Count evaluations; `filter` and `prefix` may be given."""
    return client.get("/v1/evaluations/count", EvalCount, **params).value.count


def delete(client: Client, *, eval_ids: tuple[str, ...] = (), filter_expression: str = "") -> int:
    """Delete evaluations by id or by filter, and say how many were deleted."""
    body: dict[str, object] = {"EvalIDs": eval_ids} if eval_ids else {"Filter": filter_expression}
    return client.delete("/v1/evaluations", EvalsDeleted, body=body).value.count


def _path(eval_id: str) -> str:
    return f"/v1/evaluation/{path_segment(eval_id)}"
