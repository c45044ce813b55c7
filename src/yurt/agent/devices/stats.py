"""What devices are doing, in the form of Nomad's device statistics."""

from __future__ import annotations

from yurt.model.wire import Wire


class StatValue(Wire, frozen=True, kw_only=True):
    """One value: a number, or a part of another one."""

    int_numerator_val: int | None = None
    int_denominator_val: int | None = None
    unit: str = ""
    desc: str = ""


class StatObject(Wire, frozen=True, kw_only=True):
    """Values by name."""

    attributes: dict[str, StatValue] = {}


class InstanceStats(Wire, frozen=True, kw_only=True):
    """One device; `summary` is the value to show when there is room for one."""

    summary: StatValue | None = None
    stats: StatObject = StatObject()
    timestamp: str = ""


class DeviceGroupStats(Wire, frozen=True, kw_only=True):
    """Alike devices, by id."""

    vendor: str
    type: str
    name: str
    instance_stats: dict[str, InstanceStats] = {}
