"""`yurt volume status`: the volumes, or one of them."""

import json
from collections.abc import Sequence
from typing import Annotated, Any

from yurt.cli.command import Command, Session
from yurt.cli.common_options import VerboseFormatOptions
from yurt.cli.errors import CommandError, UsageError, failing_as
from yurt.cli.layout import key_list, short_id, table
from yurt.cli.machine_output import show_record, show_value, wants_machine_output
from yurt.cli.options import Flag
from yurt.cli.sizes import format_size
from yurt.cli.tables import alloc_table, newest_first
from yurt.sdk import volumes
from yurt.sdk.types.allocs import AllocStub
from yurt.sdk.volumes import CsiVolume, HostVolume


class Options(VerboseFormatOptions, frozen=True, kw_only=True):
    """The flags of `volume status`."""

    type: Annotated[str, Flag("type", "Only show volumes of this type: csi or host.", "<type>")] = ""
    short: Annotated[bool, Flag("short", "Display short output.")] = False
    node: Annotated[str, Flag("node", "Only show host volumes of this node.", "<node-id>")] = ""
    node_pool: Annotated[str, Flag("node-pool", "Only show host volumes of this pool.", "<pool>")] = ""


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Show volumes."""
    if len(arguments) > 1:
        raise UsageError("This command takes either no arguments or one: <id>")
    if options.type not in {"", "csi", "host"}:
        raise CommandError(f"No such volume type {options.type!r}: use csi or host")
    is_machine_output = wants_machine_output(options)
    if not arguments:
        return _show_lists(session, options, is_machine_output=is_machine_output)
    return _show_one(session, options, arguments[0], is_machine_output=is_machine_output)


def _show_lists(session: Session, options: Options, *, is_machine_output: bool) -> int:
    bodies: dict[str, Any] = {}
    if options.type != "csi":
        with failing_as("Error querying volumes"):
            host = volumes.list_host(session.client, node_id=options.node, node_pool=options.node_pool)
        bodies["host"] = json.loads(host.body)
    if options.type != "host":
        with failing_as("Error querying volumes"):
            csi = volumes.list_csi(session.client)
        bodies["csi"] = json.loads(csi.body)
    if is_machine_output:
        show_value(session.console, options, bodies[options.type] if options.type else bodies)
        return 0
    console = session.console
    if "host" in bodies:
        console.output(console.bold("Dynamic Host Volumes"))
        if host.value:
            console.output(_host_table(host.value, verbose=options.verbose))
        else:
            console.error("No dynamic host volumes")
    if "csi" in bodies:
        if "host" in bodies:
            console.heading("Container Storage Interface")
        else:
            console.output(console.bold("Container Storage Interface"))
        if csi.value:
            console.output(_csi_table(csi.value, verbose=options.verbose))
        else:
            console.error("No CSI volumes")
    return 0


def _host_table(found: Sequence[HostVolume], *, verbose: bool) -> str:
    rows: list[list[object]] = [["ID", "Name", "Namespace", "Plugin ID", "Node ID", "Node Pool", "State"]]
    rows.extend(
        [
            short_id(volume.id, verbose=verbose),
            volume.name,
            volume.namespace,
            volume.plugin_id,
            short_id(volume.node_id, verbose=verbose),
            volume.node_pool,
            volume.state,
        ]
        for volume in found
    )
    return table(rows)


def _csi_table(found: Sequence[CsiVolume], *, verbose: bool) -> str:
    rows: list[list[object]] = [["ID", "Name", "Namespace", "Plugin ID", "Schedulable", "Access Mode"]]
    rows.extend(
        [
            volume.id if verbose else volume.id[:20],
            volume.name,
            volume.namespace,
            volume.plugin_id,
            volume.schedulable,
            volume.access_mode,
        ]
        for volume in found
    )
    return table(rows)


def _show_one(session: Session, options: Options, text: str, *, is_machine_output: bool) -> int:
    client = session.client
    with failing_as("Error querying volumes"):
        host = volumes.list_host(client, prefix=text).value if options.type != "csi" else ()
        csi = volumes.list_csi(client, prefix=text).value if options.type != "host" else ()
    found: list[HostVolume | CsiVolume] = [*host, *csi]
    exact = [volume for volume in found if volume.id == text]
    chosen = exact or found
    if not chosen:
        raise CommandError(f'No volume(s) with prefix or ID "{text}" found')
    if len(chosen) > 1:
        candidates = _host_table(host, verbose=False) if host else _csi_table(csi, verbose=False)
        raise CommandError(f'Prefix "{text}" matched multiple volumes\n\n{candidates}')
    only = chosen[0]
    with failing_as("Error querying volume"):
        if isinstance(only, HostVolume):
            host_answer = volumes.read_host(client, only.id)
            body, keys, allocs = (
                host_answer.body,
                _host_keys(host_answer.value),
                host_answer.value.allocations,
            )
            capabilities = host_answer.value.requested_capabilities
        else:
            csi_answer = volumes.read_csi(client, only.id)
            body, keys, allocs = csi_answer.body, _csi_keys(csi_answer.value), csi_answer.value.allocations
            capabilities = csi_answer.value.requested_capabilities
    if is_machine_output:
        show_record(session.console, options, body)
        return 0
    session.console.output(keys)
    if not options.short:
        if capabilities:
            session.console.heading("Capabilities")
            rows = [[entry.access_mode, entry.attachment_mode] for entry in capabilities]
            session.console.output(table([["Access Mode", "Attachment Mode"], *rows]))
        _show_allocs(session, allocs, verbose=options.verbose)
    return 0


def _show_allocs(session: Session, allocs: Sequence[AllocStub], *, verbose: bool) -> None:
    session.console.heading("Allocations")
    session.console.output(alloc_table(newest_first(allocs), now=session.now(), verbose=verbose))


def _host_keys(volume: HostVolume) -> str:
    return key_list(
        [
            ("ID", volume.id),
            ("Name", volume.name),
            ("Namespace", volume.namespace),
            ("Plugin ID", volume.plugin_id),
            ("Node ID", volume.node_id),
            ("Node Pool", volume.node_pool),
            ("Capacity", format_size(volume.capacity_bytes)),
            ("State", volume.state),
            ("Host Path", volume.host_path),
        ]
    )


def _csi_keys(volume: CsiVolume) -> str:
    return key_list(
        [
            ("ID", volume.id),
            ("Name", volume.name),
            ("Namespace", volume.namespace),
            ("External ID", volume.external_id),
            ("Plugin ID", volume.plugin_id),
            ("Provider", volume.provider),
            ("Version", volume.provider_version),
            ("Capacity", format_size(volume.capacity)),
            ("Schedulable", volume.schedulable),
            ("Controllers Healthy", volume.controllers_healthy),
            ("Controllers Expected", volume.controllers_expected),
            ("Nodes Healthy", volume.nodes_healthy),
            ("Nodes Expected", volume.nodes_expected),
            ("Access Mode", volume.access_mode),
            ("Attachment Mode", volume.attachment_mode),
        ]
    )


COMMAND = Command(
    path="volume status",
    options=Options,
    run=run,
    usage="[options] <id>",
    description="""
        Display status information about a volume. If no volume ID is given, a list of all volumes will be
        displayed.

        When ACLs are enabled, this command requires a token with the appropriate capability in the
        volume's namespace: 'csi-read-volume' or 'host-volume-read'.
    """,
)
