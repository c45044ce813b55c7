"""What an agent says about itself when it starts."""

from __future__ import annotations

from yurt.config import AgentConfig
from yurt.version import NOMAD_VERSION, VERSION


def banner(config: AgentConfig, node_id: str) -> str:
    """The settings block, labels right-aligned, and where the log begins."""
    http = f"HTTP: {config.advertise.http}"
    rpc = f"; RPC: {config.advertise.rpc}" if config.server.enabled else ""
    bound = f"HTTP: {[f'{host}:{config.ports.http}' for host in config.addresses.http_hosts]}"
    lines = {
        "Advertise Addrs": http + rpc,
        "Bind Addrs": bound.replace("'", "")
        + (f"; RPC: {config.addresses.rpc}:{config.ports.rpc}" if config.server.enabled else ""),
        "Client": _bool(config.client.enabled),
        "Log Level": config.log_level,
        "Node Id": node_id,
        "Region": f"{config.region} (DC: {config.datacenter})",
        "Server": _bool(config.server.enabled),
        "Version": f"{VERSION} (Nomad {NOMAD_VERSION})",
    }
    if not node_id:
        del lines["Node Id"]
    width = max(map(len, lines)) + 7
    loaded = ", ".join(config.config_files)
    head = (
        f"==> Loaded configuration from {loaded}\n" if loaded else "==> No configuration files loaded\n"
    ) + "==> Starting Yurt agent...\n==> Yurt agent configuration:\n\n"
    block = "\n".join(f"{label:>{width}}: {value}" for label, value in lines.items())
    return f"{head}{block}\n\n==> Yurt agent started! Log data will stream in below:\n\n"


def _bool(value: bool) -> str:
    return "true" if value else "false"
