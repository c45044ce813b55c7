"""The CNI networks that the operator configured."""

from __future__ import annotations

from yurt.agent.fingerprint.facts import Facts, Probe
from yurt.agent.network.cni_config import read_configs
from yurt.model.node import NodeNetworkResource
from yurt.model.resources import NetworkResource


def fingerprint_cni(probe: Probe) -> Facts:
    """Offer a network mode for each configuration in `cni_config_dir`."""
    modes = [f"cni/{name}" for name in read_configs(probe.path(probe.settings.cni_config_dir))]
    return Facts(
        node_networks=tuple(NodeNetworkResource(mode=mode) for mode in modes),
        networks=tuple(NetworkResource(mode=mode) for mode in modes),
    )
