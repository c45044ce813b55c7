"""Whether the kernel can build network bridges."""

from __future__ import annotations

import platform

from yurt.agent.fingerprint.facts import Facts, Probe
from yurt.model.node import NodeNetworkResource
from yurt.model.resources import NetworkResource

_BRIDGE_MODULE = "/bridge.ko"


def fingerprint_bridge(probe: Probe) -> Facts:
    """Offer bridge networks where the kernel has, or can load, the bridge module."""
    if not _has_bridge_module(probe):
        return Facts()
    hairpin = "true" if probe.settings.bridge_network_hairpin_mode else "false"
    return Facts(
        attributes={"nomad.bridge.hairpin_mode": hairpin},
        node_networks=(NodeNetworkResource(mode="bridge"),),
        networks=(NetworkResource(mode="bridge"),),
    )


def _has_bridge_module(probe: Probe) -> bool:
    if probe.path("/sys/module/bridge").exists():
        return True
    modules = f"/lib/modules/{platform.release()}"
    return any(_BRIDGE_MODULE in probe.text(f"{modules}/modules.{kind}") for kind in ("builtin", "dep"))
