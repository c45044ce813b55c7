"""What `job status` shows of one job."""

import json
from typing import Any

from yurt.cli.command import Session
from yurt.cli.deployment_view import latest_deployment
from yurt.cli.errors import failing_as
from yurt.cli.layout import key_list, short_id, table
from yurt.cli.periodic import next_launch
from yurt.cli.placement import group_failures
from yurt.cli.tables import alloc_table, newest_first, placement_failures
from yurt.cli.times import absolute, relative, time_of
from yurt.model.durations import duration_text
from yurt.sdk import Answer, Client, SdkError, jobs
from yurt.sdk.types.allocs import AllocStub
from yurt.sdk.types.evals import Evaluation
from yurt.sdk.types.jobs import ChildCounts, Group, GroupReschedule, Job, JobSummary


class JobView:
    """Shows one job, section by section."""

    def __init__(self, session: Session, client: Client, answer: Answer[Job], *, verbose: bool) -> None:
        self._session = session
        self._console = session.console
        self._client = client
        self._job = answer.value
        self._body: dict[str, Any] = json.loads(answer.body)
        self._verbose = verbose
        self._now = session.now()

    def show_keys(self) -> None:
        """Show the job itself."""
        job = self._job
        pairs: list[tuple[str, object]] = [
            ("ID", job.id),
            ("Name", job.name),
            ("Submit Date", absolute(job.submit_time)),
            ("Type", job.type),
            ("Priority", job.priority),
            ("Datacenters", ",".join(job.datacenters)),
            ("Namespace", job.namespace),
            ("Node Pool", job.node_pool),
            ("Status", f"{job.status} (stopped)" if job.stop else job.status),
            ("Periodic", job.periodic is not None),
            ("Parameterized", job.parameterized_job is not None and not job.parent_id),
        ]
        if job.dispatch_idempotency_token:
            pairs.append(("Idempotency Token", job.dispatch_idempotency_token))
        if job.periodic is not None and not job.parent_id:
            pairs.append(("Next Periodic Launch", self._next_launch()))
        self._console.output(key_list(pairs))

    def _next_launch(self) -> str:
        if self._job.stop:
            return "none (job stopped)"
        return next_launch(self._body["Periodic"], self._now)

    def show_periodic(self) -> None:
        """Show what a periodic job has launched."""
        self._show_children_summary("Children Job Summary")
        self._show_children("periodic", "Previously Launched Jobs", "No instances of periodic job found")

    def show_parameterized(self) -> None:
        """Show what a parameterized job takes, and what was dispatched from it."""
        parameterized = self._job.parameterized_job
        assert parameterized is not None
        self._console.heading("Parameterized Job")
        self._console.output(
            key_list(
                [
                    ("Payload", parameterized.payload),
                    ("Required Metadata", ", ".join(parameterized.meta_required)),
                    ("Optional Metadata", ", ".join(parameterized.meta_optional)),
                ]
            )
        )
        self._show_children_summary("Parameterized Job Summary")
        self._show_children(
            "dispatch", "Dispatched Jobs", "No dispatched instances of parameterized job found"
        )

    def _summary(self) -> JobSummary:
        with failing_as("Error querying job summary"):
            return jobs.summary(self._client, self._job.id).value

    def _show_children_summary(self, title: str) -> None:
        children = self._summary().children or ChildCounts()
        self._console.heading(title)
        self._console.output(
            table([["Pending", "Running", "Dead"], [children.pending, children.running, children.dead]])
        )

    def _show_children(self, kind: str, title: str, none_found: str) -> None:
        with failing_as("Error querying child jobs"):
            children = jobs.listing(self._client, prefix=f"{self._job.id}/{kind}-").value
        children = tuple(child for child in children if child.parent_id == self._job.id)
        if not children:
            self._console.output(f"\n{none_found}")
            return
        self._console.heading(title)
        rows: list[list[object]] = [["ID", "Status"]]
        rows.extend(
            [child.id, f"{child.status} (stopped)" if child.stop else child.status] for child in children
        )
        self._console.output(table(rows))

    def show_work(self, *, all_allocs: bool, with_evals: bool) -> None:
        """Show the allocations of a job, and how they came about."""
        self._show_summary()
        with failing_as("Error querying job allocations"):
            allocs = jobs.allocations(self._client, self._job.id, every_instance=all_allocs).value
        with failing_as("Error querying job evaluations"):
            found = jobs.evaluations(self._client, self._job.id).value
        evaluations = sorted(found, key=lambda evaluation: evaluation.create_index, reverse=True)
        if with_evals and evaluations:
            self._show_evaluations(evaluations)
        self._show_placement_failure(evaluations)
        self._show_rescheduling(allocs, evaluations)
        self._show_deployment()
        self._show_actions()
        self._console.heading("Allocations")
        deadlines = self._deadlines(allocs)
        listing = alloc_table(newest_first(allocs), now=self._now, verbose=self._verbose, deadlines=deadlines)
        self._console.output(listing)

    def _show_summary(self) -> None:
        summary = self._summary()
        self._console.heading("Summary")
        header = ["Task Group", "Queued", "Starting", "Running", "Failed", "Complete", "Lost", "Unknown"]
        rows: list[list[object]] = [[*header]]
        for name in sorted(summary.summary):
            counts = summary.summary[name]
            states = [counts.queued, counts.starting, counts.running, counts.failed, counts.complete]
            rows.append([name, *states, counts.lost, counts.unknown])
        self._console.output(table(rows))
        if summary.children is not None and summary.children.any():
            self._show_children_summary("Children Job Summary")

    def _show_evaluations(self, evaluations: list[Evaluation]) -> None:
        self._console.heading("Evaluations")
        rows: list[list[object]] = [["ID", "Priority", "Triggered By", "Status", "Placement Failures"]]
        rows.extend(
            [
                short_id(evaluation.id, verbose=self._verbose),
                evaluation.priority,
                evaluation.triggered_by,
                evaluation.status,
                placement_failures(evaluation),
            ]
            for evaluation in evaluations
        )
        self._console.output(table(rows))

    def _show_placement_failure(self, evaluations: list[Evaluation]) -> None:
        failed = next((evaluation for evaluation in evaluations if evaluation.failed_tg_allocs), None)
        is_blocked = any(evaluation.status == "blocked" for evaluation in evaluations)
        if failed is not None and is_blocked:
            self._console.heading("Placement Failure")
            self._console.output(group_failures(self._console, failed.failed_tg_allocs))

    def _show_rescheduling(self, allocs: tuple[AllocStub, ...], evaluations: list[Evaluation]) -> None:
        by_id = {evaluation.id: evaluation for evaluation in evaluations}
        groups = {group.name: group for group in self._job.task_groups}
        rows: dict[str, list[object]] = {}
        for alloc in allocs:
            evaluation = by_id.get(alloc.followup_eval_id)
            if evaluation is None or alloc.next_allocation or time_of(evaluation.wait_until) <= self._now:
                continue
            policy = [_policy(groups.get(alloc.task_group))] if self._verbose else []
            rows[alloc.task_group] = [
                alloc.task_group,
                *policy,
                short_id(evaluation.id, verbose=self._verbose),
                relative(time_of(evaluation.wait_until), self._now),
            ]
        if rows:
            self._console.heading("Future Rescheduling Attempts")
            policy_title = ["Reschedule Policy"] if self._verbose else []
            header: list[object] = ["Task Group", *policy_title, "Eval ID", "Eval Time"]
            self._console.output(table([header, *(rows[name] for name in sorted(rows))]))

    def _show_deployment(self) -> None:
        with failing_as("Error querying job deployments"):
            deployment = jobs.latest_deployment(self._client, self._job.id).value
        if deployment is not None and deployment.id:
            self._console.heading("Latest Deployment")
            self._console.output(latest_deployment(self._console, deployment, verbose=self._verbose))

    def _show_actions(self) -> None:
        try:
            actions = jobs.actions(self._client, self._job.id).value
        except SdkError:
            # Servers that know no actions have none to show.
            return
        if actions:
            self._console.heading("Actions")
            rows: list[list[object]] = [["Action Name", "Task Group", "Task"]]
            rows.extend([action.name, action.task_group_name, action.task_name] for action in actions)
            self._console.output(table(rows))

    def _deadlines(self, allocs: tuple[AllocStub, ...]) -> dict[str, int]:
        limits = {
            group.name: group.max_run_duration for group in self._job.task_groups if group.max_run_duration
        }
        if self._job.type not in {"batch", "sysbatch"}:
            return {}
        return {
            alloc.id: started_at(alloc) + limits[alloc.task_group]
            for alloc in allocs
            if alloc.task_group in limits and alloc.client_status in {"pending", "running", "unknown"}
        }


def started_at(alloc: AllocStub) -> int:
    """When an allocation's first task started; when it was made, as long as none has."""
    starts = [time_of(state.started_at) for state in alloc.task_states.values() if state.started_at]
    return min(starts, default=alloc.create_time)


def _policy(group: Group | None) -> str:
    policy = (group.reschedule_policy if group else None) or GroupReschedule()
    if policy.unlimited:
        return f"unlimited with {policy.delay_function} delay, max_delay = {duration_text(policy.max_delay)}"
    return f"{policy.attempts} attempts in {duration_text(policy.interval)}"
