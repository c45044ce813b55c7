"""`yurt volume create`: make a volume."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.arguments import one_argument
from yurt.cli.command import Command, Session
from yurt.cli.common_options import VerboseFormatOptions
from yurt.cli.errors import CommandError, failing_as
from yurt.cli.layout import short_id
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.options import Flag
from yurt.cli.times import absolute
from yurt.cli.volume_spec import read_volume
from yurt.sdk import volumes

POLL_INTERVAL_S = 1.0
READY = frozenset({"ready"})
FAILED = frozenset({"unavailable"})


class Options(VerboseFormatOptions, frozen=True, kw_only=True):
    """The flags of `volume create`."""

    detach: Annotated[bool, Flag("detach", "Return immediately instead of waiting for the volume.")] = False
    id: Annotated[str, Flag("id", "Update the host volume with this ID.", "<id>")] = ""
    policy_override: Annotated[
        bool, Flag("policy-override", "Sets the flag to force override any soft mandatory policies.")
    ] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Make a volume from a specification."""
    is_machine_output = wants_machine_output(options)
    volume = read_volume(session, one_argument(arguments, "<input>"))
    kind = volume.pop("Type", "csi")
    if kind == "csi":
        if not volume.get("ID"):
            raise CommandError("Error creating volume: the specification has no id")
        with failing_as("Error creating volume"):
            volumes.create_csi(session.client, volume)
        if is_machine_output:
            with failing_as("Error reading volume"):
                show_record(session.console, options, volumes.read_csi(session.client, volume["ID"]).body)
        else:
            session.console.output(f"Created volume {volume['ID']}")
        return 0
    if options.id:
        volume["ID"] = options.id
    with failing_as("Error creating volume"):
        answer = volumes.create_host(session.client, volume, policy_override=options.policy_override).value
    made = answer.volume
    if answer.warnings:
        session.console.warn(f"Volume Warnings:\n{answer.warnings}")
    if is_machine_output:
        with failing_as("Error reading volume"):
            show_record(session.console, options, volumes.read_host(session.client, made.id).body)
        return 0
    session.console.output(f"==> Created host volume {made.name} with ID {made.id}")
    return 0 if options.detach else _wait(session, made.id, verbose=options.verbose)


def _wait(session: Session, volume_id: str, *, verbose: bool) -> int:
    name = short_id(volume_id, verbose=verbose)
    session.console.output(f'  ✓ {absolute(session.now())}: Monitoring host volume "{name}"')
    while True:
        with failing_as("Error reading volume"):
            state = volumes.read_host(session.client, volume_id).value.state
        if state in READY:
            session.console.output(f'    {absolute(session.now())}: Host volume "{name}" ready')
            return 0
        if state in FAILED:
            raise CommandError(f'Host volume "{name}" is {state}; see the log of its node')
        session.sleep(POLL_INTERVAL_S)


COMMAND = Command(
    path="volume create",
    options=Options,
    run=run,
    usage="[options] <input>",
    description="""
        Creates a volume as defined by the given input. The input may be "-" for stdin or the path of a
        volume specification file.

        When ACLs are enabled, this command requires a token with the appropriate capability in the
        volume's namespace: 'csi-write-volume' or 'host-volume-create'.
    """,
)
