"""`yurt eval status`: one evaluation, and what came of it."""

import json
from collections.abc import Sequence
from typing import Annotated

from yurt.cli.command import Command, Session
from yurt.cli.errors import UsageError, failing_as
from yurt.cli.hints import show_hint
from yurt.cli.layout import key_list, short_id, table
from yurt.cli.lookup import find_eval
from yurt.cli.machine_output import show_value, wants_machine_output, with_members
from yurt.cli.monitor import follow_evaluation
from yurt.cli.options import Flag, FormatOptions, WatchFlag
from yurt.cli.placement import failed_count, reasons
from yurt.cli.records import EVALUATION_MEMBERS
from yurt.cli.tables import brief_alloc_table, placement_failures
from yurt.cli.times import absolute, relative, time_of
from yurt.sdk import evals
from yurt.sdk.types.allocs import AllocStub
from yurt.sdk.types.evals import DesiredUpdates, Evaluation

COUNT_COLUMNS = (
    ("Ignore", "ignore"),
    ("Place", "place"),
    ("Stop", "stop"),
    ("InPlace", "in_place_update"),
    ("Destructive", "destructive_update"),
)
RARE_COUNT_COLUMNS = (
    ("Migrate", "migrate"),
    ("Canary", "canary"),
    ("Preemptions", "preemptions"),
    ("Reschedule Now", "reschedule_now"),
    ("Reschedule Later", "reschedule_later"),
    ("Disconnect", "disconnect"),
    ("Reconnect", "reconnect"),
)


