"""The routes of Nomad's dialect."""

from __future__ import annotations

from yurt.api.deps import Deps
from yurt.api.routes import RouteTable
from yurt.api.v1.agent import AgentHandlers
from yurt.api.v1.allocations import AllocationHandlers
from yurt.api.v1.client_fs import ClientFsHandlers
from yurt.api.v1.evaluations import EvaluationHandlers
from yurt.api.v1.jobs import JobHandlers
from yurt.api.v1.nodes import NodeHandlers
from yurt.api.v1.operator import OperatorHandlers


def v1_routes(deps: Deps) -> RouteTable:
    """Every route of /v1."""
    return RouteTable(
        (
            *JobHandlers(deps).routes(),
            *AllocationHandlers(deps).routes(),
            *EvaluationHandlers(deps).routes(),
            *NodeHandlers(deps).routes(),
            *ClientFsHandlers(deps).routes(),
            *AgentHandlers(deps).routes(),
            *OperatorHandlers(deps).routes(),
        )
    )
