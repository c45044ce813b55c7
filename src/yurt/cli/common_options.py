"""Flags that many commands share, and what they lead to."""

from typing import Annotated

from yurt.cli.command import Session
from yurt.cli.monitor import follow_evaluation
from yurt.cli.options import Flag, FormatOptions, GeneralOptions
from yurt.sdk import Client


class VerboseOptions(GeneralOptions, frozen=True, kw_only=True):
    """Commands that show ids in short or in full."""

    verbose: Annotated[bool, Flag("verbose", "Display full information.")] = False


class VerboseFormatOptions(FormatOptions, frozen=True, kw_only=True):
    """The same, with JSON and templates."""

    verbose: Annotated[bool, Flag("verbose", "Display full information.")] = False


class FollowOptions(VerboseFormatOptions, frozen=True, kw_only=True):
    """Commands that set an evaluation in motion and follow it, or show the answer to a program at once."""

    detach: Annotated[
        bool,
        Flag("detach", "Return immediately instead of entering monitor mode; print the evaluation ID."),
    ] = False


def follow(session: Session, client: Client, eval_id: str, options: FollowOptions, *, done: str = "") -> int:
    """Follow an evaluation or, detached, print `done` and its id. With nothing to follow all is well."""
    if options.detach or not eval_id:
        if done:
            session.console.output(done)
        if eval_id:
            session.console.output(f"Evaluation ID: {eval_id}")
        return 0
    return follow_evaluation(session, client, eval_id, verbose=options.verbose)