class Options(FormatOptions, frozen=True, kw_only=True):
    """The flags of `eval status`."""

    watch: WatchFlag = False
    monitor: Annotated[bool, Flag("monitor", "Monitor an outstanding evaluation.")] = False
    verbose: Annotated[bool, Flag("verbose", "Show full-length IDs and exact timestamps.")] = False
    ui: Annotated[bool, Flag("ui", "Open the evaluation's page in the browser.")] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Show an evaluation."""
    if len(arguments) != 1:
        raise UsageError("This command takes one argument")
    eval_id = find_eval(session, arguments[0]).id
    if options.monitor:
        return follow_evaluation(session, session.client, eval_id, verbose=options.verbose)
    is_machine_output = wants_machine_output(options)
    with failing_as("Error querying evaluation"):
        answer = evals.read(session.client, eval_id, related=True)
    if is_machine_output:
        show_value(session.console, options, with_members(json.loads(answer.body), EVALUATION_MEMBERS))
        return 0
    with failing_as("Error querying related allocations"):
        allocs = evals.allocations(session.client, eval_id).value
    _show(session, answer.value, allocs, verbose=options.verbose)
    show_hint(
        session,
        "View evaluation details in the Web UI",
        f"evaluations?currentEval={eval_id}",
        opens=options.ui,
    )
    return 0


def _show(session: Session, evaluation: Evaluation, allocs: tuple[AllocStub, ...], *, verbose: bool) -> None:
    console = session.console
    console.output(_keys(session, evaluation, verbose=verbose))
    if evaluation.related_evals:
        console.heading("Related Evaluations")
        console.output(_related(evaluation, verbose=verbose))
    annotations = evaluation.plan_annotations
    if annotations is not None and annotations.desired_tg_updates:
        console.heading("Plan Annotations")
        console.output(_annotations(annotations.desired_tg_updates, verbose=verbose))
    if annotations is not None and annotations.preempted_allocs:
        console.heading("Preempted Allocations")
        console.output(_preempted(session, annotations.preempted_allocs, verbose=verbose))
    if allocs:
        console.heading("Placed Allocations")
        console.output(brief_alloc_table(allocs, now=session.now(), full_ids=verbose))
    if evaluation.failed_tg_allocs:
        console.heading("Failed Placements")
        for group, metric in sorted(evaluation.failed_tg_allocs.items()):
            console.output(f'Task Group "{group}" (failed to place {failed_count(metric)}):')
            for line in reasons(console, metric, indent="  "):
                console.output(line)
            console.output("")
        if evaluation.blocked_eval:
            blocked = short_id(evaluation.blocked_eval, verbose=verbose)
            console.output(f'Evaluation "{blocked}" waiting for additional capacity to place remainder')
    if evaluation.missing_non_node_resources:
        console.heading("Missing Resources")
        console.output("\n".join(evaluation.missing_non_node_resources))


def _keys(session: Session, evaluation: Evaluation, *, verbose: bool) -> str:
    now = session.now()

    def moment(at: int) -> str:
        return absolute(at) if verbose else relative(at, now)

    def short(full_id: str) -> str:
        return short_id(full_id, verbose=verbose)

    pairs: list[tuple[str, object]] = [
        ("ID", short(evaluation.id)),
        ("Create Time", moment(evaluation.create_time)),
        ("Modify Time", moment(evaluation.modify_time)),
        ("Status", evaluation.status),
        ("Status Description", evaluation.status_description or evaluation.status),
        ("Type", evaluation.type),
        ("TriggeredBy", evaluation.triggered_by),
        ("Job ID", evaluation.job_id),
        ("Namespace", evaluation.namespace),
    ]
    if evaluation.node_id:
        pairs.append(("Node ID", short(evaluation.node_id)))
    pairs += [
        ("Priority", evaluation.priority),
        ("Placement Failures", placement_failures(evaluation)),
    ]
    if evaluation.wait_until:
        pairs.append(("Wait Until", moment(time_of(evaluation.wait_until))))
    if evaluation.quota_limit_reached:
        pairs.append(("Quota Limit Reached", evaluation.quota_limit_reached))
    pairs += [
        ("Previous Eval", short(evaluation.previous_eval)),
        ("Next Eval", short(evaluation.next_eval)),
        ("Blocked Eval", short(evaluation.blocked_eval)),
    ]
    return key_list(pairs)


def _related(evaluation: Evaluation, *, verbose: bool) -> str:
    rows: list[list[object]] = [["ID", "Priority", "Triggered By", "Node ID", "Status", "Description"]]
    rows.extend(
        [
            short_id(related.id, verbose=verbose),
            related.priority,
            related.triggered_by,
            short_id(related.node_id, verbose=verbose),
            related.status,
            related.status_description,
        ]
        for related in evaluation.related_evals
    )
    return table(rows)


def _annotations(updates: dict[str, DesiredUpdates], *, verbose: bool) -> str:
    rare = [
        (title, field)
        for title, field in RARE_COUNT_COLUMNS
        if verbose or any(getattr(group, field) for group in updates.values())
    ]
    columns = [*COUNT_COLUMNS, *rare]
    rows: list[list[object]] = [["Task Group", *(title for title, _ in columns)]]
    rows.extend([name, *(getattr(updates[name], field) for _, field in columns)] for name in sorted(updates))
    return table(rows, empty="")


def _preempted(session: Session, allocs: tuple[AllocStub, ...], *, verbose: bool) -> str:
    now = session.now()
    rows: list[list[object]] = [
        ["ID", "Job ID", "Node ID", "Task Group", "Version", "Desired", "Status", "Created", "Modified"]
    ]
    rows.extend(
        [
            short_id(alloc.id, verbose=verbose),
            alloc.job_id,
            short_id(alloc.node_id, verbose=verbose),
            alloc.task_group,
            alloc.job_version,
            alloc.desired_status,
            alloc.client_status,
            relative(alloc.create_time, now),
            relative(alloc.modify_time, now),
        ]
        for alloc in allocs
    )
    return table(rows)


COMMAND = Command(
    path="eval status",
    options=Options,
    run=run,
    usage="[options] <evaluation>",
    description="""
        Display information about evaluations. This command can be used to inspect the current status of an
        evaluation as well as determine the reason an evaluation did not place all allocations.

        When ACLs are enabled, this command requires a token with the 'read-job' capability for the
        evaluation's namespace.
    """,
)
