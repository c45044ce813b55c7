"""`yurt volume detach`: detach a volume from a node."""

from collections.abc import Sequence

from yurt.cli.command import Command, Session
from yurt.cli.errors import UsageError, failing_as
from yurt.cli.lookup import find_node
from yurt.cli.options import GeneralOptions
from yurt.sdk import volumes


def run(session: Session, _options: GeneralOptions, arguments: Sequence[str]) -> int:
    """Detach a volume."""
    if len(arguments) != 2:
        raise UsageError("This command takes two arguments: <vol id> <node id>")
    volume_id, node = arguments
    not_found = f'No node(s) with prefix or id "{node}" found'
    node_id = find_node(session, node, not_found=not_found, context="Error detaching volume").id
    with failing_as("Error detaching volume"):
        volumes.detach_csi(session.client, volume_id, node_id)
    return 0


COMMAND = Command(
    path="volume detach",
    options=GeneralOptions,
    run=run,
    usage="[options] <vol id> <node id>",
    description="""
        Detach a volume from a node.

        When ACLs are enabled, this command requires a token with the 'csi-mount-volume' capability for
        the volume's namespace.
    """,
)
