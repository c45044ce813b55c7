"""`yurt volume deregister`: forget a volume."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.arguments import one_argument
from yurt.cli.command import Command, Session
from yurt.cli.confirm import confirm
from yurt.cli.errors import failing_as
from yurt.cli.options import Flag, GeneralOptions
from yurt.sdk import volumes


class Options(GeneralOptions, frozen=True, kw_only=True):
    """The flags of `volume deregister`."""

    force: Annotated[bool, Flag("force", "Deregister the volume even if it is in use.")] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Deregister a volume."""
    volume_id = one_argument(arguments, "<id>")
    if options.force:
        question = f"Are you sure you want to force deregister volume {volume_id!r}?"
        refused = confirm(session, question, cancelled="Cancelling volume deregister")
        if refused is not None:
            return refused
    with failing_as("Error deregistering volume"):
        volumes.deregister_csi(session.client, volume_id, force=options.force)
    return 0


COMMAND = Command(
    path="volume deregister",
    options=Options,
    run=run,
    usage="[options] <id>",
    description="""
        Remove an unused volume from the cluster. Its storage stays.

        When ACLs are enabled, this command requires a token with the 'csi-write-volume' capability for
        the volume's namespace.
    """,
)
