"""What a node says about its Consul agent."""

from __future__ import annotations

import re

from yurt.agent.consul.client import AgentSelf

_BASE_VERSION = re.compile(r"\d+\.\d+\.\d+(?:-[0-9A-Za-z.]+)?")


def consul_attributes(agent: AgentSelf) -> dict[str, str]:
    """The node attributes of a Consul agent that answered."""
    config = agent.config
    version = _BASE_VERSION.match(config.version)
    found = {
        "consul.server": "true" if config.server else "false",
        "consul.version": version[0] if version else config.version,
        "consul.sku": "ent" if "+ent" in config.version else "oss",
        "consul.revision": config.revision,
        "consul.datacenter": config.datacenter,
        "unique.consul.name": config.node_name,
    }
    return {name: value for name, value in found.items() if value}


def consul_link(agent: AgentSelf) -> str:
    """How the node is called in Consul's own data."""
    return f"{agent.config.datacenter}.{agent.config.node_name}"
