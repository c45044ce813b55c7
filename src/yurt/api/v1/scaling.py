"""/v1/scaling: what autoscalers are told to do."""

from __future__ import annotations

from yurt.api import needs
from yurt.api.answer import Answer
from yurt.api.call import ALL_NAMESPACES, Call
from yurt.api.deps import Deps
from yurt.api.parameters import BLOCKING, PREFIX, text
from yurt.api.routes import Route
from yurt.api.rows import Rows
from yurt.api.v1.found import found
from yurt.model.acl.permissions import Permissions
from yurt.model.policies import ScalingPolicy
from yurt.model.wire import Wire


class ScalingPolicyStub(Wire, frozen=True, kw_only=True):
    """A scaling policy in short."""

    id: str
    enabled: bool
    type: str
    target: dict[str, str] | None
    create_index: int
    modify_index: int


class ScalingHandlers:
    """The handlers of /v1/scaling."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    def routes(self) -> tuple[Route, ...]:
        """Their part of the route table."""
        return (
            Route(
                path="/v1/scaling/policies",
                handlers={"GET": self.list},
                summary="List scaling policies",
                takes=(
                    PREFIX,
                    *BLOCKING,
                    text("job", "Only those of this job."),
                    text("type", "Only those of this type."),
                ),
                needs=needs.Checked(
                    told="ns:list-scaling-policies, or list-jobs and read-job", check=_may_list
                ),
                response=list[ScalingPolicyStub],
            ),
            Route(
                path="/v1/scaling/policy/{policy_id}",
                handlers={"GET": self.read},
                summary="Read a scaling policy",
                takes=BLOCKING,
                needs=needs.Checked(
                    told="ns:read-scaling-policy, or list-jobs and read-job", check=self._may_read
                ),
                response=ScalingPolicy,
            ),
        )

    async def list(self, call: Call) -> Answer:
        """GET /v1/scaling/policies."""
        namespace, prefix = call.namespace, call.query.get("prefix", "")
        permissions = call.permissions
        job_id, kind = call.query.get("job", ""), call.query.get("type", "")
        table = self._deps.state.scaling_policies

        def is_meant(policy: ScalingPolicy) -> bool:
            target = policy.target or {}
            return (
                namespace in (ALL_NAMESPACES, target.get("Namespace"))
                and _may(permissions, target.get("Namespace", ""), "list-scaling-policies")
                and policy.id.startswith(prefix)
                and job_id in ("", target.get("Job"))
                and policy.type.startswith(kind)
            )

        def read() -> tuple[int, Rows]:
            return max(table.index, 1), Rows([policy for policy in table if is_meant(policy)], policy_stub)

        return await self._deps.read(call, [("scaling-policies", None)], read)

    async def _may_read(self, call: Call) -> bool:
        policy = self._deps.state.scaling_policies.get(call.path["policy_id"])
        target = (policy.target if policy is not None else None) or {}
        return _may(call.permissions, target.get("Namespace", call.namespace), "read-scaling-policy")

    async def read(self, call: Call) -> Answer:
        """GET /v1/scaling/policy/<id>."""
        policy_id = call.path["policy_id"]
        table = self._deps.state.scaling_policies

        def read() -> tuple[int, ScalingPolicy | None]:
            policy = table.get(policy_id)
            return (policy.modify_index if policy is not None else max(table.index, 1)), policy

        return found(await self._deps.read(call, [("scaling-policies", policy_id)], read), "policy not found")


async def _may_list(call: Call) -> bool:
    if call.namespace != ALL_NAMESPACES:
        return _may(call.permissions, call.namespace, "list-scaling-policies")
    return call.permissions.allows_somewhere("list-scaling-policies", "read-job")


def _may(permissions: Permissions, namespace: str, capability: str) -> bool:
    """Whether a capability is granted, or the two that stand in for it."""
    return permissions.allows(namespace, capability) or (
        permissions.allows(namespace, "list-jobs") and permissions.allows(namespace, "read-job")
    )


def policy_stub(policy: ScalingPolicy) -> ScalingPolicyStub:
    """Show a scaling policy in short."""
    return ScalingPolicyStub(
        id=policy.id,
        enabled=policy.enabled,
        type=policy.type,
        target=policy.target,
        create_index=policy.create_index,
        modify_index=policy.modify_index,
    )
