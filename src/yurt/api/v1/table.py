"""The routes of Nomad's dialect."""

from __future__ import annotations

from yurt.api.deps import Deps
from yurt.api.routes import RouteTable
from yurt.api.v1.absent import AbsentHandlers
from yurt.api.v1.acl_auth_methods import AclAuthMethodHandlers
from yurt.api.v1.acl_login import AclLoginHandlers
from yurt.api.v1.acl_policies import AclPolicyHandlers
from yurt.api.v1.acl_roles import AclRoleHandlers
from yurt.api.v1.acl_tokens import AclTokenHandlers
from yurt.api.v1.agent import AgentHandlers
from yurt.api.v1.allocations import AllocationHandlers
from yurt.api.v1.client import ClientHandlers
from yurt.api.v1.client_fs import ClientFsHandlers
from yurt.api.v1.client_snapshot import ClientSnapshotHandlers
from yurt.api.v1.deployments import DeploymentHandlers
from yurt.api.v1.evaluations import EvaluationHandlers
from yurt.api.v1.events import EventHandlers
from yurt.api.v1.exec_sessions import ExecHandlers
from yurt.api.v1.host_volumes import HostVolumeHandlers
from yurt.api.v1.job_changes import JobChangeHandlers
from yurt.api.v1.job_parse import JobParseHandlers
from yurt.api.v1.job_plan import JobPlanHandlers
from yurt.api.v1.job_reads import JobReadHandlers
from yurt.api.v1.job_statuses import JobStatusesHandlers
from yurt.api.v1.job_versions import JobVersionHandlers
from yurt.api.v1.jobs import JobHandlers
from yurt.api.v1.keyring import KeyringHandlers
from yurt.api.v1.metrics import MetricsHandlers
from yurt.api.v1.monitor import MonitorHandlers
from yurt.api.v1.monitor_export import MonitorExportHandlers
from yurt.api.v1.namespaces import NamespaceHandlers
from yurt.api.v1.node_introductions import NodeIntroductionHandlers
from yurt.api.v1.node_pools import NodePoolHandlers
from yurt.api.v1.node_relay import NodeRelay
from yurt.api.v1.nodes import NodeHandlers
from yurt.api.v1.openapi import OpenApiHandlers
from yurt.api.v1.operator import OperatorHandlers
from yurt.api.v1.placements import PlacementHandlers
from yurt.api.v1.quotas import QuotaHandlers
from yurt.api.v1.scaling import ScalingHandlers
from yurt.api.v1.search import SearchHandlers
from yurt.api.v1.services import ServiceHandlers
from yurt.api.v1.system import SystemHandlers
from yurt.api.v1.tunnels import TunnelHandlers
from yurt.api.v1.ui import UiHandlers
from yurt.api.v1.variables import VariableHandlers
from yurt.api.v1.volume_claims import VolumeClaimHandlers


def v1_routes(deps: Deps) -> RouteTable:
    """Every route of /v1. Among those of one job, actions come before the route that takes any id."""
    jobs, openapi = JobHandlers(deps), OpenApiHandlers()
    volumes = HostVolumeHandlers(deps)
    relay = NodeRelay(deps.node, deps.peers_tls)
    routes = (
        *jobs.collection_routes(),
        *JobParseHandlers(deps).routes(),
        *JobStatusesHandlers(deps).routes(),
        *JobReadHandlers(deps).routes(),
        *JobVersionHandlers(deps).routes(),
        *JobPlanHandlers(deps).routes(),
        *JobChangeHandlers(deps).routes(),
        *PlacementHandlers(deps).routes(),
        *relay.routes(ExecHandlers(deps).routes()),
        *relay.routes(TunnelHandlers(deps).routes()),
        *jobs.routes(),
        *relay.routes(AllocationHandlers(deps).routes()),
        *EvaluationHandlers(deps).routes(),
        *DeploymentHandlers(deps).routes(),
        *NodePoolHandlers(deps).routes(),
        *NodeHandlers(deps).routes(),
        *NamespaceHandlers(deps).routes(),
        *ServiceHandlers(deps).routes(),
        *ScalingHandlers(deps).routes(),
        *SearchHandlers(deps).routes(),
        *relay.routes(ClientFsHandlers(deps).routes()),
        *ClientSnapshotHandlers(deps.node_agent, is_open=not deps.server.authority.is_enabled).routes(),
        *relay.routes(ClientHandlers(deps).routes()),
        *AgentHandlers(deps).routes(),
        *relay.routes(MonitorHandlers(deps).routes()),
        *relay.routes(MonitorExportHandlers(deps).routes()),
        *OperatorHandlers(deps).routes(),
        *KeyringHandlers(deps).routes(),
        *VariableHandlers(deps).routes(),
        *QuotaHandlers(deps).routes(),
        *SystemHandlers(deps).routes(),
        *EventHandlers(deps).routes(),
        *MetricsHandlers(deps).routes(),
        *AclPolicyHandlers(deps).routes(),
        *AclTokenHandlers(deps).routes(),
        *AclRoleHandlers(deps).routes(),
        *AclAuthMethodHandlers(deps).routes(),
        *AclLoginHandlers(deps).routes(),
        *NodeIntroductionHandlers(deps).routes(),
        *volumes.routes(),
        *VolumeClaimHandlers(deps).routes(),
        *AbsentHandlers(deps, volumes).routes(),
        *UiHandlers().routes(),
        *openapi.routes(),
    )
    openapi.describe(routes)
    authority = deps.server.authority
    return RouteTable(
        routes,
        region=deps.info.region,
        metrics=deps.metrics,
        authority=authority if authority.is_enabled else None,
    )
