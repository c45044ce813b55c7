"""Everything that people and their tools can ask of the servers, besides running jobs."""

from __future__ import annotations

from yurt.server.commands.acl import AclCommands
from yurt.server.commands.acl_auth import AclAuthCommands
from yurt.server.commands.acl_tokens import AclTokenCommands
from yurt.server.commands.allocs import AllocCommands
from yurt.server.commands.deployments import DeploymentCommands
from yurt.server.commands.dispatch import DispatchCommands
from yurt.server.commands.evals import EvalCommands
from yurt.server.commands.job_versions import JobVersionCommands
from yurt.server.commands.jobs import JobCommands
from yurt.server.commands.namespaces import NamespaceCommands
from yurt.server.commands.node_operations import NodeOperations
from yurt.server.commands.node_pools import NodePoolCommands
from yurt.server.commands.operator import OperatorCommands
from yurt.server.commands.periodic import PeriodicCommands
from yurt.server.commands.quotas import QuotaCommands
from yurt.server.commands.scale import ScaleCommands
from yurt.server.commands.services import ServiceCommands
from yurt.server.commands.system import SystemCommands
from yurt.server.commands.variables import VariableCommands
from yurt.server.context import ServerContext
from yurt.server.settings import ServerSettings


class Commands:
    """The commands by what they are about."""

    def __init__(self, context: ServerContext, jobs: JobCommands, settings: ServerSettings) -> None:
        self.jobs = jobs
        self.job_versions = JobVersionCommands(context, jobs)
        self.dispatch = DispatchCommands(context, job_priority_max=settings.job_priority_max)
        self.periodic = PeriodicCommands(context)
        self.deployments = DeploymentCommands(context)
        self.scale = ScaleCommands(context, job_max_count=settings.job_max_count)
        self.evals = EvalCommands(context)
        self.allocs = AllocCommands(context)
        self.nodes = NodeOperations(context)
        self.node_pools = NodePoolCommands(context)
        self.namespaces = NamespaceCommands(context)
        self.services = ServiceCommands(context)
        self.operator = OperatorCommands(context)
        self.system = SystemCommands(context)
        self.acl = AclCommands(context)
        self.acl_tokens = AclTokenCommands(context, settings.acl.token_ttl)
        self.acl_auth = AclAuthCommands(context, settings.acl.token_ttl)
        self.variables = VariableCommands(context)
        self.quotas = QuotaCommands(context)
