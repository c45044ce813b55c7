"""What a Docker daemon says of itself, as attributes of the node."""

from __future__ import annotations

from yurt.agent.drivers.docker.answers import Info, Network, Version
from yurt.agent.drivers.docker.engine import Engine, EngineError
from yurt.agent.drivers.docker.options import DockerOptions
from yurt.agent.drivers.driver import DriverFingerprint

_TRUE = "true"


async def fingerprint_docker(engine: Engine, options: DockerOptions) -> DriverFingerprint:
    """Look at a daemon. Raises EngineUnreachable and EngineError."""
    version = await engine.get("/version", Version)
    info = await engine.get("/info", Info)
    attributes = {
        "driver.docker": _TRUE,
        "driver.docker.version": version.version,
        "driver.docker.os_type": info.os_type,
        "driver.docker.runtimes": ",".join(sorted(info.runtimes or ())),
    }
    if bridge_ip := await _bridge_ip(engine):
        attributes["driver.docker.bridge_ip"] = bridge_ip
    if options.allow_privileged:
        attributes["driver.docker.privileged.enabled"] = _TRUE
    if options.volumes.enabled:
        attributes["driver.docker.volumes.enabled"] = _TRUE
    if options.pids_limit > 0:
        attributes["driver.docker.pids.limit"] = str(options.pids_limit)
    return DriverFingerprint(detected=True, healthy=True, description="Healthy", attributes=attributes)


async def _bridge_ip(engine: Engine) -> str:
    try:
        network = await engine.get("/networks/bridge", Network)
    except EngineError:  # a daemon without its usual network
        return ""
    return next((entry.gateway for entry in network.ipam.config or () if entry.gateway), "")
