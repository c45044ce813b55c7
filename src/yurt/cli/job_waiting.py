"""Waiting for a job with everything that happens meanwhile."""

from collections.abc import Sequence
from typing import Annotated, TypeAlias

from yurt.cli.command import Session
from yurt.cli.errors import CommandError, failing_as
from yurt.cli.job_outcome import Outcome, outcome
from yurt.cli.log_merge import LogChoice, LogMerger
from yurt.cli.options import Flag
from yurt.cli.placement import failed_count, reasons
from yurt.cli.times import absolute
from yurt.model.durations import duration_text
from yurt.model.times import SECOND_NS
from yurt.sdk import Client, jobs
from yurt.sdk.types.allocs import AllocStub
from yurt.sdk.types.jobs import Job

# As `timeout` of the shell does.
EXIT_TIMED_OUT = 124
# Changes of allocations are seen at once, those of deployments and evaluations after this time.
LOOK_INTERVAL_S = 1.0


LogsFlag: TypeAlias = Annotated[
    bool, Flag("logs", "Print the logs of the job's tasks while waiting, each line under its task's name.")
]
TimeoutFlag: TypeAlias = Annotated[
    int | None,
    Flag(
        "timeout",
        "Stop waiting after this time, with exit code 124; the job goes on. Default = no limit",
        "<duration>",
        form="duration",
    ),
]


class JobWaiting:
    """Waits for one job and prints what changes."""

    def __init__(
        self,
        session: Session,
        client: Client,
        job_id: str,
        *,
        logs: bool,
        timeout: int | None,
        known_blocked: str = "",
    ) -> None:
        """`known_blocked` is an evaluation whose reasons have been shown already."""
        self._session = session
        self._client = client
        self._job_id = job_id
        self._timeout = timeout
        self._merger = LogMerger(session, client, LogChoice(), follow=True) if logs else None
        self._seen: dict[str, str] = {}
        self._told = {known_blocked}
        self._last_text = ""

    def wait(self) -> int:
        """Wait until the job has come to its end or, if it has none, until it is healthy.

        Returns the exit code of the command.
        """
        began = self._session.now()
        index = 0
        while True:
            with failing_as("Error fetching allocations"):
                answer = jobs.wait_allocations(
                    self._client, self._job_id, index=index, wait_s=self._look_s(began)
                )
            index = max(answer.index, 1)
            job, listed = self._job(), answer.value
            if job.status == "dead":
                # The job is newer than the list, which may still show the last allocation running.
                with failing_as("Error fetching allocations"):
                    listed = jobs.allocations(self._client, self._job_id).value
            self._show([alloc for alloc in listed if alloc.job_version == job.version])
            found = self._outcome(job, listed)
            if found.exit_code is not None:
                if self._merger is not None and job.status == "dead":
                    self._merger.finish()
                self._milestone(found.text)
                return found.exit_code
            self._show_waiting(found.text)
            if self._timeout is not None and self._session.now() - began >= self._timeout:
                waited = duration_text(self._timeout)
                raise CommandError(
                    f"Timed out after {waited}, still waiting for {found.text or 'its end'}; "
                    f"the job goes on: see 'yurt job status {self._job_id}'",
                    exit_code=EXIT_TIMED_OUT,
                )

    def _look_s(self, began: int) -> float:
        if self._timeout is None:
            return LOOK_INTERVAL_S
        left = (began + self._timeout - self._session.now()) / SECOND_NS
        return min(LOOK_INTERVAL_S, max(left, 0.001))

    def _job(self) -> Job:
        with failing_as("Error querying job"):
            job = jobs.read(self._client, self._job_id).value
        if job.periodic is not None or job.parameterized_job is not None:
            raise CommandError(
                f'Job "{job.id}" launches others and does not run itself; wait for one that it has '
                f"launched: 'yurt job status {job.id}' lists them"
            )
        return job

    def _outcome(self, job: Job, found: Sequence[AllocStub]) -> Outcome:
        with failing_as("Error querying job"):
            deployment = jobs.latest_deployment(self._client, self._job_id).value
            groups = jobs.summary(self._client, self._job_id).value.summary
        return outcome(job, found, deployment=deployment, groups=groups)

    def _show(self, found: Sequence[AllocStub]) -> None:
        if self._merger is not None:
            self._merger.update(found)
            return
        for alloc in sorted(found, key=lambda alloc: alloc.create_index):
            before = self._seen.get(alloc.id)
            self._seen[alloc.id] = alloc.client_status
            if before is not None and before != alloc.client_status:
                self._detail(
                    f'Allocation "{alloc.id[:8]}" status changed: "{before}" -> "{alloc.client_status}"'
                    + (f" ({alloc.client_description})" if alloc.client_description else "")
                )

    def _show_waiting(self, text: str) -> None:
        if text and text != self._last_text:
            self._last_text = text
            self._detail(f"Waiting for {text}")
            self._show_blocked()

    def _show_blocked(self) -> None:
        """Say why something has no place, once for each evaluation that waits for one."""
        with failing_as("Error querying evaluations"):
            found = jobs.evaluations(self._client, self._job_id).value
        for evaluation in found:
            if evaluation.status != "blocked" or evaluation.id in self._told:
                continue
            self._told.add(evaluation.id)
            for group, metric in sorted(evaluation.failed_tg_allocs.items()):
                self._detail(f'No place for {failed_count(metric)} of task group "{group}":')
                for line in reasons(self._session.console, metric, indent="      "):
                    self._session.console.output(line)

    def _milestone(self, text: str) -> None:
        self._session.console.output(f"==> {absolute(self._session.now())}: {text}")

    def _detail(self, text: str) -> None:
        self._session.console.output(f"    {absolute(self._session.now())}: {text}")
