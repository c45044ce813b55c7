"""What one source found out about the machine, and what it may look at."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from yurt.agent.settings import ClientSettings
from yurt.model.node import (
    HostVolume,
    NodeCpu,
    NodeDisk,
    NodeMemory,
    NodeNetworkResource,
    NodeProcessors,
)
from yurt.model.resources import NetworkResource


class Probe(msgspec.Struct, frozen=True, kw_only=True):
    """What a fingerprinter may look at: the settings, and the machine's files below `root`."""

    settings: ClientSettings
    root: Path = Path("/")

    def path(self, absolute: str) -> Path:
        """Where a file of the machine is, given its absolute path there."""
        return self.root / absolute.lstrip("/")

    def text(self, absolute: str) -> str:
        """Read a small file, stripped; a file that is missing or unreadable is an empty text.

        Kernel files come and go with drivers and privileges, so absence is an ordinary answer.
        """
        try:
            return self.path(absolute).read_text(errors="replace").strip()
        except OSError:
            return ""

    def number(self, absolute: str) -> int:
        """Read a file that holds one whole number; 0 when it does not."""
        text = self.text(absolute)
        return int(text) if text.isdecimal() else 0


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What one source found out; None and empty mean that it has nothing to say."""

    attributes: dict[str, str] = {}
    cpu: NodeCpu | None = None
    processors: NodeProcessors | None = None
    memory: NodeMemory | None = None
    disk: NodeDisk | None = None
    node_networks: tuple[NodeNetworkResource, ...] = ()
    networks: tuple[NetworkResource, ...] = ()
    host_volumes: dict[str, HostVolume] = {}


def merge(facts: Iterable[Facts]) -> Facts:
    """Put facts together: lists and maps grow, later single values win."""
    attributes: dict[str, str] = {}
    host_volumes: dict[str, HostVolume] = {}
    node_networks: list[NodeNetworkResource] = []
    networks: list[NetworkResource] = []
    merged = Facts()
    for fact in facts:
        attributes |= fact.attributes
        host_volumes |= fact.host_volumes
        node_networks += fact.node_networks
        networks += fact.networks
        merged = Facts(
            cpu=fact.cpu or merged.cpu,
            processors=fact.processors or merged.processors,
            memory=fact.memory or merged.memory,
            disk=fact.disk or merged.disk,
        )
    return msgspec.structs.replace(
        merged,
        attributes=attributes,
        host_volumes=host_volumes,
        node_networks=tuple(node_networks),
        networks=tuple(networks),
    )
