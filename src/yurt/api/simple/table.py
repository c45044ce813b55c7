"""The routes of the simple dialect."""

from __future__ import annotations

from yurt.api.deps import Deps
from yurt.api.routes import RouteTable
from yurt.api.simple.jobs import JobHandlers
from yurt.api.simple.nodes import NodeHandlers
from yurt.api.simple.templates import TemplateHandlers
from yurt.server.commands.job_templates import JobTemplateCommands


def simple_routes(deps: Deps) -> RouteTable:
    """Every route that a server serves in the simple dialect."""
    templates = JobTemplateCommands(deps.server.context)
    routes = (
        *NodeHandlers(deps).routes(),
        *JobHandlers(deps, templates).routes(),
        *TemplateHandlers(templates).routes(),
    )
    authority = deps.server.authority
    return RouteTable(
        routes,
        region=deps.info.region,
        metrics=deps.metrics,
        authority=authority if authority.is_enabled else None,
    )
