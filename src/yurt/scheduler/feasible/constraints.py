"""Constraints: rules about the properties of a node."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from yurt.model.placement_rules import Affinity, Constraint
from yurt.model.push_nodes import DECLARED_AS
from yurt.scheduler.feasible.push_nodes import nodes_that_say_nothing
from yurt.scheduler.feasible.targets import is_literal, is_unique, target_column
from yurt.scheduler.operands import DISTINCT_HOSTS, DISTINCT_PROPERTY, holds
from yurt.state.columns import NodeColumns

_EQUAL = ("=", "==", "is")


def label(rule: Constraint) -> str:
    """Name a constraint as placement metrics do."""
    return f"{rule.ltarget} {rule.operand} {rule.rtarget}"


def escapes(rule: Constraint) -> bool:
    """Whether nodes of one computed class may differ about a constraint."""
    return is_unique(rule.ltarget) or is_unique(rule.rtarget)


def is_distinct(rule: Constraint) -> bool:
    """Whether a constraint is about a job's other allocations, not about nodes."""
    return rule.operand in (DISTINCT_HOSTS, DISTINCT_PROPERTY)


def holds_on(columns: NodeColumns, rule: Constraint | Affinity) -> NDArray[np.bool_]:
    """Mask of the nodes on which a rule holds; kept until nodes change.

    Each distinct value is judged once, however many nodes share it.
    """
    key = ("holds", rule.ltarget, rule.operand, rule.rtarget)
    known: NDArray[np.bool_] | None = columns.memo.get(key)
    if known is not None:
        return known
    mask = _judge(columns, rule.ltarget, rule.operand, rule.rtarget)
    columns.keep(key, mask)
    return mask


def _judge(columns: NodeColumns, left: str, operand: str, right: str) -> NDArray[np.bool_]:
    if operand == DECLARED_AS:
        return _judge(columns, left, "=", right) | nodes_that_say_nothing(columns, left)
    if is_literal(left) and is_literal(right):
        return np.full(columns.size, holds(left, operand, right))
    if is_literal(right):
        column = target_column(columns, left)
        if operand in _EQUAL:
            return np.asarray(column.codes == column.numbers.get(right, -1))
        verdicts = np.fromiter((holds(value, operand, right) for value in column.values), dtype=np.bool_)
        return np.asarray(verdicts[column.codes])
    if is_literal(left):
        column = target_column(columns, right)
        verdicts = np.fromiter((holds(left, operand, value) for value in column.values), dtype=np.bool_)
        return np.asarray(verdicts[column.codes])
    lefts, rights = target_column(columns, left), target_column(columns, right)
    pairs = lefts.codes.astype(np.int64) * len(rights.values) + rights.codes
    distinct, inverse = np.unique(pairs, return_inverse=True)
    verdicts = np.fromiter(
        (
            holds(lefts.values[pair // len(rights.values)], operand, rights.values[pair % len(rights.values)])
            for pair in distinct.tolist()
        ),
        dtype=np.bool_,
    )
    return np.asarray(verdicts[inverse])
