"""`yurt why`: what every node says to a job."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.command import Command, Session
from yurt.cli.errors import UsageError, failing_as
from yurt.cli.layout import short_id, table
from yurt.cli.lookup import find_job
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.options import Flag, FormatOptions
from yurt.sdk import placements
from yurt.sdk.types.placements import NodeVerdict


class Options(FormatOptions, frozen=True, kw_only=True):
    """The flags of `why`."""

    group: Annotated[str, Flag("group", "Only this group of the job.", "<name>")] = ""
    node: Annotated[str, Flag("node", "Only this node, by name or by the start of its ID.", "<node>")] = ""
    verbose: Annotated[bool, Flag("verbose", "Show full-length IDs and the parts of scores.")] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Show the verdicts."""
    if len(arguments) != 1:
        raise UsageError("This command takes one argument: <job>")
    is_machine_output = wants_machine_output(options)
    job_id, client = find_job(session, arguments[0])
    with failing_as("Error querying placements"):
        answer = placements.of_job(client, job_id, group=options.group, node=options.node)
    if is_machine_output:
        show_record(session.console, options, answer.body)
        return 0
    for name, verdicts in answer.value.groups.items():
        session.console.output(f'Group "{name}": what each node says to one more instance')
        session.console.output(_table(verdicts, verbose=options.verbose) + "\n")
    if answer.value.is_truncated:
        session.console.output("Some nodes were left out; name one with -node.")
    return 0


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
    usage="[options] <job>",
    description="""
        Shows for every node whether one more instance of a job could go there, and why not: the rule that
        turns it away with the values it compared, or the score of the nodes that suit, best first.

        The verdicts are made when you ask, from the newest state.
    """,
)
