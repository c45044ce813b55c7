"""Where a node is in the network: coordinates whose distances are round-trip times.

Each node measures the way to a few others now and then, and moves its own coordinate until distances agree
with what it measured (Vivaldi). So the time between any two nodes is known without measuring all pairs.
"""

from __future__ import annotations

import math
from random import Random

import msgspec

ATTRIBUTE = "unique.network.coordinate"
DIMENSIONS = 3
# A way is never shorter than this: each has a network card at both ends.
HEIGHT_MS_MIN = 0.01
ERROR_MAX = 1.5
# How much one measurement moves a coordinate, and its idea of how wrong it is.
_FORCE, _ERROR_SHARE = 0.25, 0.25


class Coordinate(msgspec.Struct, frozen=True, kw_only=True):
    """A place in milliseconds; `height` is the way from the node to the network, `error` how sure it is."""

    place: tuple[float, float, float] = (0.0, 0.0, 0.0)
    height: float = HEIGHT_MS_MIN
    error: float = ERROR_MAX

    def text(self) -> str:
        """As the node's attribute has it."""
        return ",".join(f"{value:.3f}" for value in (*self.place, self.height, self.error))


def parse_coordinate(text: str) -> Coordinate | None:
    """Read an attribute; None when there is none, or it is none."""
    parts = text.split(",")
    if len(parts) != DIMENSIONS + 2:
        return None
    try:
        x, y, z, height, error = (float(part) for part in parts)
    except ValueError:
        return None
    if not all(map(math.isfinite, (x, y, z, height, error))):
        return None
    return Coordinate(place=(x, y, z), height=height, error=error)


def round_trip_ms(one: Coordinate, other: Coordinate) -> float:
    """The round-trip time between two nodes, as far as their coordinates know."""
    return math.dist(one.place, other.place) + one.height + other.height


def moved(own: Coordinate, other: Coordinate, measured_ms: float, rng: Random) -> Coordinate:
    """The own coordinate after measuring the way to another node, which takes `measured_ms` > 0."""
    expected = round_trip_ms(own, other)
    weight = own.error / max(own.error + other.error, 1e-6)
    surprise = abs(expected - measured_ms) / measured_ms
    error = min(surprise * _ERROR_SHARE * weight + own.error * (1 - _ERROR_SHARE * weight), ERROR_MAX)
    force = _FORCE * weight * (measured_ms - expected)
    direction = _direction(own.place, other.place, rng)
    x, y, z = (at + part * force for at, part in zip(own.place, direction, strict=True))
    height = max(HEIGHT_MS_MIN, own.height + (own.height + other.height) * force / max(expected, 1e-6))
    return Coordinate(place=(x, y, z), height=height, error=error)


def _direction(place: tuple[float, ...], other: tuple[float, ...], rng: Random) -> tuple[float, float, float]:
    """From the other one to the own, of length 1; any way where both are at one place."""
    away = [a - b for a, b in zip(place, other, strict=True)]
    length = math.hypot(*away)
    while length < 1e-9:
        away = [rng.uniform(-1, 1) for _ in range(DIMENSIONS)]
        length = math.hypot(*away)
    x, y, z = (part / length for part in away)
    return x, y, z
