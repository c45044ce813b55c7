"""A node agent in a process of its own: `python agent_process.py ROOT SERVER_ADDRESS`."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from random import Random

from yurt.agent.agent import NodeAgent
from yurt.agent.server_link import HttpServerLink
from yurt.agent.settings import ClientSettings
from yurt.clock import SystemClock


async def main(root: Path, address: str) -> None:
    settings = ClientSettings(
        state_dir=str(root / "client"),
        alloc_dir=str(root / "alloc"),
        network_interface="lo",
        driver_configs={"raw_exec": {"enabled": True}},
    )
    agent = await NodeAgent.open(settings, HttpServerLink([address]), SystemClock(), Random())
    await agent.run()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
