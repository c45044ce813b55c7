"""`yurt node simulate`: join nodes that run nothing to a server."""

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

from yurt.cli.command import Command, Session
from yurt.cli.errors import CommandError, UsageError, failing_as
from yurt.cli.options import Flag, GeneralOptions
from yurt.errors import YurtError
from yurt.sdk import agent


class Options(GeneralOptions, frozen=True, kw_only=True):
    """The flags of `node simulate`."""

    file: Annotated[str, Flag("file", "A JSON file of nodes, or - for standard input.", "<path>")] = ""
    count: Annotated[int, Flag("count", "Make up this many alike nodes.", "<n>")] = 0
    cpu: Annotated[int, Flag("cpu", "MHz of each made-up node. Default = 4000", "<mhz>")] = 4000
    cores: Annotated[int, Flag("cores", "Cores of each made-up node. Default = 4", "<n>")] = 4
    memory: Annotated[int, Flag("memory", "Memory of each made-up node. Default = 8192", "<mb>")] = 8192
    datacenters: Annotated[
        int, Flag("datacenters", "Spread made-up nodes over dc1 to dcN. Default = 1", "<n>")
    ] = 1
    racks: Annotated[int, Flag("racks", "Give made-up nodes meta.rack r1 to rN. Default = none", "<n>")] = 0
    leave: Annotated[bool, Flag("leave", "Deregister the nodes at the end; else they fall silent.")] = False
    only_sleep: Annotated[
        bool, Flag("sleep", "Report allocations as running and do nothing else with them.")
    ] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Run simulated nodes until interrupted."""
    if arguments:
        raise UsageError("This command takes no arguments")
    if bool(options.file) == bool(options.count):
        raise CommandError("Name the nodes with -file, or let -count make them up; one of the two")
    for flag, number in (("cpu", options.cpu), ("cores", options.cores), ("memory", options.memory)):
        if number < 1:
            raise CommandError(f"-{flag} must be at least 1")
    # The simulation brings much along that no other command needs.
    spec = import_module("yurt.sim.nodes.spec")
    nodes, rules = _read(spec, options.file) if options.file else (_made_up(spec, options), ())
    with failing_as("Error finding the leader"):
        leader = agent.leader(session.client)
    settings = session.client.settings
    link = import_module("yurt.sim.nodes.fleet").HttpFleetLink(
        leader,
        # What the API is reached with serves for the internal calls, too, if it is a client's or a server's.
        tls=settings.tls.context() if settings.address.startswith("https:") else None,
        server_name=settings.tls.server_name or f"server.{settings.region or 'global'}.nomad",
    )
    simulate = import_module("yurt.sim.nodes.main").simulate
    try:
        return int(simulate(nodes, rules, link, leave=options.leave, only_sleep=options.only_sleep))
    except YurtError as error:
        raise CommandError(str(error)) from error


def _read(spec: Any, file: str) -> tuple[Any, Any]:  # noqa: ANN401 - a module that is loaded late
    try:
        text = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        found = spec.read_nodes(text)
    except OSError as error:
        raise CommandError(f"Error reading nodes from {file}: {error.strerror}") from error
    except YurtError as error:
        raise CommandError(f"Error reading nodes from {file}: {error}") from error
    return found.nodes, found.client_behaviour


def _made_up(spec: Any, options: Options) -> Any:  # noqa: ANN401 - a module that is loaded late
    return spec.alike(
        options.count,
        cores=options.cores,
        mhz_per_core=max(1, options.cpu // options.cores),
        memory_mb=options.memory,
        datacenters=max(1, options.datacenters),
        racks=options.racks,
    )


COMMAND = Command(
    path="node simulate",
    options=Options,
    run=run,
    usage="[options]",
    description="""
        Joins simulated nodes to a running server through the door that real agents use. They register,
        heartbeat, take allocations and report on them, but run nothing. Many share this one process.

        A file holds a list of nodes, or an object with Nodes and ClientBehaviour. On an interrupt the nodes
        fall silent, as if their machines had lost power; with -leave they deregister.

        To try a cluster of a thousand nodes in 20 racks:

          $ yurt node simulate -count 1000 -racks 20
    """,
)
