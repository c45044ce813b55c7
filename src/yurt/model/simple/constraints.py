"""Constraints of the simple dialect: wanted properties of a job, and rules of a group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from yurt.model.go_types import Folded
from yurt.model.placement_rules import Constraint
from yurt.model.push_nodes import DECLARED_AS
from yurt.model.simple.fields import Fields, scalar_text

REGION, DATACENTER, NODE_CLASS = "region", "datacenter", "node_class"

_PROPERTIES = {DATACENTER: "${node.datacenter}", NODE_CLASS: "${node.class}"}
_ATTRIBUTES = {
    "node_id": "${any.unique.node_id}",
    "ip_address": "${attr.unique.network.ip-address}",
    "hostname": "${attr.unique.hostname}",
}
_ANY, _META = "${any.", "${meta."
_OPERATORS = {"regex": "regexp"}
# What these say does not depend on a value, or on anything at all.
_VALUELESS = ("is_set", "is_not_set")
_BARE = ("distinct_hosts",)
_UNLIKE = ("!=", "not")
_IS_SET = "is_set"
# A rule about these comes from the signals that tasks use, and with them.
_SIGNALS = "${attr.os.signals}"


def wanted_properties(constraints: Fields, *, region: str) -> list[Folded]:
    """The rules for a job's map of properties; `region` is the one that Yurt's nodes are in."""
    rules = []
    for name, value in constraints.value.items():
        wanted = scalar_text(value)
        if wanted is None:
            raise constraints.bad(name, "must be a text, a number or a boolean")
        if name and wanted:
            target = region if name == REGION else _PROPERTIES.get(name, f"{_META}{name}}}")
            rules.append({"LTarget": target, "RTarget": wanted, "Operand": DECLARED_AS})
    return rules


def properties_of(constraints: Iterable[Constraint]) -> dict[str, str]:
    """The map of properties that job rules were made from."""
    names = {target: name for name, target in _PROPERTIES.items()}
    return {
        names.get(rule.ltarget)
        or (rule.ltarget[len(_META) : -1] if rule.ltarget.startswith(_META) else REGION): rule.rtarget
        for rule in constraints
        if rule.operand == DECLARED_AS
    }


def group_rules(items: Iterable[Fields]) -> list[Folded]:
    """The rules for a group's list of constraints; one with an empty part is ignored."""
    rules = []
    for item in items:
        attribute, operator = item.text("attribute", ""), item.text("operator", "")
        value = scalar_text(item.value.get("value", ""))
        if value is None and item.has("value"):
            raise item.bad("value", "must be a text, a number or a boolean")
        if operator in _BARE:
            rules.append({"Operand": operator, "RTarget": value or ""})
        elif attribute and operator in _VALUELESS:
            rules.append({"LTarget": _target(attribute), "Operand": operator})
        elif attribute and operator and value:
            target, operand = _target(attribute), _OPERATORS.get(operator, operator)
            if operand in _UNLIKE:
                # The wire's inequality holds where there is no such attribute; here it must be there.
                rules.append({"LTarget": target, "Operand": _IS_SET})
            rules.append({"LTarget": target, "RTarget": value, "Operand": operand})
    return rules


def group_constraints(rules: Sequence[Constraint]) -> list[Mapping[str, str]]:
    """The list of constraints that a group's rules were made from, without those that its tasks imply."""
    unlike = {rule.ltarget for rule in rules if rule.operand in _UNLIKE}
    return [
        {"attribute": _attribute(rule.ltarget), "operator": _operator(rule.operand), "value": rule.rtarget}
        for rule in rules
        if not (rule.operand == _IS_SET and rule.ltarget in unlike) and rule.ltarget != _SIGNALS
    ]


def _target(attribute: str) -> str:
    if attribute.startswith("${"):
        return attribute
    return _ATTRIBUTES.get(attribute, f"{_ANY}{attribute}}}")


def _attribute(target: str) -> str:
    name = next((name for name, known in _ATTRIBUTES.items() if known == target), None)
    if name is not None:
        return name
    return target[len(_ANY) : -1] if target.startswith(_ANY) else target


def _operator(operand: str) -> str:
    return next((name for name, known in _OPERATORS.items() if known == operand), operand)
