"""Typed attributes of devices: numbers with units, booleans, texts, and how they compare."""

from __future__ import annotations

import re
from typing import TypeAlias

import msgspec

from yurt.model.node import DeviceAttribute, NodeDeviceResource
from yurt.scheduler.operands import holds, parse_bool

_NUMBER = re.compile(r"(?P<number>[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?) *(?P<unit>\S*)")


def _units() -> dict[str, tuple[str, int]]:
    """Each unit's base and how many of the base it is."""
    units = {"MHz": ("hertz", 1), "GHz": ("hertz", 1000)}
    for power, prefix in enumerate(("K", "M", "G", "T", "P", "E"), start=1):
        units[f"{prefix}iB"] = ("byte", 1024**power)
        units[f"{prefix}B"] = ("byte", 1000**power)
    units["kB"] = units["KB"]
    for name, (_, factor) in list(units.items()):
        if name.endswith("B"):
            units[f"{name}/s"] = ("byte/s", factor)
    for power, name in enumerate(("mW", "W", "kW", "MW", "GW")):
        units[name] = ("watt", 1000**power)
    return units


_UNITS = _units()


class Quantity(msgspec.Struct, frozen=True):
    """A number; with a `base` unless it has no unit."""

    amount: int | float
    base: str = ""


Value: TypeAlias = Quantity | bool | str


def parse_literal(text: str) -> Value:
    """Read what a constraint writes: a number with or without a unit, a boolean, or a text."""
    found = _NUMBER.fullmatch(text)
    if found is not None and (not found["unit"] or found["unit"] in _UNITS):
        number = found["number"]
        amount = float(number) if set(number) & set(".eE") else int(number)
        return _quantity(amount, found["unit"])
    flag = parse_bool(text)
    return flag if flag is not None else text


def attribute_value(attribute: DeviceAttribute) -> Value | None:
    """The value of a device's attribute."""
    if attribute.bool_value is not None:
        return attribute.bool_value
    if attribute.string is not None:
        return attribute.string
    amount = attribute.int_value if attribute.int_value is not None else attribute.float_value
    return _quantity(amount, attribute.unit) if amount is not None else None


def _quantity(amount: float, unit: str) -> Quantity:
    if not unit or unit not in _UNITS:
        return Quantity(amount)
    base, factor = _UNITS[unit]
    return Quantity(amount * factor, base)


def resolve_device(device: NodeDeviceResource, target: str, ids: tuple[str, ...]) -> Value | None:
    """The value of a target on a group of devices of which `ids` are looked at; None if it has none."""
    if not target.startswith("${"):
        return parse_literal(target)
    match target:
        case "${device.ids}":
            return ",".join(ids)
        case "${device.model}":
            return device.name
        case "${device.vendor}":
            return device.vendor
        case "${device.type}":
            return device.type
    if target.startswith("${device.attr.") and target.endswith("}"):
        attribute = (device.attributes or {}).get(target[len("${device.attr.") : -1])
        return attribute_value(attribute) if attribute is not None else None
    return None


def device_holds(left: Value | None, operand: str, right: Value | None) -> bool:
    """Say whether `left operand right` is true for values of devices."""
    if operand in ("is_set", "is_not_set"):
        return (left is not None) == (operand == "is_set")
    if operand in ("!=", "not"):
        if left is None or right is None:
            return left is not right
        order = _order(left, right)
        return order is not None and order != 0
    if left is None or right is None:
        return False
    if operand in _ORDERS:
        order = _order(left, right)
        return order is not None and order in _ORDERS[operand]
    if operand in ("version", "semver"):
        # Written without quotes, versions such as 1.2 read as numbers.
        return holds(_text(left), operand, _text(right))
    return isinstance(left, str) and isinstance(right, str) and holds(left, operand, right)


_ORDERS: dict[str, tuple[int, ...]] = {
    "=": (0,),
    "==": (0,),
    "is": (0,),
    "<": (-1,),
    "<=": (-1, 0),
    ">": (1,),
    ">=": (0, 1),
}


def _order(left: Value, right: Value) -> int | None:
    """-1, 0 or 1 for less, equal or greater; None if the two cannot be compared."""
    match left, right:
        case Quantity(amount=a, base=base), Quantity(amount=b, base=other) if base == other:
            return (a > b) - (a < b)
        case bool(), bool():
            return 0 if left == right else 1
        case str(), str():
            return (left > right) - (left < right)
        case _:
            return None


def _text(value: Value) -> str:
    return f"{value.amount}" if isinstance(value, Quantity) else str(value)
