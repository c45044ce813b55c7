"""`yurt job run`: register a job, and follow what that sets in motion."""

import json
import re
from collections.abc import Sequence
from typing import Annotated, Any

from yurt.cli.command import Command, Session
from yurt.cli.errors import CommandError, UsageError, failing_as
from yurt.cli.hints import job_page, show_hint
from yurt.cli.job_file import JobFileOptions, load_job
from yurt.cli.job_order import ordered_job
from yurt.cli.job_waiting import JobWaiting, LogsFlag, TimeoutFlag
from yurt.cli.job_warnings import show_warnings
from yurt.cli.monitor import EvalMonitor, follow_evaluation
from yurt.cli.options import Flag
from yurt.cli.periodic import next_launch
from yurt.sdk import ApiError, Client, jobs
from yurt.sdk.types.jobs import Registered

INDEX_CONFLICT = re.compile(r"Enforcing job modify index .*")


class Options(JobFileOptions, frozen=True, kw_only=True):
    """The flags of `job run`."""

    wait: Annotated[
        bool,
        Flag(
            "wait",
            "Wait until a batch job has ended, and exit with its task's exit code; until a service is "
            "healthy. -logs and -timeout imply it.",
        ),
    ] = False
    logs: LogsFlag = False
    timeout: TimeoutFlag = None

    check_index: Annotated[
        int | None,
        Flag(
            "check-index",
            "Register the job only if its job modify index is the given one; 0 means that it must not exist "
            "yet. The index is usually obtained from 'yurt job plan'.",
            "<n>",
            form="index",
        ),
    ] = None
    detach: Annotated[
        bool,
        Flag("detach", "Return immediately instead of entering monitor mode; print the evaluation ID."),
    ] = False
    eval_priority: Annotated[
        int | None, Flag("eval-priority", "Override the priority of the evaluations of this run.", "<n>")
    ] = None
    output: Annotated[
        bool, Flag("output", "Output the JSON that would be submitted without submitting the job.")
    ] = False
    policy_override: Annotated[
        bool, Flag("policy-override", "Sets the flag to force override any soft mandatory policies.")
    ] = False
    preserve_counts: Annotated[
        bool, Flag("preserve-counts", "Keep the existing task group counts when updating a job.")
    ] = False
    preserve_resources: Annotated[
        bool, Flag("preserve-resources", "Keep the existing task resources when updating a job.")
    ] = False
    consul_namespace: Annotated[
        str | None, Flag("consul-namespace", "The Consul namespace to set for the job.", "<namespace>")
    ] = None
    vault_namespace: Annotated[
        str | None, Flag("vault-namespace", "The Vault namespace to set for the job.", "<namespace>")
    ] = None
    verbose: Annotated[bool, Flag("verbose", "Display full information.")] = False
    ui: Annotated[bool, Flag("ui", "Open the job's page in the browser.")] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Register a job."""
    if len(arguments) != 1:
        raise UsageError("This command takes one argument: <path>")
    loaded = load_job(session, arguments[0], options)
    job = loaded.job
    if options.detach and (options.wait or options.logs or options.timeout is not None):
        raise CommandError("-detach excludes -wait, -logs and -timeout")
    if options.consul_namespace is not None:
        job["ConsulNamespace"] = options.consul_namespace
    if options.vault_namespace is not None:
        job["VaultNamespace"] = options.vault_namespace
    if options.output:
        session.console.output(json.dumps({"Job": ordered_job(job)}, indent=4, ensure_ascii=False))
        return 0
    client = loaded.client(session.client)
    registered = _register(client, job, loaded.submission, options)
    show_warnings(session.console, registered.warnings)
    return _follow(session, client, job, registered, options)


def _register(
    client: Client, job: dict[str, Any], submission: dict[str, Any], options: Options
) -> Registered:
    extra: dict[str, Any] = {
        "PolicyOverride": options.policy_override,
        "PreserveCounts": options.preserve_counts,
        "PreserveResources": options.preserve_resources,
    }
    if options.eval_priority is not None:
        extra["EvalPriority"] = options.eval_priority
    try:
        with failing_as("Error submitting job"):
            return jobs.register(
                client, job, source=submission, check_index=options.check_index, options=extra
            ).value
    except CommandError as error:
        cause = error.__cause__
        conflict = INDEX_CONFLICT.search(cause.body) if isinstance(cause, ApiError) else None
        if conflict:
            raise CommandError(f"{conflict[0]}\nJob not updated") from error
        raise


def _follow(
    session: Session, client: Client, job: dict[str, Any], registered: Registered, options: Options
) -> int:
    is_monitored = bool(registered.eval_id) and not options.detach
    if not is_monitored:
        session.console.output("Job registration successful")
        if job.get("Periodic"):
            launch = next_launch(job["Periodic"], session.now())
            if launch:
                session.console.output(f"Approximate next launch time: {launch}")
        elif registered.eval_id:
            session.console.output(f"Evaluation ID: {registered.eval_id}")
    show_hint(
        session,
        "View this job in the Web UI",
        # Scripts know this address: only the flag's namespace is in it.
        job_page(job["ID"], options.namespace or ""),
        opens=options.ui,
        more_follows=is_monitored,
    )
    if not is_monitored:
        return 0
    if options.wait or options.logs or options.timeout is not None:
        evaluation = EvalMonitor(session, client, verbose=options.verbose).follow(registered.eval_id)
        return JobWaiting(
            session,
            client,
            job["ID"],
            logs=options.logs,
            timeout=options.timeout,
            known_blocked=evaluation.blocked_eval,
        ).wait()
    return follow_evaluation(session, client, registered.eval_id, verbose=options.verbose)


COMMAND = Command(
    path="job run",
    aliases=("run",),
    options=Options,
    run=run,
    usage="[options] <path>",
    description="""
        Starts running a new job or updates an existing job using the specification located at <path>.
        This is the main command used to interact with the cluster.

        If the supplied path is "-", the job file is read from stdin. Otherwise it is read from the file
        at the supplied path or downloaded from the given http or https address.

        Upon successful job submission, this command will immediately enter an interactive monitor. This
        is useful to watch the internals make scheduling decisions and place the submitted work onto
        nodes. The monitor will end once job placement is done. It is safe to exit the monitor early using
        ctrl+c.

        On successful job submission and scheduling, exit code 0 will be returned. If there are job
        placement issues encountered (unsatisfiable constraints, resource exhaustion, etc), then the exit
        code will be 2. Any other errors, including a failed deployment, result in exit code 1.

        With -wait the command goes on until a batch job has ended, and exits with its task's exit code; see
        'yurt job wait'.

        When ACLs are enabled, this command requires a token with the 'submit-job' capability for the
        job's namespace.
    """,
)
