"""Problems with constraints, affinities and spreads."""

from __future__ import annotations

from collections.abc import Sequence

from yurt.model.go_text import quoted
from yurt.model.multi_error import nested
from yurt.model.placement_rules import Affinity, Constraint, Spread
from yurt.model.push_nodes import DECLARED_AS
from yurt.model.regexp import BadRegexp, compile_regexp
from yurt.model.versions import BadVersion, Dialect, parse_constraints

AFFINITY_WEIGHT_MAX = 100
SPREAD_WEIGHT_MAX = 100
PERCENT_MAX = 100

_SETS = ("set_contains", "set_contains_all", "set_contains_any")
_COMPARISONS = ("=", "==", "is", "!=", "not", "<", "<=", ">", ">=", DECLARED_AS)
_PRESENCE = ("is_set", "is_not_set")
_DISTINCT = ("distinct_hosts", "distinct_property")
_NODE_TARGETS = frozenset(
    {
        "${node.unique.id}",
        "${node.unique.name}",
        "${node.datacenter}",
        "${node.class}",
        "${node.pool}",
    }
)
_TARGET_PREFIXES = ("${attr.", "${meta.", "${any.", "${device.")


def constraints_errors(constraints: Sequence[Constraint] | None) -> list[str]:
    """Check constraints; the first is number 1."""
    errors = []
    for number, constraint in enumerate(constraints or (), start=1):
        errors += nested(_constraint_errors(constraint), under=f"Constraint {number} validation failed")
    return errors


def affinities_errors(affinities: Sequence[Affinity] | None) -> list[str]:
    """Check affinities; the first is number 1."""
    errors = []
    for number, affinity in enumerate(affinities or (), start=1):
        errors += nested(_affinity_errors(affinity), under=f"Affinity {number} validation failed")
    return errors


def spreads_errors(spreads: Sequence[Spread] | None) -> list[str]:
    """Check spreads; the first is number 1."""
    errors = []
    for number, spread in enumerate(spreads or (), start=1):
        errors += nested(_spread_errors(spread), under=f"Spread {number} validation failed")
    return errors


def _constraint_errors(constraint: Constraint) -> list[str]:
    errors = []
    operand, right = constraint.operand, constraint.rtarget
    if not operand:
        errors.append("Missing constraint operand")
    if operand in _SETS:
        if not right:
            errors.append("Set contains constraint requires an RTarget")
    elif operand == "distinct_property":
        errors += _allowed_count_errors(right)
    elif operand in _PRESENCE:
        if right:
            errors.append(f"Operator {quoted(operand)} does not support an RTarget")
    elif operand in _COMPARISONS:
        if not right:
            errors.append(f"Operator {quoted(operand)} requires an RTarget")
    elif operand in ("regexp", "version", "semver"):
        errors += _pattern_errors(operand, right, noun="constraint")
    elif operand != "distinct_hosts":
        errors.append(f"Unknown constraint type {quoted(operand)}")
    if operand in (*_SETS, *_COMPARISONS, *_PRESENCE, "distinct_property", "regexp", "version", "semver"):
        errors += _target_errors(constraint.ltarget)
    return errors


def _allowed_count_errors(count: str) -> list[str]:
    """Check how many allocations `distinct_property` allows for a value; empty means one."""
    if not count:
        return []
    if not (count.isascii() and count.isdecimal()):
        reason = f"strconv.ParseUint: parsing {quoted(count)}: invalid syntax"
        return [f"Failed to convert RTarget {quoted(count)} to uint64: {reason}"]
    if int(count) < 1:
        return [f"Distinct Property must have an allowed count of 1 or greater: {int(count)} < 1"]
    return []


def _pattern_errors(operand: str, right: str, *, noun: str) -> list[str]:
    try:
        if operand == "regexp":
            compile_regexp(right)
        else:
            parse_constraints(right, Dialect(operand))
    except BadRegexp as bad:
        return [f"Regular expression failed to compile: {bad}"]
    except BadVersion as bad:
        return [f"{operand.capitalize()} {noun} is invalid: {bad}"]
    return []


def _target_errors(target: str) -> list[str]:
    """Check a left side: an attribute, or text without a dollar sign."""
    if not target:
        return ["no attribute provided but is required by operator"]
    if not target.startswith("$"):
        return []
    if not target.startswith("${"):
        return [f"attribute {quoted(target)} is missing an opening brace"]
    if not target.endswith("}"):
        return [f"attribute {quoted(target)} is missing a closing brace"]
    if target in _NODE_TARGETS or target.startswith(_TARGET_PREFIXES):
        return []
    return [f"unsupported attribute {quoted(target)}"]


def _affinity_errors(affinity: Affinity) -> list[str]:
    errors = []
    operand, right = affinity.operand, affinity.rtarget
    if not operand:
        errors.append("Missing affinity operand")
    if operand in _SETS:
        if not right:
            errors.append("Set contains operators require an RTarget")
    elif operand in ("regexp", "version", "semver"):
        errors += _pattern_errors(operand, right, noun="affinity")
    elif operand in _COMPARISONS:
        if not right:
            errors.append(f"Operator {quoted(operand)} requires an RTarget")
    else:
        errors.append(f"Unknown affinity operator {quoted(operand)}")
    if not affinity.ltarget:
        errors.append("No LTarget provided but is required")
    if affinity.weight == 0:
        errors.append("Affinity weight cannot be zero")
    elif not -AFFINITY_WEIGHT_MAX <= affinity.weight <= AFFINITY_WEIGHT_MAX:
        errors.append("Affinity weight must be within the range [-100,100]")
    return errors


def _spread_errors(spread: Spread) -> list[str]:
    errors = []
    if not spread.attribute:
        errors.append("Missing spread attribute")
    if not 0 < spread.weight <= SPREAD_WEIGHT_MAX:
        errors.append("Spread block must have a positive weight from 0 to 100")
    seen: set[str] = set()
    total = 0
    for target in spread.spread_target or ():
        if target.value in seen:
            errors.append(f"Spread target value {quoted(target.value)} already defined")
        seen.add(target.value)
        if not 0 <= target.percent <= PERCENT_MAX:
            errors.append(
                f"Spread target percentage for value {quoted(target.value)} must be between 0 and 100"
            )
        total += target.percent
    if total > PERCENT_MAX:
        errors.append(f"Sum of spread target percentages must not be greater than 100%; got {total}%")
    return errors
