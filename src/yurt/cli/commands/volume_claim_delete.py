"""`yurt volume claim delete`."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.arguments import one_argument
from yurt.cli.command import Command, Session
from yurt.cli.confirm import confirm
from yurt.cli.errors import failing_as
from yurt.cli.options import Flag, GeneralOptions
from yurt.sdk import volumes


class Options(GeneralOptions, frozen=True, kw_only=True):
    """The flags of `volume claim delete`."""

    yes: Annotated[bool, Flag("y", "Automatic yes to prompts.", also=("yes",))] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Delete a claim."""
    claim_id = one_argument(arguments, "<claim id>")
    if not options.yes:
        question = f"Are you sure you want to delete task group host volume claim {claim_id!r}?"
        refused = confirm(session, question, cancelled="Cancelling task group host volume claim deletion")
        if refused is not None:
            return refused
    with failing_as("Error deleting task group host volume claim"):
        volumes.delete_claim(session.client, claim_id)
    session.console.output(f"Task group host volume claim {claim_id} successfully deleted")
    return 0


COMMAND = Command(
    path="volume claim delete",
    options=Options,
    run=run,
    usage="[options] <claim id>",
    description="""
        Delete the claim of a task group on a sticky host volume. The data on the volume stays, but the
        group may get another volume.

        When ACLs are enabled, this command requires a token with the 'host-volume-delete' capability.
    """,
)
