"""Permissions: what a caller may do, from all rules that apply to it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from yurt.model.acl.capabilities import DENY, LEVELS, LIST, READ
from yurt.model.acl.globs import Closest
from yurt.model.acl.rules import NamedRule, Rules

_NOTHING: frozenset[str] = frozenset()
_REFUSED: frozenset[str] = frozenset((DENY,))
# Neither namespaces nor paths can hold it, so that it keeps the two apart in one pattern.
_BETWEEN = "\0"


class Permissions:
    """What a caller may do. Rules for the same name add up; one that denies beats all others.

    A name gets the rules written for exactly it, else those of the closest pattern, never both.
    """

    def __init__(self, rules: Iterable[Rules] = (), *, is_management: bool = False) -> None:
        every = tuple(rules)
        self.is_management = is_management
        self._namespaces = Closest(_namespaces(every), _NOTHING)
        self._variables = Closest(_variables(every), _NOTHING)
        self._node_pools = Closest(_named(every, "node_pools"), _NOTHING)
        self._host_volumes = Closest(_named(every, "host_volumes"), _NOTHING)
        self._operator = _merged(one.operator.capabilities or () for one in every if one.operator)
        self._levels = {area: _level(every, area) for area in LEVELS}

    def allows(self, namespace: str, *any_of: str) -> bool:
        """Whether any of these capabilities is granted in a namespace."""
        return self.is_management or not self._namespaces.of(namespace).isdisjoint(any_of)

    def allows_somewhere(self, *any_of: str) -> bool:
        """Whether any of these capabilities is granted in any namespace there may be."""
        return self.is_management or any(not one.isdisjoint(any_of) for one in self._namespaces.values())

    def sees_namespace(self, namespace: str) -> bool:
        """Whether anything at all is granted in a namespace."""
        return self.is_management or bool(self._namespaces.of(namespace) - _REFUSED)

    def sees_any_namespace(self) -> bool:
        """Whether anything at all is granted in any namespace there may be."""
        return self.is_management or any(one - _REFUSED for one in self._namespaces.values())

    def allows_area(self, area: str, level: str) -> bool:
        """Whether an area without names may be used: agent, node, operator, quota or plugin."""
        if self.is_management:
            return True
        words = LEVELS[area]
        granted = self._levels[area]
        return granted in words and words.index(granted) >= words.index(level)

    def allows_operator(self, capability: str) -> bool:
        """Whether one of an operator's capabilities is granted."""
        return self.is_management or capability in self._operator

    def allows_node_pool(self, pool: str, capability: str) -> bool:
        """Whether a node pool may be read, written or deleted."""
        return self.is_management or capability in self._node_pools.of(pool)

    def allows_node_pools_somewhere(self, capability: str) -> bool:
        """Whether any node pool there may be could be read, written or deleted."""
        return self.is_management or any(capability in one for one in self._node_pools.values())

    def allows_host_volume(self, volume: str, capability: str) -> bool:
        """Whether jobs may mount a host volume."""
        return self.is_management or capability in self._host_volumes.of(volume)

    def allows_variable(self, namespace: str, path: str, capability: str) -> bool:
        """Whether something may be done with the variable at a path."""
        return self.is_management or capability in self._variables.of(f"{namespace}{_BETWEEN}{path}")

    def allows_variables_somewhere(self) -> bool:
        """Whether any rule is about variables."""
        return self.is_management or any(one - _REFUSED for one in self._variables.values())


def _namespaces(every: Sequence[Rules]) -> dict[str, frozenset[str]]:
    names = dict.fromkeys(rule.name for one in every for rule in one.namespaces or ())
    return {
        name: _merged(
            rule.capabilities or () for one in every for rule in one.namespaces or () if rule.name == name
        )
        for name in names
    }


def _variables(every: Sequence[Rules]) -> dict[str, frozenset[str]]:
    granted: dict[str, list[Sequence[str]]] = {}
    for one in every:
        for rule in one.namespaces or ():
            for path in (rule.variables.paths or ()) if rule.variables is not None else ():
                key = f"{rule.name}{_BETWEEN}{path.path_spec}"
                granted.setdefault(key, []).append(path.capabilities or ())
    found = {}
    for key, lists in granted.items():
        merged = _merged(lists)
        # Whoever may read a variable may know that it is there.
        found[key] = merged | {LIST} if READ in merged else merged
    return found


def _named(every: Sequence[Rules], member: str) -> dict[str, frozenset[str]]:
    rules: list[NamedRule] = [rule for one in every for rule in getattr(one, member) or ()]
    return {
        name: _merged(rule.capabilities or () for rule in rules if rule.name == name)
        for name in dict.fromkeys(rule.name for rule in rules)
    }


def _merged(lists: Iterable[Sequence[str]]) -> frozenset[str]:
    merged = frozenset(capability for one in lists for capability in one)
    return _REFUSED if DENY in merged else merged


def _level(every: Sequence[Rules], area: str) -> str:
    words = LEVELS[area]
    given = [rule.policy for one in every if (rule := getattr(one, area)) is not None]
    if DENY in given:
        return DENY
    return max((one for one in given if one in words), key=words.index, default="")


EVERYTHING = Permissions(is_management=True)
"""What management tokens grant, and everybody has where access is not controlled."""

NOTHING = Permissions()
