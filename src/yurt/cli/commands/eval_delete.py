"""`yurt eval delete`: remove evaluations while the broker is paused."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.command import PROGRAM, Command, Session
from yurt.cli.confirm import confirm
from yurt.cli.errors import CommandError, failing_as
from yurt.cli.lookup import find_eval
from yurt.cli.options import Flag, GeneralOptions
from yurt.sdk import evals, operator


class Options(GeneralOptions, frozen=True, kw_only=True):
    """The flags of `eval delete`."""

    filter: Annotated[
        str | None, Flag("filter", "Delete the evaluations that match this expression.", "<expression>")
    ] = None
    yes: Annotated[bool, Flag("yes", "Automatic yes to prompts.")] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Delete one evaluation, or those that match a filter."""
    _check(arguments, options)
    with failing_as("Error querying scheduler configuration"):
        is_paused = operator.scheduler_config(session.client).value.scheduler_config.pause_eval_broker
    if not is_paused:
        command = f"{PROGRAM} operator scheduler set-config -pause-eval-broker"
        session.console.error("Eval broker is not paused")
        session.console.output(
            f'To delete evaluations you must first pause the eval broker by running "{command}=true"\n'
            f'After the deletion is complete, unpause the eval broker by running "{command}=false"'
        )
        return 1
    if arguments:
        eval_id = find_eval(session, arguments[0]).id
        with failing_as("Error deleting evaluation"):
            count = evals.delete(session.client, eval_ids=(eval_id,))
    else:
        expression = options.filter or ""
        with failing_as("Error counting evaluations"):
            matching = evals.count(session.client, filter=expression)
        if not matching:
            raise CommandError("failed to find any evals that matched filter criteria")
        if not options.yes:
            question = f"Are you sure you want to delete {_evaluations(matching)}?"
            refused = confirm(session, question, cancelled="Cancelling eval deletion")
            if refused is not None:
                return refused
        with failing_as("Error deleting evaluations"):
            count = evals.delete(session.client, filter_expression=expression)
    session.console.output(f"Successfully deleted {_evaluations(count)}")
    return 0


def _check(arguments: Sequence[str], options: Options) -> None:
    problem = ""
    if len(arguments) > 1:
        problem = f"expected 1 argument, got {len(arguments)}"
    elif arguments and options.filter:
        problem = "evaluation ID and filter flag both given, use only one of them"
    elif not arguments and not options.filter:
        problem = "evaluation ID or filter flag required"
    if problem:
        raise CommandError(f"Error validating command args and flags: {problem}")


def _evaluations(count: int) -> str:
    return f"{count} evaluation" + ("" if count == 1 else "s")


COMMAND = Command(
    path="eval delete",
    options=Options,
    run=run,
    usage="[options] <evaluation>",
    description="""
        Delete an evaluation by ID, or all that match a filter. If the evaluation ID is omitted, this
        command will use the filter flag to identify and delete a set of evaluations. The evaluation
        broker must be paused meanwhile, since evaluations that are being worked on must not vanish.

        When ACLs are enabled, this command requires a management token.
    """,
)
