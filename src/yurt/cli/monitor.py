"""Following an evaluation, and the deployment it belongs to, until both end."""

from yurt.cli.command import Session
from yurt.cli.deployment_monitor import follow_deployment
from yurt.cli.errors import CommandError, failing_as
from yurt.cli.layout import short_id
from yurt.cli.placement import failed_count, reasons
from yurt.cli.times import absolute
from yurt.model.durations import duration_text
from yurt.sdk import Client, evals
from yurt.sdk.types.allocs import AllocStub
from yurt.sdk.types.evals import Evaluation

EXIT_NOT_ALL_PLACED = 2
# A blocking query returns at the first change; without one the evaluation is looked at once a second.
POLL_INTERVAL_S = 1.0
ENDED = frozenset({"complete", "failed", "canceled"})


def follow_evaluation(session: Session, client: Client, eval_id: str, *, verbose: bool) -> int:
    """Show what an evaluation does. Returns the exit code of the command that made it.

    0 when everything was placed and the deployment, if any, was successful; 2 when something was not
    placed; 1 otherwise.
    """
    monitor = EvalMonitor(session, client, verbose=verbose)
    evaluation = monitor.follow(eval_id)
    if evaluation.deployment_id:
        monitor.milestone(f'Monitoring deployment "{monitor.short(evaluation.deployment_id)}"')
        is_successful = follow_deployment(
            session, client, evaluation.deployment_id, verbose=verbose, separator="    "
        )
        return 0 if is_successful else 1
    if monitor.has_failures:
        return EXIT_NOT_ALL_PLACED
    return 0 if evaluation.status == "complete" else 1


class EvalMonitor:
    """Prints the changes between one look at an evaluation and the next."""

    def __init__(self, session: Session, client: Client, *, verbose: bool) -> None:
        self._session = session
        self._client = client
        self._verbose = verbose
        self.has_failures = False

    def short(self, full_id: str) -> str:
        """An id as this command shows ids."""
        return short_id(full_id, verbose=self._verbose)

    def milestone(self, text: str) -> None:
        """Print a step."""
        self._session.console.output(f"==> {absolute(self._session.now())}: {text}")

    def _detail(self, text: str) -> None:
        self._session.console.output(f"    {absolute(self._session.now())}: {text}")

    def follow(self, eval_id: str) -> Evaluation:
        """Follow an evaluation, and those that come after it, to the last one."""
        while True:
            self.milestone(f'Monitoring evaluation "{self.short(eval_id)}"')
            evaluation = self._until_ended(eval_id)
            self._show_end(evaluation)
            if not evaluation.next_eval:
                return evaluation
            self.milestone(
                f'Monitoring next evaluation "{self.short(evaluation.next_eval)}" '
                f"in {duration_text(evaluation.wait)}"
            )
            eval_id = evaluation.next_eval

    def _until_ended(self, eval_id: str) -> Evaluation:
        seen_allocs: dict[str, AllocStub] = {}
        seen: Evaluation | None = None
        index = 0
        while True:
            with failing_as("Error reading evaluation"):
                answer = evals.wait_past(self._client, eval_id, index=index, wait_s=POLL_INTERVAL_S)
            evaluation, index = answer.value, answer.index
            if not evaluation.id:
                raise CommandError(f'No evaluation(s) with prefix or id "{eval_id}" found')
            with failing_as("Error reading allocations"):
                allocs = evals.allocations(self._client, eval_id).value
            self._show_changes(evaluation, seen)
            for alloc in allocs:
                self._show_alloc(alloc, seen_allocs, evaluation)
            self._show_status(evaluation, seen)
            seen = evaluation
            if evaluation.status in ENDED:
                return evaluation

    def _show_changes(self, evaluation: Evaluation, seen: Evaluation | None) -> None:
        if seen is None:
            if evaluation.node_id:
                self._detail(f'Evaluation triggered by node "{self.short(evaluation.node_id)}"')
            elif evaluation.job_id:
                self._detail(f'Evaluation triggered by job "{evaluation.job_id}"')
        if evaluation.deployment_id and (seen is None or not seen.deployment_id):
            self._detail(f'Evaluation within deployment: "{self.short(evaluation.deployment_id)}"')

    def _show_alloc(self, alloc: AllocStub, seen: dict[str, AllocStub], evaluation: Evaluation) -> None:
        before = seen.get(alloc.id)
        seen[alloc.id] = alloc
        name = self.short(alloc.id)
        if before is None:
            verb = "modified" if alloc.create_index < evaluation.create_index else "created"
            self._detail(
                f'Allocation "{name}" {verb}: node "{self.short(alloc.node_id)}", group "{alloc.task_group}"'
            )
        elif before.client_status != alloc.client_status:
            description = f" ({alloc.client_description})" if alloc.client_description else ""
            change = f'"{before.client_status}" -> "{alloc.client_status}"{description}'
            self._detail(f'Allocation "{name}" status changed: {change}')

    def _show_status(self, evaluation: Evaluation, seen: Evaluation | None) -> None:
        before = seen.status if seen else "pending"
        if evaluation.status not in {before, "pending"}:
            self._detail(f'Evaluation status changed: "{before}" -> "{evaluation.status}"')

    def _show_end(self, evaluation: Evaluation) -> None:
        text = f'Evaluation "{self.short(evaluation.id)}" finished with status "{evaluation.status}"'
        if not evaluation.failed_tg_allocs:
            self.milestone(text)
            return
        self.has_failures = True
        self.milestone(f"{text} but failed to place all allocations:")
        console = self._session.console
        for group, metric in sorted(evaluation.failed_tg_allocs.items()):
            self._detail(f'Task Group "{group}" (failed to place {failed_count(metric)}):')
            for line in reasons(console, metric, indent="      "):
                console.output(line)
        if evaluation.blocked_eval:
            blocked = self.short(evaluation.blocked_eval)
            self._detail(f'Evaluation "{blocked}" waiting for additional capacity to place remainder')
