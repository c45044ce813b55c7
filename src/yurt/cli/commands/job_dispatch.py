"""`yurt job dispatch`: start an instance of a parameterized job."""

import base64
from collections.abc import Sequence
from typing import Annotated, Any

from yurt.cli.arguments import key_values
from yurt.cli.command import Command, Session
from yurt.cli.common_options import FollowOptions
from yurt.cli.errors import CommandError, UsageError, failing_as
from yurt.cli.hints import job_page, show_hint
from yurt.cli.layout import key_list, short_id, table
from yurt.cli.lookup import find_job
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.monitor import EXIT_NOT_ALL_PLACED, follow_evaluation
from yurt.cli.options import Flag
from yurt.model.times import MINUTE_NS
from yurt.sdk import Client, jobs

WAIT_MAX_NS = 5 * MINUTE_NS
POLL_INTERVAL_S = 1.0
EXIT_ALLOC_FAILED = 2


class Options(FollowOptions, frozen=True, kw_only=True):
    """The flags of `job dispatch`."""

    meta: Annotated[
        tuple[str, ...],
        Flag("meta", "Metadata for the instance. May be given several times.", "<key>=<value>"),
    ] = ()
    idempotency_token: Annotated[
        str,
        Flag(
            "idempotency-token", "Prevents a second instance from being made with the same token.", "<token>"
        ),
    ] = ""
    id_prefix_template: Annotated[
        str, Flag("id-prefix-template", "A text put into the ID of the instance.", "<text>")
    ] = ""
    priority: Annotated[int | None, Flag("priority", "The priority of the instance.", "<n>")] = None
    wait: Annotated[bool, Flag("wait", "Wait until the instance has ended, at most five minutes.")] = False
    ui: Annotated[bool, Flag("ui", "Open the instance's page in the browser.")] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Dispatch a job."""
    if len(arguments) not in {1, 2}:
        raise UsageError("This command takes one or two argument: <parameterized job> [input source]")
    is_machine_output = wants_machine_output(options)
    request: dict[str, Any] = {"Meta": key_values(options.meta)}
    if len(arguments) == 2:
        request["Payload"] = base64.b64encode(_payload(session, arguments[1])).decode()
    if options.id_prefix_template:
        request["IdPrefixTemplate"] = options.id_prefix_template
    if options.priority is not None:
        request["Priority"] = options.priority
    job_id, client = find_job(
        session, arguments[0], kind="parameterized ", accepts=lambda job: job.parameterized_job
    )
    with failing_as("Failed to dispatch job"):
        answer = jobs.dispatch(client, job_id, request, idempotency_token=options.idempotency_token)
    if is_machine_output:
        show_record(session.console, options, answer.body)
        return 0
    made = answer.value
    pairs: list[tuple[str, object]] = [("Dispatched Job ID", made.dispatched_job_id)]
    if made.eval_id:
        pairs.append(("Evaluation ID", short_id(made.eval_id, verbose=options.verbose)))
    session.console.output(key_list(pairs))
    if options.detach or not made.eval_id:
        return 0
    show_hint(
        session,
        "View this job in the Web UI",
        job_page(made.dispatched_job_id, client.namespace),
        opens=options.ui,
        more_follows=True,
    )
    session.console.output("")
    code = follow_evaluation(session, client, made.eval_id, verbose=options.verbose)
    # Whoever dispatches cares whether it runs, not why: what could not be placed is a failure.
    code = 1 if code == EXIT_NOT_ALL_PLACED else code
    return _wait(session, client, made.dispatched_job_id) if options.wait and not code else code


def _payload(session: Session, path: str) -> bytes:
    if path == "-":
        return session.console.stdin.buffer.read()
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise CommandError(
            f"Error reading input data: open {path}: {(error.strerror or '').lower()}"
        ) from error


def _wait(session: Session, client: Client, job_id: str) -> int:
    """Wait until the job is dead, and say whether an allocation failed."""
    deadline = session.now() + WAIT_MAX_NS
    session.console.output("")
    while True:
        with failing_as("Error querying job"):
            status = jobs.read(client, job_id).value.status
            groups = jobs.summary(client, job_id).value.summary
        if status == "dead":
            break
        if session.now() >= deadline:
            raise CommandError(f"Timed out waiting for job {job_id!r} to end; it is still {status}")
        session.sleep(POLL_INTERVAL_S)
    if session.console.is_terminal:
        titles = ["Queued", "Complete", "Failed", "Running", "Starting", "Lost", "Unknown"]
        rows: list[list[object]] = [["Task Group", *titles]]
        rows.extend(
            [name, *(getattr(groups[name], title.lower()) for title in titles)] for name in sorted(groups)
        )
        session.console.output(table(rows))
    return EXIT_ALLOC_FAILED if any(counts.failed for counts in groups.values()) else 0


COMMAND = Command(
    path="job dispatch",
    options=Options,
    run=run,
    usage="[options] <parameterized job> [input source]",
    description="""
        Dispatch creates an instance of a parameterized job. A data payload to the dispatched instance can
        be provided via stdin by using "-" or by specifying a path to a file. Metadata can be supplied by
        using the meta flag one or more times.

        Upon successful creation, the dispatched job ID will be printed and the triggered evaluation will
        be monitored. This can be disabled by supplying the detach flag.

        When ACLs are enabled, this command requires a token with the 'dispatch-job' capability for the
        job's namespace. The 'list-jobs' capability is required to run the command with a job prefix
        instead of the exact job ID. The 'read-job' capability is required to monitor the resulting
        evaluation when -detach is not used.
    """,
)
