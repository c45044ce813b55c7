"""Restarting allocations in batches, waiting and asking in between."""

import math
from collections.abc import Sequence

import msgspec

from yurt.cli.command import Session
from yurt.cli.errors import CommandError
from yurt.cli.layout import short_id
from yurt.cli.times import absolute
from yurt.model.durations import duration_text, parse_duration
from yurt.model.times import SECOND_NS
from yurt.sdk import ApiError, Client, SdkError, allocs
from yurt.sdk.types.allocs import AllocStub

POLL_INTERVAL_S = 1.0


class RestartPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What to do with each allocation, and what between batches. No wait time means to ask."""

    tasks: tuple[str, ...]
    all_tasks: bool
    reschedule: bool
    no_shutdown_delay: bool
    batch_wait_ns: int | None
    asks_on_error: bool
    goes_on_after_error: bool
    verbose: bool


class _Cancelled(Exception):
    """The person does not want to go on."""


def batch_size_of(text: str, total: int) -> int:
    """Read `5` or `20%`; shares are rounded up. Raises `CommandError`."""
    number = text.removesuffix("%")
    if not (number.isascii() and number.isdigit() and int(number) > 0):
        raise CommandError(f"Invalid -batch-size value {text!r}: use a positive number or percentage")
    return math.ceil(total * int(number) / 100) if text.endswith("%") else int(number)


def restart_in_batches(
    session: Session, client: Client, plan: RestartPlan, job_id: str, chosen: Sequence[AllocStub], size: int
) -> int:
    """Restart all chosen allocations. Returns 1 when some could not be."""
    run = _Run(session, client, plan)
    verb = "Rescheduling" if plan.reschedule else "Restarting"
    run.milestone(f"{verb} {_allocations(len(chosen))}")
    batches = [chosen[start : start + size] for start in range(0, len(chosen), size)]
    try:
        for number, batch in enumerate(batches, 1):
            run.milestone(f"{verb} {_ordinal(number)} batch of {_allocations(len(batch))}")
            for alloc in batch:
                run.restart(alloc)
            if number < len(batches):
                run.wait_between()
    except _Cancelled:
        session.console.output("\nJob restart canceled.")
        return 0
    run.milestone("Finished job restart")
    if run.problems:
        listing = "\n".join(f"* {problem}" for problem in run.problems)
        raise CommandError(f"\nSome allocations of job {job_id!r} could not be restarted:\n\n{listing}")
    session.console.output("\nJob restarted successfully!")
    return 0


class _Run:
    """The state of one restart."""

    def __init__(self, session: Session, client: Client, plan: RestartPlan) -> None:
        self._session = session
        self._client = client
        self._plan = plan
        self.problems: list[str] = []

    def milestone(self, text: str) -> None:
        """Print a step."""
        console = self._session.console
        console.output(console.bold(f"==> {absolute(self._session.now())}: {text}"))

    def restart(self, alloc: AllocStub) -> None:
        """Restart or reschedule one allocation; a failure is noted, and may end the run."""
        name = short_id(alloc.id, verbose=self._plan.verbose)
        verb = "Rescheduling" if self._plan.reschedule else "Restarting"
        group = f'"{name}" for group "{alloc.task_group}"'
        self._session.console.output(f"    {absolute(self._session.now())}: {verb} allocation {group}")
        try:
            if self._plan.reschedule:
                self._replace(alloc)
            else:
                for task in self._plan.tasks or ("",):
                    if not task or task in alloc.task_states:
                        allocs.restart(self._client, alloc.id, task=task, all_tasks=self._plan.all_tasks)
        except SdkError as error:
            self._note_failure(name, error)

    def _replace(self, alloc: AllocStub) -> None:
        """Stop an allocation and wait until its replacement runs."""
        allocs.stop(self._client, alloc.id, no_shutdown_delay=self._plan.no_shutdown_delay)
        while True:
            replacement = allocs.read(self._client, alloc.id).value.next_allocation
            if replacement and allocs.read(self._client, replacement).value.client_status != "pending":
                short = short_id(replacement, verbose=self._plan.verbose)
                self._session.console.output(
                    f'    {absolute(self._session.now())}: Allocation "{alloc.id[:8]}" replaced by "{short}"'
                )
                return
            self._session.sleep(POLL_INTERVAL_S)

    def _note_failure(self, name: str, error: SdkError) -> None:
        self.problems.append(f"Error restarting allocation {name!r}: {error}")
        is_denied = isinstance(error, ApiError) and error.status == 403
        if is_denied or not (self._plan.asks_on_error or self._plan.goes_on_after_error):
            raise CommandError(self.problems[-1]) from error
        self._session.console.error(self.problems[-1])
        if self._plan.asks_on_error and not self._is_wanted("Do you want to continue? [Y/n]"):
            raise _Cancelled

    def wait_between(self) -> None:
        """Wait before the next batch, or ask."""
        wait_ns = self._plan.batch_wait_ns
        if wait_ns is None:
            question = "Proceed with next batch? [Y/n/<wait duration>]"
            if not self._is_wanted(question):
                raise _Cancelled
        elif wait_ns > 0:
            self.milestone(f"Waiting {duration_text(wait_ns)} before restarting the next batch")
            self._session.sleep(wait_ns / SECOND_NS)

    def _is_wanted(self, question: str) -> bool:
        while True:
            answer = self._session.console.ask(question).lower()
            if answer in {"", "y", "yes"}:
                return True
            if answer in {"n", "no"}:
                return False
            try:
                self._session.sleep(parse_duration(answer) / SECOND_NS)
            except ValueError:
                continue
            return True


def _allocations(count: int) -> str:
    return f"{count} allocation" + ("" if count == 1 else "s")


def _ordinal(number: int) -> str:
    suffix = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"
