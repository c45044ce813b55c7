"""`yurt volume delete`: destroy a volume."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.arguments import key_values, one_argument
from yurt.cli.command import Command, Session
from yurt.cli.errors import CommandError, failing_as
from yurt.cli.options import Flag, GeneralOptions
from yurt.sdk import volumes


class Options(GeneralOptions, frozen=True, kw_only=True):
    """The flags of `volume delete`."""

    type: Annotated[str, Flag("type", "The type of the volume: csi or host. Default = csi", "<type>")] = "csi"
    secrets: Annotated[
        tuple[str, ...],
        Flag(
            "secret",
            "A secret that the storage plugin needs to delete the volume. May be given several times.",
            "<key>=<value>",
        ),
    ] = ()
    force: Annotated[bool, Flag("force", "Delete a host volume even if its node does not answer.")] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Delete a volume."""
    volume_id = one_argument(arguments, "<vol id>")
    if options.type not in {"csi", "host"}:
        raise CommandError(f"No such volume type {options.type!r}: use csi or host")
    secrets = key_values(options.secrets, what="secret")
    with failing_as("Error deleting volume"):
        if options.type == "host":
            volumes.delete_host(session.client, volume_id, force=options.force)
        else:
            volumes.delete_csi(session.client, volume_id, secrets=secrets)
    session.console.output(f"Successfully deleted volume {volume_id!r}!")
    return 0


COMMAND = Command(
    path="volume delete",
    options=Options,
    run=run,
    usage="[options] <vol id>",
    description="""
        Delete a volume and its storage. The volume must not be in use.

        When ACLs are enabled, this command requires a token with the appropriate capability in the
        volume's namespace: 'csi-write-volume' or 'host-volume-delete'.
    """,
)
