"""`yurt why`: what every node says to a job, and what became of an allocation or evaluation."""

import json
import re
from collections.abc import Sequence
from typing import Annotated, NamedTuple

from yurt.cli.command import Command, Session
from yurt.cli.errors import UsageError, failing_as
from yurt.cli.layout import short_id, table
from yurt.cli.lookup import find_alloc, find_eval, find_job
from yurt.cli.machine_output import show_value, wants_machine_output
from yurt.cli.options import Flag, FormatOptions
from yurt.cli.placement import failed_count, reasons, score_table
from yurt.cli.times import relative
from yurt.sdk import Client, placements, search
from yurt.sdk.types.allocs import Alloc
from yurt.sdk.types.evals import Evaluation
from yurt.sdk.types.placements import NodeVerdict

ID_PREFIX = re.compile(r"[0-9a-f][0-9a-f-]+")


class Options(FormatOptions, frozen=True, kw_only=True):
    """The flags of `why`."""

    group: Annotated[str, Flag("group", "Only this group of the job.", "<name>")] = ""
    node: Annotated[str, Flag("node", "Only this node, by name or by the start of its ID.", "<node>")] = ""
    verbose: Annotated[bool, Flag("verbose", "Show full-length IDs and the parts of scores.")] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Show the verdicts."""
    if len(arguments) != 1:
        raise UsageError("This command takes one argument: <job>, <allocation> or <evaluation>")
    is_machine_output = wants_machine_output(options)
    subject = _find(session, arguments[0])
    if not is_machine_output and subject.story:
        session.console.output(subject.story + "\n")
    groups: dict[str, tuple[NodeVerdict, ...]] = {}
    is_truncated = False
    documents = []
    for group in (options.group,) if options.group else subject.groups or ("",):
        with failing_as("Error querying placements"):
            answer = placements.of_job(subject.client, subject.job_id, group=group, node=options.node)
        groups |= answer.value.groups
        is_truncated = is_truncated or answer.value.is_truncated
        documents.append(json.loads(answer.body))
    if is_machine_output:
        merged = {name: verdicts for document in documents for name, verdicts in document["Groups"].items()}
        show_value(session.console, options, {**documents[0], "Groups": merged})
        return 0
    for name, verdicts in groups.items():
        session.console.output(f'Group "{name}": what each node says to one more instance')
        session.console.output(_table(verdicts, verbose=options.verbose) + "\n")
    if is_truncated:
        session.console.output("Some nodes were left out; name one with -node.")
    return 0


class Subject(NamedTuple):
    """What was asked about: a job, perhaps some groups of it, and what is known of its past."""

    job_id: str
    client: Client
    groups: tuple[str, ...] = ()
    story: str = ""


def _find(session: Session, name: str) -> Subject:
    """Find a job by its name, else an allocation or an evaluation by its id, else a job by a prefix."""
    if ID_PREFIX.fullmatch(name):
        with failing_as(f'Error querying search with id: "{name}"'):
            found = search.by_prefix(session.client, name).value.matches
        if name not in (found.get("jobs") or ()):
            if found.get("allocs"):
                return _of_alloc(session, find_alloc(session, name))
            if found.get("evals"):
                return _of_evaluation(session, find_eval(session, name))
    job_id, client = find_job(session, name)
    return Subject(job_id, client)


def _of_alloc(session: Session, alloc: Alloc) -> Subject:
    lines = [
        f'Allocation "{alloc.id[:8]}" ({alloc.name}) was placed on node "{alloc.node_name}" '
        f"{relative(alloc.create_time, session.now())}: {alloc.metrics.nodes_evaluated} nodes looked at, "
        f"{alloc.metrics.nodes_filtered} filtered, {alloc.metrics.nodes_exhausted} without room"
    ]
    if scores := score_table(alloc.metrics):
        lines.append(scores)
    lines += [line.strip() for line in reasons(session.console, alloc.metrics, indent="")]
    wanted = f", wanted: {alloc.desired_status}" if alloc.desired_status != "run" else ""
    why = alloc.desired_description or alloc.client_description
    lines.append(f"It is {alloc.client_status}{wanted}" + (f": {why}" if why else ""))
    for task, state in sorted(alloc.task_states.items()):
        if state.events:
            last = max(state.events, key=lambda event: event.time)
            lines.append(f'Task "{task}" is {state.state}: {last.display_message or last.type}')
    client = session.client.within(namespace=alloc.namespace)
    return Subject(alloc.job_id, client, (alloc.task_group,), "\n".join(lines))


def _of_evaluation(session: Session, evaluation: Evaluation) -> Subject:
    described = f": {evaluation.status_description}" if evaluation.status_description else ""
    lines = [
        f'Evaluation "{evaluation.id[:8]}" of job "{evaluation.job_id}" ({evaluation.triggered_by}) is '
        f"{evaluation.status}{described}"
    ]
    for group, metric in sorted(evaluation.failed_tg_allocs.items()):
        lines.append(f'It found no place for {failed_count(metric)} of group "{group}":')
        lines += reasons(session.console, metric, indent="  ")
    if evaluation.blocked_eval:
        lines.append(f'Evaluation "{evaluation.blocked_eval[:8]}" waits for room for the rest')
    client = session.client.within(namespace=evaluation.namespace)
    return Subject(evaluation.job_id, client, tuple(sorted(evaluation.failed_tg_allocs)), "\n".join(lines))


def _table(verdicts: Sequence[NodeVerdict], *, verbose: bool) -> str:
    rows: list[list[object]] = [["Node ID", "Name", "Verdict", "Score", "Why"]]
    for verdict in verdicts:
        suits = verdict.verdict == "suits"
        rows.append(
            [
                short_id(verdict.node_id, verbose=verbose),
                verdict.node_name,
                verdict.verdict,
                f"{verdict.score:.3f}" if suits else "",
                _reason(verdict, verbose=verbose),
            ]
        )
    return table(rows)


def _reason(verdict: NodeVerdict, *, verbose: bool) -> str:
    if verdict.verdict == "suits":
        if not verbose:
            return ""
        return ", ".join(f"{name} {value:.3f}" for name, value in verdict.scores.items())
    compared = ""
    if verdict.found is not None or verdict.wanted is not None:
        compared = f" (found {verdict.found or 'nothing'}, wanted {verdict.wanted or 'something'})"
    return verdict.rule + compared


COMMAND = Command(
    path="why",
    options=Options,
    run=run,
    usage="[options] <job|allocation|evaluation>",
    description="""
        Shows for every node whether one more instance of a job could go there, and why not: the rule that
        turns it away with the values it compared, or the score of the nodes that suit, best first.

        For an allocation it first says how its node was chosen and what became of it, for an evaluation
        what it could not place; the verdicts are then about their groups.

        The verdicts are made when you ask, from the newest state.
    """,
)
