"""Running simulated nodes in this process until a signal ends them."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from collections.abc import Sequence
from random import Random, SystemRandom
from typing import TextIO

import aiohttp
import uvloop

from yurt.clock import SystemClock
from yurt.errors import YurtError
from yurt.model.node import Node
from yurt.observe import logger as log_setup
from yurt.sim.nodes.behaviour import Behaviours, Rule
from yurt.sim.nodes.fleet import Fleet, FleetRefused, HttpFleetLink
from yurt.sim.nodes.spec import NodeSpec, node_of

PROGRESS_INTERVAL_S = 5.0


class CannotJoin(YurtError):
    """The server did not take the nodes."""


def simulate(
    specs: Sequence[NodeSpec],
    rules: Sequence[Rule],
    link: HttpFleetLink,
    *,
    leave: bool,
    only_sleep: bool,
    out: TextIO = sys.stdout,
) -> int:
    """Join the nodes and keep them until SIGINT or SIGTERM; then they fall silent, or leave."""
    log_setup.configure("WARN", stream=sys.stderr)
    rng = Random(SystemRandom().getrandbits(256))
    nodes = [node_of(spec, rng) for spec in specs]
    behaviours = Behaviours(rules, only_sleep=only_sleep)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        try:
            return runner.run(_run(nodes, behaviours, link, leave=leave, out=out))
        except (aiohttp.ClientError, FleetRefused, TimeoutError) as error:
            raise CannotJoin(f"the server at {link.address} did not take the nodes: {error}") from error


async def _run(
    nodes: Sequence[Node], behaviours: Behaviours, link: HttpFleetLink, *, leave: bool, out: TextIO
) -> int:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    fleet = Fleet(nodes, behaviours, link, SystemClock())
    living = asyncio.ensure_future(fleet.run())
    stopping = asyncio.ensure_future(stop.wait())
    telling = asyncio.ensure_future(_tell(fleet, out))
    try:
        await asyncio.wait({living, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if living.done():
            living.result()
        if leave and fleet.joined.is_set():
            await fleet.leave()
            out.write(f"{fleet.size} nodes left\n")
    finally:
        for task in (living, stopping, telling):
            task.cancel()
        await asyncio.gather(living, stopping, telling, return_exceptions=True)
        await link.close()
    return 0


async def _tell(fleet: Fleet, out: TextIO) -> None:
    """Say that the nodes are there, and then how much they run whenever that changed."""
    await fleet.joined.wait()
    out.write(f"{fleet.size} nodes joined\n")
    out.flush()
    shown = 0
    while True:
        await asyncio.sleep(PROGRESS_INTERVAL_S)
        if fleet.allocs != shown:
            shown = fleet.allocs
            with contextlib.suppress(OSError):
                out.write(f"{shown} allocations on {fleet.size} nodes\n")
                out.flush()
