"""Constraints, affinities and spreads: what a job says about where it may run."""

from __future__ import annotations

from yurt.model.wire import Wire


class Constraint(Wire, frozen=True, kw_only=True):
    """A rule a node must satisfy."""

    ltarget: str = ""
    rtarget: str = ""
    operand: str = ""


class Affinity(Wire, frozen=True, kw_only=True):
    """A preference for nodes, from -100 (avoid) to 100 (prefer)."""

    ltarget: str = ""
    rtarget: str = ""
    operand: str = ""
    weight: int = 50


class SpreadTarget(Wire, frozen=True, kw_only=True):
    """The share of instances that one attribute value should get."""

    value: str = ""
    percent: int = 0


class Spread(Wire, frozen=True, kw_only=True):
    """A wish to distribute instances over the values of an attribute."""

    attribute: str = ""
    weight: int = 50
    spread_target: tuple[SpreadTarget, ...] | None = None
