"""Random but valid entries: what servers could propose, given a State."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Protocol, TypeVar

from msgspec.structs import replace

from tests.state.acl_entry_maker import AclEntryMaker
from tests.state.builders import (
    DEFAULT,
    Cluster,
    a_deployment,
    a_group,
    a_job,
    a_node,
    an_eval,
    node_id,
    ref,
    some_resources,
)
from tests.state.secret_entry_maker import SecretEntries
from tests.state.simple_entry_maker import SimpleEntryMaker
from yurt.model.alloc import (
    CLIENT_COMPLETE,
    CLIENT_FAILED,
    CLIENT_LOST,
    CLIENT_PENDING,
    CLIENT_RUNNING,
    CLIENT_UNKNOWN,
    Allocation,
    AllocDeploymentStatus,
    AllocStateChange,
    DesiredTransition,
    NetworkStatus,
    RescheduleEvent,
    RescheduleTracker,
    encode_task_states,
)
from yurt.model.alloc_metric import AllocMetric
from yurt.model.autopilot import AutopilotConfiguration
from yurt.model.deployment import Deployment, DeploymentStatusUpdate
from yurt.model.evaluation import (
    EVAL_BLOCKED,
    EVAL_CANCELED,
    EVAL_COMPLETE,
    EVAL_FAILED,
    EVAL_PENDING,
    Evaluation,
)
from yurt.model.host_volume import DynamicVolume
from yurt.model.job import BATCH, SERVICE, SYSTEM, Job, JobVersionTag
from yurt.model.job_submission import JobSubmission
from yurt.model.namespace import Namespace
from yurt.model.node import DrainStrategy, Node
from yurt.model.node_pool import NodePool
from yurt.model.plan import PlacementDetail, Placements, PlanChanges, Preemption, StopAllocs, UpdateAlloc
from yurt.model.policies import ParameterizedJobConfig, PeriodicConfig, ScalingPolicy
from yurt.model.quota import QuotaLimit, QuotaResources, QuotaSpec
from yurt.model.scaling_event import ScalingEvent
from yurt.model.scheduler_configuration import SchedulerConfiguration
from yurt.model.service_registration import ServiceRegistration
from yurt.model.task_state import TaskEvent, TaskState
from yurt.model.times import MINUTE_NS, time_text
from yurt.model.wire import AllocID, DeploymentID, EvalID, NodeID
from yurt.state import entries
from yurt.state.quota_entries import DeleteQuota, UpsertQuota
from yurt.state.volume_entries import DeleteHostVolume, DeleteVolumeClaim, UpsertHostVolume

_T = TypeVar("_T")

NODES = 4
JOB_IDS = ("web", "batch", "everywhere", "nightly", "nightly/periodic-1", "on-demand")
RESOURCES = (
    some_resources(),
    some_resources(cpu=100, memory=64, ports=(8080, 20001)),
    some_resources(cpu=1000, cores=(0, 2)),
    some_resources(devices=("gpu-0", "gpu-1")),
)


class Choices(Protocol):
    """Where chance comes from."""

    def pick(self, options: Sequence[_T]) -> _T:
        """One of `options`."""

    def some(self, options: Sequence[_T]) -> list[_T]:
        """Any number of `options`, each once."""


class RandomChoices:
    """Choices drawn from a seed."""

    def __init__(self, seed: int) -> None:
        self._rng = Random(seed)

    def pick(self, options: Sequence[_T]) -> _T:
        return self._rng.choice(options)

    def some(self, options: Sequence[_T]) -> list[_T]:
        return self._rng.sample(options, self._rng.randint(0, len(options)))


class EntryMaker:
    """Makes entries that fit a cluster's State."""

    def __init__(self, cluster: Cluster, choices: Choices) -> None:
        self.cluster = cluster
        self.choices = choices
        self._ids = 0
        self._acl = AclEntryMaker(self)
        self._secrets = SecretEntries(self)
        self._simple = SimpleEntryMaker(self)

    def entry(self) -> entries.Entry:
        """One more entry, of a kind that is picked too."""
        return self.choices.pick(self.makers)()

    @property
    def makers(self) -> tuple[Callable[[], entries.Entry], ...]:
        """A function for each kind of entry; what happens more often stands here more often."""
        return (
            self.register_node,
            self.register_job,
            self.commit_plan,
            self.report_allocs,
            self.upsert_evals,
            self.commit_plan,
            self.report_allocs,
            self.register_node,
            self.register_job,
            self.commit_plan,
            self.set_node_status,
            self.set_node_eligibility,
            self.set_node_drain,
            self.deregister_nodes,
            self.deregister_job,
            self.delete_evals,
            self.set_desired_transitions,
            self.set_deployment_status,
            self.promote_deployment,
            self.set_alloc_health,
            self.delete_deployments,
            self.record_periodic_launch,
            self.set_scheduler_configuration,
            self.set_autopilot_configuration,
            self.set_job_stability,
            self.tag_job_version,
            self.record_scaling,
            self.upsert_services,
            self.upsert_services,
            self.delete_services,
            self.reconcile_summaries,
            self.upsert_namespaces,
            self.delete_namespaces,
            self.upsert_node_pools,
            self.delete_node_pools,
            *self._acl.makers,
            *self._secrets.makers,
            self.upsert_quota,
            self.delete_quota,
            self.upsert_host_volume,
            self.delete_host_volume,
            self.delete_volume_claim,
            *self._simple.makers,
        )

    def register_node(self) -> entries.RegisterNode:
        node = a_node(
            self.choices.pick(range(NODES)),
            status=self.choices.pick(("ready", "ready", "initializing", "down")),
            datacenter=self.choices.pick(("dc1", "dc2")),
            meta=self.choices.pick((None, {"rack": "r1"})),
        )
        return entries.RegisterNode(at=self._now, node=node, evals=self._evals(2))

    def set_node_status(self) -> entries.SetNodeStatus:
        return entries.SetNodeStatus(
            at=self._now,
            node_id=self.some_node_id(),
            status=self.choices.pick(("ready", "down", "disconnected", "initializing")),
            event=self.choices.pick(("", "Node heartbeat missed")),
            evals=self._evals(1),
        )

    def set_node_eligibility(self) -> entries.SetNodeEligibility:
        return entries.SetNodeEligibility(
            at=self._now,
            node_id=self.some_node_id(),
            eligibility=self.choices.pick(("eligible", "ineligible")),
            event="Node marked as eligible for scheduling",
        )

    def set_node_drain(self) -> entries.SetNodeDrain:
        return entries.SetNodeDrain(
            at=self._now,
            node_id=self.some_node_id(),
            drain=self.choices.pick((None, DrainStrategy(deadline=MINUTE_NS))),
            mark_eligible=self.choices.pick((True, False)),
            event=self.choices.pick(("", "Node drain strategy set")),
            details=self.choices.pick((None, {"forced": "true"})),
            meta=self.choices.pick((None, {"by": "ops"})),
            is_complete=self.choices.pick((True, False)),
            evals=self._evals(1),
        )

    def deregister_nodes(self) -> entries.DeregisterNodes:
        return entries.DeregisterNodes(at=self._now, node_ids=(self.some_node_id(),), evals=self._evals(1))

    def register_job(self) -> entries.RegisterJob:
        job_id = self.choices.pick(JOB_IDS)
        scaling = self.choices.pick((None, None, ScalingPolicy(id=self.new_id("policy"), min=1, max=9)))
        groups = [
            a_group("g", self.choices.pick((1, 2, 3)), scaling=scaling),
            *self.choices.some([a_group("other")]),
        ]
        job = a_job(
            job_id,
            *groups,
            type={"batch": BATCH, "everywhere": SYSTEM}.get(job_id, SERVICE),
            parent_id="nightly" if job_id.startswith("nightly/") else "",
            periodic=PeriodicConfig(spec="@daily") if job_id == "nightly" else None,
            parameterized_job=ParameterizedJobConfig() if job_id == "on-demand" else None,
            version_tag=self.choices.pick((None, None, JobVersionTag(name="golden"))),
            submit_time=self._now,
        )
        launches = job.is_periodic or job.is_parameterized
        evals = () if launches else (an_eval(self.new_id("eval"), job_id),)
        stored = self.cluster.state.jobs.get(job.key)
        right = stored.job_modify_index if stored is not None else 0
        enforce = self.choices.pick((None, None, right, 10**6))
        source = JobSubmission(source="job {}", format="hcl2", job_id=job.id)
        return entries.RegisterJob(
            at=self._now,
            job=job,
            evals=evals,
            enforce_index=enforce,
            submission=self.choices.pick((None, source)),
            scaling=self.choices.pick((None, entries.GroupScaling(group="g", event=self._scaling()))),
        )

    def deregister_job(self) -> entries.DeregisterJob:
        job_id = self.choices.pick(JOB_IDS)
        evals = (an_eval(self.new_id("eval"), job_id, triggered_by="job-deregister"),)
        purge = self.choices.pick((False, False, False, False, True))
        return entries.DeregisterJob(at=self._now, namespace=DEFAULT, job_id=job_id, purge=purge, evals=evals)

    def upsert_evals(self) -> entries.UpsertEvals:
        """New evaluations, and open ones that move on, one of a job; what has ended stays ended."""
        open_ones = {one.job_id: one for one in self.cluster.state.evals if not one.is_terminal}
        moved = [
            replace(
                one,
                status=self.choices.pick((EVAL_BLOCKED, EVAL_COMPLETE, EVAL_FAILED, EVAL_CANCELED)),
                queued_allocations=self.choices.pick((None, {"g": 2, "gone": 1})),
                failed_tg_allocs=self.choices.pick((None, {"g": AllocMetric(nodes_evaluated=3)})),
                class_eligibility={"v1:1": True},
                modify_time=self._now,
            )
            for one in self.choices.some(list(open_ones.values()))
        ]
        fresh = self._evals(2)
        return entries.UpsertEvals(at=self._now, evals=(*moved, *fresh))

    def delete_evals(self) -> entries.DeleteEvals:
        state = self.cluster.state
        ended = self.choices.some([one.id for one in state.evals if one.is_terminal])
        gone = self.choices.some([alloc.id for alloc in state.allocs if alloc.is_client_terminal])
        return entries.DeleteEvals(at=self._now, eval_ids=tuple(ended), alloc_ids=(*gone, AllocID("unknown")))

    def commit_plan(self) -> entries.CommitPlan:
        state = self.cluster.state
        planner = self.choices.pick([EvalID("unknown"), *(one.id for one in state.evals)])
        live = [alloc for alloc in state.allocs if not alloc.is_terminal]
        stopped = self.choices.some(live)
        preempted = self.choices.some([alloc for alloc in live if alloc not in stopped][:1])
        updated = [alloc for alloc in live if alloc not in (*stopped, *preempted)][:2]
        changes = PlanChanges(
            placements=self._placements(),
            stops=tuple(self._stop(alloc) for alloc in stopped),
            preemptions=tuple(Preemption(alloc.id, AllocID(self.new_id("alloc"))) for alloc in preempted),
            updates=tuple(self._update(alloc) for alloc in updated),
            deployment=self._deployment(),
            deployment_updates=tuple(
                DeploymentStatusUpdate(
                    deployment_id=one.id,
                    status=self.choices.pick(("successful", "failed", "cancelled", "paused")),
                    status_description="by the test",
                )
                for one in self.choices.some(state.deployments.rows())[:1]
            ),
        )
        return entries.CommitPlan(at=self._now, eval_id=planner, changes=changes, evals=self._evals(1))

    def report_allocs(self) -> entries.ReportAllocs:
        allocs = self.choices.some(self.cluster.state.allocs.rows())
        reports = tuple(self._report(alloc) for alloc in allocs)
        return entries.ReportAllocs(
            at=self._now,
            reports=(*reports, entries.AllocReport(id=AllocID("unknown"), client_status=CLIENT_RUNNING)),
            evals=self._evals(1),
        )

    def set_desired_transitions(self) -> entries.SetDesiredTransitions:
        allocs = self.choices.some(self.cluster.state.allocs.rows())
        transitions = {
            alloc.id: DesiredTransition(
                migrate=self.choices.pick((None, True, False)),
                force_reschedule=self.choices.pick((None, True)),
            )
            for alloc in allocs
        }
        transitions[AllocID("unknown")] = DesiredTransition(migrate=True)
        return entries.SetDesiredTransitions(at=self._now, transitions=transitions, evals=self._evals(1))

    def set_scheduler_configuration(self) -> entries.SetSchedulerConfiguration:
        right = self.cluster.state.scheduler_configuration.modify_index
        return entries.SetSchedulerConfiguration(
            at=self._now,
            configuration=SchedulerConfiguration(
                scheduler_algorithm=self.choices.pick(("binpack", "spread"))
            ),
            check_index=self.choices.pick((None, right, 10**6)),
        )

    def set_autopilot_configuration(self) -> entries.SetAutopilotConfiguration:
        right = self.cluster.state.autopilot_configuration.modify_index
        return entries.SetAutopilotConfiguration(
            at=self._now,
            configuration=AutopilotConfiguration(min_quorum=self.choices.pick((0, 3))),
            check_index=self.choices.pick((None, right, 10**6)),
        )

    def set_deployment_status(self) -> entries.SetDeploymentStatus:
        status = self.choices.pick(("paused", "running", "failed"))
        rollback = self.choices.pick((None, *self.cluster.state.jobs.rows()))
        return entries.SetDeploymentStatus(
            at=self._now,
            update=DeploymentStatusUpdate(
                deployment_id=self._some_deployment_id(), status=status, status_description=status
            ),
            progress_at=self.choices.pick((None, self._now)),
            rollback=rollback if status == "failed" else None,
            evals=self._evals(1),
        )

    def promote_deployment(self) -> entries.PromoteDeployment:
        return entries.PromoteDeployment(
            at=self._now,
            deployment_id=self._some_deployment_id(),
            groups=("g",),
            description="Deployment is running",
            evals=self._evals(1),
        )

    def set_alloc_health(self) -> entries.SetAllocHealth:
        alloc_ids = [alloc.id for alloc in self.choices.some(self.cluster.state.allocs.rows())]
        return entries.SetAllocHealth(
            at=self._now,
            deployment_id=self._some_deployment_id(),
            healthy=tuple(alloc_ids[::2]),
            unhealthy=tuple(alloc_ids[1::2]),
        )

    def delete_deployments(self) -> entries.DeleteDeployments:
        return entries.DeleteDeployments(at=self._now, deployment_ids=(self._some_deployment_id(),))

    def record_periodic_launch(self) -> entries.RecordPeriodicLaunch:
        job_id = self.choices.pick(JOB_IDS)
        return entries.RecordPeriodicLaunch(at=self._now, namespace=DEFAULT, job_id=job_id, launch=self._now)

    def _some_deployment_id(self) -> DeploymentID:
        stored = [one.id for one in self.cluster.state.deployments.rows()]
        return self.choices.pick((DeploymentID("unknown"), *stored))

    def set_job_stability(self) -> entries.SetJobStability:
        job_id, version = self._some_version()
        stable = self.choices.pick((True, True, False))
        return entries.SetJobStability(
            at=self._now, namespace=DEFAULT, job_id=job_id, version=version, stable=stable
        )

    def tag_job_version(self) -> entries.TagJobVersion:
        job_id, version = self._some_version()
        tag = self.choices.pick((None, JobVersionTag(name="golden", tagged_time=self._now)))
        return entries.TagJobVersion(at=self._now, namespace=DEFAULT, job_id=job_id, version=version, tag=tag)

    def record_scaling(self) -> entries.RecordScaling:
        return entries.RecordScaling(
            at=self._now,
            namespace=DEFAULT,
            job_id=self.choices.pick(JOB_IDS),
            group="g",
            event=self._scaling(),
        )

    def reconcile_summaries(self) -> entries.ReconcileSummaries:
        return entries.ReconcileSummaries(at=self._now)

    def upsert_namespaces(self) -> entries.UpsertNamespaces:
        names = self.choices.some(("team-a", "team-b", DEFAULT))
        quotas = ("", *(quota.name for quota in self.cluster.state.quotas))
        namespaces = tuple(
            Namespace(name=name, description=self.new_id("text"), quota=self.choices.pick(quotas))
            for name in names
        )
        return entries.UpsertNamespaces(at=self._now, namespaces=namespaces)

    def upsert_quota(self) -> UpsertQuota:
        limit = QuotaLimit(region="global", region_limit=QuotaResources(cpu=self.choices.pick((0, 1000))))
        quota = QuotaSpec(name=self.choices.pick(("small", "large")), limits=(limit,))
        return UpsertQuota(at=self._now, quota=quota)

    def upsert_host_volume(self) -> UpsertHostVolume:
        nodes = [node.id for node in self.cluster.state.nodes] or [NodeID("no-node")]
        volume = DynamicVolume(
            id=self.choices.pick(("v1", "v2", self.new_id("volume"))),
            name="data",
            node_id=self.choices.pick(nodes),
        )
        return UpsertHostVolume(at=self._now, volume=volume)

    def delete_host_volume(self) -> DeleteHostVolume:
        return DeleteHostVolume(at=self._now, volume_id=self.choices.pick(("v1", "v2")))

    def delete_volume_claim(self) -> DeleteVolumeClaim:
        known = tuple(claim.id for claim in self.cluster.state.volume_claims)
        return DeleteVolumeClaim(at=self._now, claim_id=self.choices.pick((*known, "nobody's")))

    def delete_quota(self) -> DeleteQuota:
        return DeleteQuota(at=self._now, name=self.choices.pick(("small", "large")))

    def delete_namespaces(self) -> entries.DeleteNamespaces:
        return entries.DeleteNamespaces(at=self._now, names=(self.choices.pick(("team-a", "team-b")),))

    def upsert_node_pools(self) -> entries.UpsertNodePools:
        pools = tuple(NodePool(name=name, meta={"n": "1"}) for name in self.choices.some(("gpu", "edge")))
        return entries.UpsertNodePools(at=self._now, node_pools=pools)

    def delete_node_pools(self) -> entries.DeleteNodePools:
        return entries.DeleteNodePools(at=self._now, names=(self.choices.pick(("gpu", "edge")),))

    def upsert_services(self) -> entries.UpsertServices:
        services = tuple(
            ServiceRegistration(
                id=f"_yurt-{alloc.id}-{name}",
                service_name=name,
                node_id=alloc.node_id,
                job_id=alloc.job_id,
                alloc_id=alloc.id,
                port=self.choices.pick((80, 8080)),
            )
            for alloc in self.choices.some(self.cluster.state.allocs.rows())
            for name in self.choices.some(("web", "api"))
        )
        return entries.UpsertServices(at=self._now, services=services)

    def delete_services(self) -> entries.DeleteServices:
        known = [service.id for service in self.cluster.state.services]
        return entries.DeleteServices(at=self._now, service_ids=(self.choices.pick(["unknown", *known]),))

    @property
    def _now(self) -> int:
        return self.cluster.now

    def new_id(self, kind: str) -> str:
        self._ids += 1
        return f"{kind}-{self._ids}"

    def some_node_id(self) -> NodeID:
        return node_id(self.choices.pick(range(NODES + 1)))

    def _some_version(self) -> tuple[str, int]:
        versions = [
            (job.id, version.version)
            for job in self.cluster.state.jobs
            for version in self.cluster.state.jobs.versions[job.key]
        ]
        return self.choices.pick([("unknown", 0), *versions])

    def _scaling(self) -> ScalingEvent:
        return ScalingEvent(time=self._now, message="scaled", meta={"by": "tests", "load": 0.5})

    def _evals(self, at_most: int) -> tuple[Evaluation, ...]:
        return tuple(
            an_eval(
                self.new_id("eval"),
                self.choices.pick(JOB_IDS),
                status=self.choices.pick((EVAL_PENDING, EVAL_BLOCKED)),
            )
            for _ in self.choices.some(range(at_most))
        )

    def _placements(self) -> tuple[Placements, ...]:
        state = self.cluster.state
        nodes, jobs = state.nodes.rows(), state.jobs.rows()
        if not nodes or not jobs:
            return ()
        made = []
        for job in self.choices.some(jobs)[:2]:
            version = self.choices.pick(state.jobs.versions[job.key])
            group = self.choices.pick([group.name for group in version.task_groups])
            own = [d.id for d in state.deployments.of_job(job.key)]
            made.append(self._placement(version, group, nodes, self.choices.pick(["", *own])))
        return tuple(made)

    def _placement(self, job: Job, group: str, nodes: list[Node], deployment_id: str) -> Placements:
        where = [node.id for node in self.choices.some(nodes)]
        where += where[:1]
        details = {}
        if self.choices.pick((True, False)) and where:
            earlier = [alloc.id for alloc in self.cluster.state.allocs.of_job(job.key)]
            details[0] = PlacementDetail(
                resources=self.choices.pick((None, *RESOURCES)),
                metrics=self.choices.pick((None, b"\x80")),
                previous_allocation=self.choices.pick(["", *earlier]),
                deployment_status=self.choices.pick((None, AllocDeploymentStatus(canary=True))),
                reschedule_tracker=RescheduleTracker(events=(RescheduleEvent(prev_alloc_id="x"),)),
                desired_description="by detail",
            )
        return Placements(
            job=ref(job),
            task_group=group,
            eval_id=EvalID("planner"),
            resources=self.choices.pick(RESOURCES),
            ids=[AllocID(self.new_id("alloc")) for _ in where],
            name_indexes=list(range(len(where))),
            node_ids=where,
            metrics=b"\x81\xa1x\x01",
            deployment_id=DeploymentID(deployment_id),
            details=details,
        )

    def _stop(self, alloc: Allocation) -> StopAllocs:
        return StopAllocs(
            ids=[alloc.id, AllocID("unknown")],
            description="alloc not needed",
            client_status=self.choices.pick(("", "", CLIENT_LOST)),
            followup_eval_id=self.choices.pick(("", "follow-up")),
        )

    def _update(self, alloc: Allocation) -> UpdateAlloc:
        state = self.cluster.state
        current = state.jobs.get(alloc.job_key)
        own = [deployment.id for deployment in state.deployments.of_job(alloc.job_key)]
        return UpdateAlloc(
            id=alloc.id,
            job=self.choices.pick((None, ref(current))) if current is not None else None,
            resources=self.choices.pick((None, *RESOURCES)),
            client_status=self.choices.pick((None, CLIENT_UNKNOWN, CLIENT_LOST)),
            alloc_states=(AllocStateChange(value="unknown", time=time_text(self._now)),),
            deployment_id=self.choices.pick((None, *own)),
            deployment_status=self.choices.pick((None, AllocDeploymentStatus(healthy=True))),
            clear_deployment_status=self.choices.pick((False, True)),
        )

    def _deployment(self) -> Deployment | None:
        jobs = self.cluster.state.jobs.rows()
        stored = [one for one in self.cluster.state.deployments.rows() if one.is_active]
        if self.choices.pick((True, False)) and stored:
            return self.choices.pick(stored)
        if self.choices.pick((True, False)) and jobs:
            deadline = self.choices.pick((0, MINUTE_NS))
            job = self.choices.pick(jobs)
            return a_deployment(self.new_id("deployment"), job, progress_deadline=deadline)
        return None

    def _report(self, alloc: Allocation) -> entries.AllocReport:
        if alloc.is_client_terminal:
            status = alloc.client_status
        else:
            status = self.choices.pick((CLIENT_PENDING, CLIENT_RUNNING, CLIENT_COMPLETE, CLIENT_FAILED))
        states = {"t": TaskState(state="running", events=(TaskEvent(type="Started", time=self._now),))}
        health = AllocDeploymentStatus(
            healthy=self.choices.pick((True, False)), timestamp=time_text(self._now)
        )
        return entries.AllocReport(
            id=alloc.id,
            client_status=status,
            client_description="Tasks are running",
            task_states=self.choices.pick((b"", encode_task_states(states))),
            deployment_status=self.choices.pick((None, health)),
            network_status=self.choices.pick((None, NetworkStatus(address="172.26.64.5"))),
        )
