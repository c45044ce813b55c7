"""The listeners of the simple dialect: an agent that cannot have them runs on without."""

from __future__ import annotations

import socket

from yurt.api.http_server import CannotListen, bind
from yurt.config import AgentConfig
from yurt.config.addresses import LOOPBACK
from yurt.observe.logger import get_logger

SERVER_SETTING, AGENT_SETTING = "ports.simple", "ports.simple_agent"

logger = get_logger("agent")


def simple_sockets(config: AgentConfig, port: int, setting: str) -> list[socket.socket]:
    """Listen for the simple dialect; none if it is off, or if the port is taken, which is warned about."""
    if not config.simple_api.enabled or port == 0:
        return []
    hosts = (LOOPBACK,) if config.dev else config.addresses.http_hosts
    sockets: list[socket.socket] = []
    try:
        for host in hosts:
            sockets.append(bind(host, port, setting))
    except CannotListen as error:
        for sock in sockets:
            sock.close()
        logger.warning(
            "simple_api.not_served",
            port=port,
            setting=setting,
            text=f"{error}; the agent runs on without this part of the simple API, 0 switches it off",
        )
        return []
    return sockets
