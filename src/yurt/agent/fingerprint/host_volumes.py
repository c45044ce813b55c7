"""The directories that the configuration offers as volumes."""

from __future__ import annotations

from yurt.agent.fingerprint.facts import Facts, Probe
from yurt.errors import YurtError


class HostVolumeMissing(YurtError):
    """A configured host volume has no directory."""

    def __init__(self, name: str, *, path: str) -> None:
        super().__init__(
            f"host_volume {name!r}: path {path!r} does not exist; "
            "create it, or correct the path in the client block"
        )
        self.name = name


def fingerprint_host_volumes(probe: Probe) -> Facts:
    """Offer the configured volumes. Raises HostVolumeMissing, which stops the agent's start."""
    for name, volume in probe.settings.host_volumes.items():
        if not probe.path(volume.path).exists():
            raise HostVolumeMissing(name, path=volume.path)
    return Facts(host_volumes=probe.settings.host_volumes)
