"""A cluster in which recorded scenarios happen again: State, schedulers and watchers, with played clients.

Everything runs on virtual time in small steps. Nodes are as recorded; clients follow the recording's
rules; whatever the servers decide by themselves is decided by the code under test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from random import Random
from typing import Any

import msgspec
from msgspec.structs import replace

from yurt.model.alloc import (
    CLIENT_COMPLETE,
    CLIENT_FAILED,
    CLIENT_PENDING,
    CLIENT_RUNNING,
    CLIENT_UNKNOWN,
    Allocation,
    AllocDeploymentStatus,
    DesiredTransition,
    encode_task_states,
)
from yurt.model.canonical import canonical_job
from yurt.model.decode import fold, plan_of
from yurt.model.deployment import Deployment
from yurt.model.evaluation import (
    EVAL_BLOCKED,
    EVAL_COMPLETE,
    EVAL_PENDING,
    TRIGGER_ALLOC_FAILURE,
    TRIGGER_ALLOC_STOP,
    TRIGGER_JOB_DEREGISTER,
    TRIGGER_JOB_REGISTER,
    TRIGGER_RECONNECT,
    Evaluation,
)
from yurt.model.forms import JobForm
from yurt.model.job import SERVICE, SYSTEM, Job, JobKey
from yurt.model.node import DrainStrategy, Node
from yurt.model.node_pool import NodePool
from yurt.model.scheduler_configuration import SchedulerConfiguration
from yurt.model.task_state import TASK_DEAD, TASK_RUNNING, TaskState
from yurt.model.times import SECOND_NS, time_ns, time_text
from yurt.model.wire import AllocID, EvalID, JobID, NodeID
from yurt.scheduler.check_plan import check_plan
from yurt.scheduler.ids import new_id
from yurt.scheduler.reconcile.alloc_facts import is_expired, lost_after
from yurt.scheduler.reconcile.reschedule_delay import may_reschedule
from yurt.scheduler.schedule import PLAN_ATTEMPTS_MAX, give_up, schedule
from yurt.scheduler.view import View
from yurt.server.blocked import BlockedEvals
from yurt.server.deployment_changes import paused, promoted, resumed
from yurt.server.node_evals import evals_for_node, status_change_matters
from yurt.server.periodic_children import launch_entries
from yurt.server.watchers.deployments import next_deployment_steps
from yurt.server.watchers.drains import next_drain_steps
from yurt.server.watchers.periodic import next_periodic_launches
from yurt.sim.nodes.spec import node_of, read_nodes
from yurt.state import entries
from yurt.state.apply import apply
from yurt.state.state import State

START = 1_794_733_150 * SECOND_NS
TICK_NS = SECOND_NS // 20
# Nomad collects what deployments call for during this time.
DEPLOYMENT_BATCH_NS = 5 * SECOND_NS // 4
DRAIN_BATCH_NS = SECOND_NS
MISSED_HEARTBEAT_NS = 4 * SECOND_NS
REPORT_NS = SECOND_NS // 10
HEALTH_NS = 3 * SECOND_NS // 10
RETURN_NS = 6 * SECOND_NS // 10

Recording = dict[str, Any]


class RecordedCluster:
    """One cluster, begun as a recording says."""

    def __init__(self, recording: Recording) -> None:
        self.state = State()
        self.now = START
        self._rng = Random(recording["Scenario"])
        self.new_id: Callable[[], str] = partial(new_id, self._rng)
        self._rules = recording.get("ClientBehaviour") or []
        self._uses: dict[int, set[AllocID]] = {}
        self._ready: list[Evaluation] = []
        self._blocked = BlockedEvals(self._ready.append)
        self._silent: dict[NodeID, int] = {}
        self._returning: dict[NodeID, int] = {}
        self._seen_running: dict[AllocID, int] = {}
        self._told_to_stop: dict[AllocID, int] = {}
        self._steps_due: dict[str, int] = {}
        if recording.get("SchedulerConfig"):
            self.configure(recording["SchedulerConfig"])
        for pool in recording.get("NodePools") or ():
            self.apply(entries.UpsertNodePools(at=self.now, node_pools=(NodePool(name=pool["Name"]),)))
        self.register_nodes(recording["Nodes"])

    # What is asked of the cluster

    def apply(self, entry: entries.Entry) -> Any:
        outcome = apply(self.state, self.state.index + 1, entry)
        news = self.state.take_news()
        for evaluation in news.evals:
            self._place(evaluation)
        clock, index = self.now / SECOND_NS, self.state.index
        freed = (self.state.nodes.get(node_id) for node_id in news.freed_nodes)
        for node in (*news.ready_nodes, *(node for node in freed if node is not None)):
            self._blocked.unblock_class(node.computed_class, index, now=clock)
            self._blocked.unblock_node(node.id)
        return outcome

    def register_nodes(self, recorded: Iterable[Recording]) -> None:
        for one in recorded:
            node = a_recorded_node(one)
            old = self.state.nodes.get(node.id)
            if old is not None:
                # A new registration keeps the status; what changed about the node concerns its jobs.
                node = replace(node, status=old.status)
                self.apply(entries.RegisterNode(at=self.now, node=node))
                if old.attributes != node.attributes or old.meta != node.meta:
                    self.apply(entries.UpsertEvals(at=self.now, evals=self._node_evals(node)))
                continue
            self.apply(entries.RegisterNode(at=self.now, node=replace(node, status="initializing")))
            self._set_node_status(node.id, "ready")

    def register_job(self, submitted: Recording) -> Job:
        job = self.canonical(submitted)
        evals: tuple[Evaluation, ...] = ()
        if not job.is_periodic and not job.is_parameterized:
            evals = (self._evaluation(job, TRIGGER_JOB_REGISTER),)
        self.apply(entries.RegisterJob(at=self.now, job=replace(job, submit_time=self.now), evals=evals))
        return job

    def canonical(self, submitted: Recording) -> Job:
        folded = fold(submitted, plan_of(JobForm))
        existing = self.state.jobs.get(JobKey("default", JobID(submitted["ID"])))
        return canonical_job(folded, region="global", new_id=self.new_id, existing=existing)

    def revert(self, job_id: str, version: int) -> None:
        key = JobKey("default", JobID(job_id))
        old = next(job for job in self.state.jobs.versions[key] if job.version == version)
        job = replace(old, submit_time=self.now)
        self.apply(
            entries.RegisterJob(at=self.now, job=job, evals=(self._evaluation(job, TRIGGER_JOB_REGISTER),))
        )

    def stop_job(self, job_id: str, *, purge: bool = False) -> None:
        job = self.state.jobs[JobKey("default", JobID(job_id))]
        evals: tuple[Evaluation, ...] = ()
        if not job.is_periodic and not job.is_parameterized:
            evals = (replace(self._evaluation(job, TRIGGER_JOB_DEREGISTER), type=SERVICE),)
        self.apply(
            entries.DeregisterJob(at=self.now, namespace="default", job_id=job_id, purge=purge, evals=evals)
        )

    def evaluate(self, job_id: str) -> None:
        job = self.state.jobs[JobKey("default", JobID(job_id))]
        self.apply(entries.UpsertEvals(at=self.now, evals=(self._evaluation(job, TRIGGER_JOB_REGISTER),)))

    def stop_alloc(self, alloc: Allocation, *, reschedule: bool = False) -> None:
        flags = DesiredTransition(migrate=True, reschedule=True if reschedule else None)
        self.apply(
            entries.SetDesiredTransitions(
                at=self.now,
                transitions={alloc.id: flags},
                evals=(self._evaluation(alloc.job, TRIGGER_ALLOC_STOP),),
            )
        )

    def promote(self, deployment: Deployment) -> None:
        job = self.state.jobs[JobKey("default", deployment.job_id)]
        groups = deployment.task_groups
        self.apply(promoted(deployment, job, groups, now=self.now, new_id=self.new_id))

    def pause(self, deployment: Deployment, *, pause: bool) -> None:
        job = self.state.jobs[JobKey("default", deployment.job_id)]
        resume = partial(resumed, job=job, new_id=self.new_id)
        self.apply((paused if pause else resume)(deployment, now=self.now))

    def set_eligibility(self, node_id: str, eligibility: str) -> None:
        node = self.state.nodes[NodeID(node_id)]
        evals = self._node_evals(node) if eligibility == "eligible" else ()
        self.apply(
            entries.SetNodeEligibility(at=self.now, node_id=node.id, eligibility=eligibility, evals=evals)
        )

    def drain(self, node_id: str, spec: Recording | None, *, mark_eligible: bool) -> None:
        if spec is None:
            node = self.state.nodes[NodeID(node_id)]
            evals = self._node_evals(node) if mark_eligible else ()
            self.apply(
                entries.SetNodeDrain(
                    at=self.now, node_id=node.id, drain=None, mark_eligible=mark_eligible, evals=evals
                )
            )
            return
        deadline = spec["Deadline"]
        drain = DrainStrategy(
            deadline=deadline,
            ignore_system_jobs=spec.get("IgnoreSystemJobs", False),
            force_deadline=time_text(self.now + deadline) if deadline > 0 else None,
            started_at=time_text(self.now),
        )
        self.apply(entries.SetNodeDrain(at=self.now, node_id=NodeID(node_id), drain=drain))

    def configure(self, configuration: Recording) -> None:
        self.apply(
            entries.SetSchedulerConfiguration(
                at=self.now, configuration=msgspec.convert(configuration, SchedulerConfiguration)
            )
        )

    def force_periodic(self, job_id: str) -> None:
        job = self.state.jobs[JobKey("default", JobID(job_id))]
        for entry in launch_entries(job, self.now, now=self.now, new_id=self.new_id):
            self.apply(entry)

    def fall_silent(self, names: Iterable[str]) -> None:
        for node in self._named(names):
            self._silent[node.id] = self.now + MISSED_HEARTBEAT_NS

    def come_back(self, names: Iterable[str]) -> None:
        """Nodes beat again; one that was disconnected must say what it runs before it is ready."""
        for node in self._named(names):
            self._silent.pop(node.id, None)
            if node.status == "disconnected":
                self._set_node_status(node.id, "initializing")
                self._schedule_all()
                self._report([*self._running_on(node.id), *self._stopped_on(node.id)])
                self._returning[node.id] = self.now + RETURN_NS
            else:
                self._set_node_status(node.id, "ready")
                self._report(self._running_on(node.id))

    # Time

    def run_until(self, moment: int) -> None:
        """Let time pass, in small steps."""
        while self.now < moment:
            self.now += TICK_NS
            self._schedule_all()
            self._watch_nodes()
            self._play_clients()
            self._watch()
        self._schedule_all()

    def _schedule_all(self) -> None:
        while True:
            due = [e for e in self._ready if time_ns(e.wait_until) <= self.now]
            if not due:
                return
            evaluation = min(due, key=lambda e: (-e.priority, e.create_index))
            self._ready.remove(evaluation)
            stored = self.state.evals.get(evaluation.id)
            if stored is not None and not stored.is_terminal:
                self._process(stored)

    def _process(self, evaluation: Evaluation) -> None:
        failures = tries = 0
        first = evaluation
        while True:
            tries += 1
            view = View(self.state)
            rng = Random(f"{evaluation.id}/{self.state.index}/{tries}")
            if failures < PLAN_ATTEMPTS_MAX[evaluation.type]:
                attempt = schedule(view, evaluation, now=self.now, rng=rng)
            else:
                attempt = give_up(attempt, at_index=self.state.index, now=self.now, rng=rng)
            checked = check_plan(View(self.state), attempt.plan) if attempt.plan is not None else None
            if attempt.follow_ups:
                self.apply(entries.UpsertEvals(at=self.now, evals=attempt.follow_ups))
            if checked is not None and not checked.changes.is_empty:
                self.apply(entries.CommitPlan(at=self.now, eval_id=first.id, changes=checked.changes))
            evaluation = attempt.resume
            if checked is not None and checked.rejected:
                failures = failures + 1 if checked.changes.is_empty else 0
                continue
            if attempt.has_more:
                continue
            if attempt.new_evals:
                self.apply(entries.UpsertEvals(at=self.now, evals=attempt.new_evals))
            if attempt.writes_evaluation:
                self.apply(entries.UpsertEvals(at=self.now, evals=(attempt.evaluation,)))
            if attempt.reblock:
                self._blocked.block(attempt.evaluation)
            return

    def _place(self, evaluation: Evaluation) -> None:
        if evaluation.status == EVAL_PENDING:
            self._ready.append(evaluation)
        elif evaluation.status == EVAL_BLOCKED:
            self._blocked.block(evaluation)
            for needless in self._blocked.take_duplicates():
                self.apply(
                    entries.UpsertEvals(
                        at=self.now,
                        evals=(
                            replace(
                                needless,
                                status="canceled",
                                status_description=(
                                    f'existing blocked evaluation exists for job "{needless.job_id}"'
                                ),
                            ),
                        ),
                    )
                )
        elif evaluation.status == EVAL_COMPLETE and not evaluation.failed_tg_allocs:
            self._blocked.untrack(JobKey(evaluation.namespace, evaluation.job_id))

    def _watch(self) -> None:
        waiting: set[str] = set()
        for step in next_deployment_steps(self.state, now=self.now, new_id=self.new_id):
            if isinstance(step, entries.UpsertEvals | entries.SetDesiredTransitions):
                waiting.add(step.evals[0].deployment_id)
                self._apply_when_due(step.evals[0].deployment_id, step, DEPLOYMENT_BATCH_NS)
            else:
                self.apply(step)
        for entry in next_drain_steps(self.state, now=self.now, new_id=self.new_id):
            waiting.add("drains")
            self._apply_when_due("drains", entry, DRAIN_BATCH_NS)
        self._steps_due = {what: due for what, due in self._steps_due.items() if what in waiting}
        for launch in next_periodic_launches(self.state, {}, now=self.now):
            if not launch.is_skipped:
                for one in launch_entries(launch.job, launch.at, now=self.now, new_id=self.new_id):
                    self.apply(one)

    def _apply_when_due(self, what: str, entry: entries.Entry, after: int) -> None:
        if self._steps_due.setdefault(what, self.now + after) <= self.now:
            self.apply(entry)

    # Nodes and clients

    def _watch_nodes(self) -> None:
        for node_id, at in list(self._silent.items()):
            if at <= self.now and self.state.nodes[node_id].status == "ready":
                self._set_node_status(node_id, self._status_of_silent(node_id))
        for node_id, at in list(self._returning.items()):
            if at <= self.now:
                del self._returning[node_id]
                self._set_node_status(node_id, "ready")

    def _status_of_silent(self, node_id: NodeID) -> str:
        keeps = any(
            alloc.desired_status == "run" and lost_after(alloc) and not is_expired(alloc, self.now)
            for alloc in self.state.allocs.of_node(node_id)
        )
        return "disconnected" if keeps else "down"

    def _set_node_status(self, node_id: NodeID, status: str) -> None:
        node = self.state.nodes[node_id]
        matters = status_change_matters(node.status, status)
        evals = self._node_evals(node) if matters else ()
        self.apply(entries.SetNodeStatus(at=self.now, node_id=node_id, status=status, evals=evals))

    def _node_evals(self, node: Node) -> tuple[Evaluation, ...]:
        return evals_for_node(self.state, node, now=self.now, new_id=self.new_id)

    def _running_on(self, node_id: NodeID) -> list[Allocation]:
        return [
            replace(alloc, client_status=CLIENT_RUNNING)
            for alloc in self.state.allocs.of_node(node_id)
            if alloc.client_status in (CLIENT_RUNNING, CLIENT_UNKNOWN) and not alloc.is_server_terminal
        ]

    def _stopped_on(self, node_id: NodeID) -> list[Allocation]:
        return [
            self._ended(alloc, CLIENT_COMPLETE)
            for alloc in self.state.allocs.of_node(node_id)
            if alloc.client_status == CLIENT_UNKNOWN and alloc.is_server_terminal
        ]

    def _play_clients(self) -> None:
        reports: list[Allocation] = []
        for alloc in self.state.allocs:
            node = self.state.nodes.get(alloc.node_id)
            if node is None or node.id in self._silent or node.id in self._returning:
                continue
            if alloc.is_client_terminal or alloc.client_status == CLIENT_UNKNOWN:
                continue
            if alloc.is_server_terminal:
                if self._told_to_stop.setdefault(alloc.id, self.now) + REPORT_NS <= self.now:
                    reports.append(self._ended(alloc, CLIENT_COMPLETE))
            else:
                played = self._play(alloc)
                if played is not alloc:
                    reports.append(played)
        self._report(reports)

    def _play(self, alloc: Allocation) -> Allocation:
        """What a client says about an allocation now; the allocation itself if it has no news."""
        rule = self._rule(alloc)
        action = rule.get("Action", "run")
        if action == "hold":
            return alloc
        if alloc.client_status == CLIENT_PENDING:
            if self._seen_running.setdefault(alloc.id, self.now) + REPORT_NS > self.now:
                return alloc
            self._seen_running[alloc.id] = self.now
            states = {task: TaskState(state=TASK_RUNNING, started_at=time_text(self.now)) for task in ("t",)}
            return replace(alloc, client_status=CLIENT_RUNNING, task_states=encode_task_states(states))
        ran = self.now - self._seen_running.get(alloc.id, self.now)
        if action in ("fail", "complete") and ran >= max(400, rule.get("AfterMs", 0)) * SECOND_NS // 1000:
            return self._ended(alloc, CLIENT_FAILED if action == "fail" else CLIENT_COMPLETE)
        health = rule.get("Health", "healthy" if action == "run" else "none")
        judged = alloc.deployment_status is not None and alloc.deployment_status.healthy is not None
        wait = max(HEALTH_NS, rule.get("HealthAfterMs", 0) * SECOND_NS // 1000)
        is_watched = alloc.job.type == SERVICE or (alloc.job.type == SYSTEM and alloc.deployment_id)
        if health == "none" or judged or not is_watched or ran < wait:
            return alloc
        verdict = AllocDeploymentStatus(healthy=health == "healthy", timestamp=time_text(self.now))
        return replace(alloc, deployment_status=verdict)

    def _ended(self, alloc: Allocation, status: str) -> Allocation:
        failed = status == CLIENT_FAILED
        ended = TaskState(state=TASK_DEAD, failed=failed, finished_at=time_text(self.now))
        verdict = None
        if failed and alloc.deployment_id and alloc.deployment_status is None:
            verdict = AllocDeploymentStatus(healthy=False, timestamp=time_text(self.now))
        return replace(
            alloc,
            client_status=status,
            task_states=encode_task_states({"t": ended}),
            deployment_status=verdict,
        )

    def _rule(self, alloc: Allocation) -> Recording:
        for number, rule in enumerate(self._rules):
            job = rule.get("Job", "*")
            fits_job = alloc.job_id.startswith(job[:-1]) if job.endswith("*") else alloc.job_id == job
            fits = fits_job and all(
                rule.get(name) in (None, "", have)
                for name, have in (
                    ("Group", alloc.task_group),
                    ("Name", alloc.name),
                    ("Node", alloc.node_name),
                    ("Version", alloc.job.version),
                )
            )
            if not fits:
                continue
            users = self._uses.setdefault(number, set())
            if alloc.id not in users and len(users) >= rule.get("Times", 1 << 30):
                continue
            users.add(alloc.id)
            return dict(rule)
        return {}

    def _report(self, allocs: list[Allocation]) -> None:
        if not allocs:
            return
        evals: dict[JobKey, Evaluation] = {}
        for alloc in allocs:
            trigger = self._trigger(alloc)
            if trigger and alloc.job_key not in evals:
                job = self.state.jobs.get(alloc.job_key) or alloc.job
                evals[alloc.job_key] = self._evaluation(job, trigger)
        reports = tuple(
            entries.AllocReport(
                id=alloc.id,
                client_status=alloc.client_status,
                task_states=alloc.task_states,
                deployment_status=alloc.deployment_status,
            )
            for alloc in allocs
        )
        self.apply(entries.ReportAllocs(at=self.now, reports=reports, evals=tuple(evals.values())))

    def _trigger(self, alloc: Allocation) -> str:
        stored = self.state.allocs[alloc.id]
        if stored.client_status == CLIENT_UNKNOWN:
            return TRIGGER_RECONNECT
        job = self.state.jobs.get(alloc.job_key)
        group = job.group(alloc.task_group) if job is not None else None
        if alloc.client_status != CLIENT_FAILED or stored.followup_eval_id or group is None:
            return ""
        eligible = may_reschedule(alloc, group.reschedule_policy, self.now)
        return TRIGGER_ALLOC_FAILURE if eligible else ""

    def _evaluation(self, job: Job, trigger: str) -> Evaluation:
        return Evaluation(
            id=EvalID(self.new_id()),
            namespace=job.namespace,
            priority=job.priority,
            type=job.type,
            triggered_by=trigger,
            job_id=job.id,
            status=EVAL_PENDING,
            create_time=self.now,
            modify_time=self.now,
        )

    def _named(self, names: Iterable[str]) -> list[Node]:
        wanted = set(names)
        return [node for node in self.state.nodes if node.name in wanted]


def a_recorded_node(recorded: Recording) -> Node:
    """A node as a recording describes it."""
    (spec,) = read_nodes(msgspec.json.encode([recorded])).nodes
    return replace(node_of(spec, Random(0)), status="initializing")
