"""Numbers about the server, for people and their tools.

A registry of our own is enough: a dictionary of counters and gauges, and two ways of writing it down. A
client library would bring its own server, its own threads and one global registry.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, TypeAlias

import msgspec

INTERVAL_S = 10
PROMETHEUS_TYPE = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores"

Labels: TypeAlias = tuple[tuple[str, str], ...]


class _Sums(msgspec.Struct):
    """What was measured: how often, how much in all, and how far apart."""

    count: int = 0
    total: float = 0.0
    squares: float = 0.0
    least: float = math.inf
    most: float = -math.inf

    def add(self, value: float) -> None:
        self.count += 1
        self.total += value
        self.squares += value * value
        self.least = min(self.least, value)
        self.most = max(self.most, value)


class Aggregate(msgspec.Struct, frozen=True, kw_only=True, rename="pascal"):
    """What was counted or measured, in short."""

    count: int
    labels: dict[str, str]
    max: float
    mean: float
    min: float
    name: str
    rate: float
    stddev: float
    sum: float


class Gauge(msgspec.Struct, frozen=True, kw_only=True, rename="pascal"):
    """A value as it is now."""

    labels: dict[str, str]
    name: str
    value: float


class MetricsSummary(msgspec.Struct, frozen=True, kw_only=True, rename="pascal"):
    """Everything that is counted and measured. There are no points and no gauges of high precision."""

    counters: list[Aggregate]
    gauges: list[Gauge]
    points: tuple[()] = ()
    precision_gauges: tuple[()] = ()
    samples: list[Aggregate]
    timestamp: str


class Metrics:
    """Counters, samples and gauges by name. Names are dotted and end in their unit; labels have few values.

    Gauges are functions: they are read when somebody looks, and cost nothing until then.
    """

    def __init__(self) -> None:
        self._counters: dict[tuple[str, Labels], _Sums] = {}
        self._samples: dict[tuple[str, Labels], _Sums] = {}
        self._gauges: dict[tuple[str, Labels], Callable[[], float]] = {}

    def count(self, name: str, number: float = 1, labels: Mapping[str, str] | None = None) -> None:
        """Note that something happened."""
        self._counters.setdefault((name, _labels(labels)), _Sums()).add(number)

    def sample(self, name: str, value: float, labels: Mapping[str, str] | None = None) -> None:
        """Note a measurement."""
        self._samples.setdefault((name, _labels(labels)), _Sums()).add(value)

    def gauge(self, name: str, read: Callable[[], float], labels: Mapping[str, str] | None = None) -> None:
        """Say how a value is read."""
        self._gauges[name, _labels(labels)] = read

    def _all_gauges(self, more: Iterable[Gauge]) -> list[tuple[str, Labels, float]]:
        own = [(name, labels, float(read())) for (name, labels), read in self._gauges.items()]
        return sorted([*own, *((gauge.name, _labels(gauge.labels), gauge.value) for gauge in more)])

    def summary(self, now_ns: int, more: Iterable[Gauge] = ()) -> MetricsSummary:
        """Everything as the JSON API shows it, and gauges that somebody else has read."""
        at = datetime.fromtimestamp(now_ns // 1_000_000_000 // INTERVAL_S * INTERVAL_S, UTC)
        return MetricsSummary(
            counters=[_aggregate(*item) for item in sorted(self._counters.items(), key=_by_key)],
            gauges=[
                Gauge(labels=dict(labels), name=name, value=value)
                for name, labels, value in self._all_gauges(more)
            ],
            samples=[_aggregate(*item) for item in sorted(self._samples.items(), key=_by_key)],
            timestamp=at.strftime("%Y-%m-%d %H:%M:%S +0000 UTC"),
        )

    def prometheus(self, more: Iterable[Gauge] = ()) -> str:
        """Everything in Prometheus' text format, and gauges that somebody else has read."""
        lines: list[str] = []
        told: set[str] = set()

        def write(name: str, kind: str, parts: list[tuple[str, Labels, float]]) -> None:
            if name not in told:
                told.add(name)
                lines.extend((f"# HELP {name} {name}", f"# TYPE {name} {kind}"))
            lines.extend(f"{part}{_label_text(labels)} {value:g}" for part, labels, value in parts)

        for dotted, labels, value in self._all_gauges(more):
            name = _plain_name(dotted)
            write(name, "gauge", [(name, labels, value)])
        for (dotted, labels), sums in sorted(self._counters.items(), key=_by_key):
            name = _plain_name(dotted)
            write(name, "counter", [(name, labels, sums.total)])
        for (dotted, labels), sums in sorted(self._samples.items(), key=_by_key):
            name = _plain_name(dotted)
            parts = [(f"{name}_sum", labels, sums.total), (f"{name}_count", labels, float(sums.count))]
            write(name, "summary", parts)
        return "\n".join(lines) + "\n"


def _labels(labels: Mapping[str, str] | None) -> Labels:
    return tuple(sorted((labels or {}).items()))


def _by_key(item: tuple[tuple[str, Labels], Any]) -> tuple[str, Labels]:
    return item[0]


def _aggregate(key: tuple[str, Labels], sums: _Sums) -> Aggregate:
    name, labels = key
    mean = sums.total / sums.count
    spread = max(0.0, sums.squares / sums.count - mean * mean)
    return Aggregate(
        count=sums.count,
        labels=dict(labels),
        max=sums.most,
        mean=mean,
        min=sums.least,
        name=name,
        rate=sums.total / INTERVAL_S,
        stddev=math.sqrt(spread),
        sum=sums.total,
    )


def _plain_name(dotted: str) -> str:
    return "".join(char if char.isalnum() else "_" for char in dotted)


def _label_text(labels: Labels) -> str:
    if not labels:
        return ""
    told = ",".join(f'{_plain_name(name)}="{_escaped(value)}"' for name, value in labels)
    return f"{{{told}}}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
