"""State: everything the servers know, as of one index of the log."""

from __future__ import annotations

from copy import copy

from yurt.model.autopilot import AutopilotConfiguration
from yurt.model.evaluation import Evaluation
from yurt.model.host_volume import DynamicVolume
from yurt.model.job import Job, JobKey
from yurt.model.namespace import Namespace
from yurt.model.node import Node
from yurt.model.node_pool import NodePool
from yurt.model.periodic_launch import PeriodicLaunch
from yurt.model.quota import QuotaSpec
from yurt.model.scheduler_configuration import SchedulerConfiguration
from yurt.model.simple.templates import JobTemplate, TemplateID
from yurt.model.volume_claim import VolumeClaim
from yurt.model.wire import ALL_NODE_POOL, DEFAULT_NAMESPACE, DEFAULT_NODE_POOL, NodeID
from yurt.state.acl import Acl
from yurt.state.allocs import Allocs
from yurt.state.columns import NodeColumns
from yurt.state.deliveries import Deliveries
from yurt.state.deployments import Deployments
from yurt.state.evals import Evals
from yurt.state.jobs import Jobs, JobSummaries
from yurt.state.nodes import Nodes
from yurt.state.quota_use import QuotaUses
from yurt.state.root_keys import RootKeys
from yurt.state.scaling import ScalingEvents, ScalingPolicies
from yurt.state.services import Services
from yurt.state.submissions import Submissions
from yurt.state.table import Table
from yurt.state.variables import Variables
from yurt.state.watches import Watches

SCHEDULER_CONFIGURATION_KEY = "scheduler"
AUTOPILOT_CONFIGURATION_KEY = "autopilot"


class News:
    """What the entries applied since the last look mean to the leader.

    A hint to look, never the only trace: everything here can be found again in State.
    """

    def __init__(self) -> None:
        self.evals: list[Evaluation] = []
        self.ready_nodes: list[Node] = []
        self.freed_nodes: dict[NodeID, None] = {}
        self.freed_quotas: list[str] = []


class State:
    """Everything the servers know, as of `index`. One thread owns it; only `apply` changes it."""

    def __init__(self) -> None:
        self.index = 0
        self.watches = Watches()
        self.columns = NodeColumns()
        self.nodes = Nodes(self.watches, self.columns)
        self.jobs = Jobs(self.watches)
        self.job_summaries = JobSummaries(self.watches)
        self.allocs = Allocs(self.watches, self.columns)
        self.evals = Evals(self.watches)
        self.deployments = Deployments(self.watches)
        self.namespaces: Table[str, Namespace] = Table("namespaces", self.watches)
        self.node_pools: Table[str, NodePool] = Table("node-pools", self.watches)
        self.settings: Table[str, SchedulerConfiguration] = Table("settings", self.watches)
        self.autopilot: Table[str, AutopilotConfiguration] = Table("autopilot", self.watches)
        self.periodic_launches: Table[JobKey, PeriodicLaunch] = Table("periodic-launches", self.watches)
        self.submissions = Submissions(self.watches)
        self.scaling_policies = ScalingPolicies(self.watches)
        self.scaling_events = ScalingEvents(self.watches)
        self.services = Services(self.watches)
        self.acl = Acl(self.watches)
        self.root_keys = RootKeys(self.watches)
        self.job_templates: Table[TemplateID, JobTemplate] = Table("job-templates", self.watches)
        self.deliveries = Deliveries(self.watches)
        self.variables = Variables(self.watches)
        self.quotas: Table[str, QuotaSpec] = Table("quotas", self.watches)
        self.host_volumes: Table[str, DynamicVolume] = Table("host-volumes", self.watches)
        self.volume_claims: Table[str, VolumeClaim] = Table("volume-claims", self.watches)
        self.columns.volume_of = self.host_volumes.get
        self.allocs.on_ended = self.services.drop_alloc
        self._news = News()
        self._put_builtins()

    @property
    def scheduler_configuration(self) -> SchedulerConfiguration:
        """How the cluster schedules."""
        return self.settings[SCHEDULER_CONFIGURATION_KEY]

    @property
    def autopilot_configuration(self) -> AutopilotConfiguration:
        """How the servers look after each other."""
        return self.autopilot[AUTOPILOT_CONFIGURATION_KEY]

    @property
    def quota_uses(self) -> QuotaUses:
        """What the allocations of namespaces with a quota use."""
        return self.allocs.quota_uses

    @property
    def news(self) -> News:
        """Where `apply` notes what the leader should look at."""
        return self._news

    def take_news(self) -> News:
        """Hand over the news since the last call."""
        news, self._news = self._news, News()
        news.freed_quotas = self.quota_uses.take_freed()
        return news

    def with_job(self, job: Job) -> State:
        """A State in which one job is another, or new: to try something out, never to be applied to.

        It shares everything else with this State, and is only good until this one changes.
        """
        other = copy(self)
        other.jobs = self.jobs.with_job(job)
        return other

    def become(self, other: State) -> None:
        """Take over everything `other` holds, which nobody watches or uses any more.

        Whoever holds this State keeps it, and whoever watches anything of it is woken.
        """
        watches = self.watches
        self.__dict__.update(other.__dict__)
        watches.hand_over(other.watches)

    def _put_builtins(self) -> None:
        """What every cluster has from the start; index 1 keeps these tables blockable."""
        self.namespaces.put(
            DEFAULT_NAMESPACE,
            Namespace(
                name=DEFAULT_NAMESPACE,
                description="Default shared namespace",
                create_index=1,
                modify_index=1,
            ),
            1,
        )
        for name, description in (
            (ALL_NODE_POOL, "Node pool with all nodes in the cluster."),
            (DEFAULT_NODE_POOL, "Default node pool."),
        ):
            self.node_pools.put(
                name, NodePool(name=name, description=description, create_index=1, modify_index=1), 1
            )
        self.settings.put(SCHEDULER_CONFIGURATION_KEY, SchedulerConfiguration(), 1)
        self.autopilot.put(AUTOPILOT_CONFIGURATION_KEY, AutopilotConfiguration(), 1)
