"""Calls about scaling policies."""

from typing import Any

from yurt.sdk.client import Answer, Client
from yurt.sdk.transport import Param, path_segment
from yurt.sdk.wire import Record


class ScalingPolicy(Record, frozen=True):
    """A scaling policy; lists leave all but id, type and target out."""

    id: str = ""
    enabled: bool = False
    type: str = ""
    target: dict[str, str] = {}
    min: int = 0
    max: int = 0
    policy: dict[str, Any] = {}


def listing(client: Client, /, **params: Param) -> Answer[tuple[ScalingPolicy, ...]]:
    """List policies; `job`, `type` and `prefix` may be given."""
    return client.get("/v1/scaling/policies", tuple[ScalingPolicy, ...], **params)


def read(client: Client, policy_id: str) -> Answer[ScalingPolicy]:
    """Read a policy."""
    return client.get(f"/v1/scaling/policy/{path_segment(policy_id)}", ScalingPolicy)
