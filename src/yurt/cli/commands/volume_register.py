"""`yurt volume register`: register storage that is there already."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.arguments import one_argument
from yurt.cli.command import Command, Session
from yurt.cli.errors import CommandError, failing_as
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.options import Flag, FormatOptions
from yurt.cli.volume_spec import read_volume
from yurt.sdk import volumes


class Options(FormatOptions, frozen=True, kw_only=True):
    """The flags of `volume register`."""

    id: Annotated[str, Flag("id", "Update the host volume with this ID.", "<id>")] = ""
    policy_override: Annotated[
        bool, Flag("policy-override", "Sets the flag to force override any soft mandatory policies.")
    ] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Register a volume from a specification."""
    is_machine_output = wants_machine_output(options)
    volume = read_volume(session, one_argument(arguments, "<input>"))
    kind = volume.pop("Type", "csi")
    if kind == "csi":
        if not volume.get("ID"):
            raise CommandError("Error registering volume: the specification has no id")
        with failing_as("Error registering volume"):
            volumes.register_csi(session.client, volume)
        if is_machine_output:
            with failing_as("Error reading volume"):
                show_record(session.console, options, volumes.read_csi(session.client, volume["ID"]).body)
        else:
            session.console.output(f"Volume {volume['ID']!r} registered")
        return 0
    if options.id:
        volume["ID"] = options.id
    with failing_as("Error registering volume"):
        answer = volumes.register_host(session.client, volume, policy_override=options.policy_override)
    made = answer.value.volume
    if is_machine_output:
        with failing_as("Error reading volume"):
            show_record(session.console, options, volumes.read_host(session.client, made.id).body)
        return 0
    session.console.output(f"Registered host volume {made.name} with ID {made.id}")
    return 0


COMMAND = Command(
    path="volume register",
    options=Options,
    run=run,
    usage="[options] <input>",
    description="""
        Registers a volume that already exists. The input may be "-" for stdin or the path of a volume
        specification file.

        When ACLs are enabled, this command requires a token with the appropriate capability in the
        volume's namespace: 'csi-write-volume' or 'host-volume-register'.
    """,
)
