"""The agent's own version and abilities."""

from __future__ import annotations

from yurt.agent.fingerprint.facts import Facts, Probe
from yurt.version import NOMAD_VERSION, VERSION


def fingerprint_nomad(probe: Probe) -> Facts:
    """Name the version whose behaviour job files may rely on, and ours."""
    return Facts(
        attributes={
            "nomad.version": NOMAD_VERSION,
            "nomad.service_discovery": "true" if probe.settings.service_discovery else "false",
            "yurt.version": VERSION,
        }
    )
