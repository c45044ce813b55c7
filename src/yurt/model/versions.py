"""Versions of software, and constraints on them, under HashiCorp's rules and under strict SemVer.

The two dialects read the same versions. They differ in what pre-releases satisfy: `version`
constraints leave them out unless asked for, `semver` ones order them as SemVer 2 does.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum
from functools import lru_cache
from typing import TypeAlias

import msgspec

from yurt.errors import YurtError

Precedence: TypeAlias = tuple[tuple[int, ...], tuple[tuple[int, int, str], ...]]

_VERSION = (
    r"v?(?P<numbers>[0-9]+(?:\.[0-9]+)*)"
    r"(?:-?(?P<pre>(?<=-)[0-9]+[0-9A-Za-z~-]*(?:\.[0-9A-Za-z~-]+)*|[A-Za-z~-]+[0-9A-Za-z~-]*(?:\.[0-9A-Za-z~-]+)*))?"
    r"(?:\+(?P<build>[0-9A-Za-z~-]+(?:\.[0-9A-Za-z~-]+)*))?"
)
_WHOLE_VERSION = re.compile(_VERSION)
_NUMBERS_MIN = 3
"""Versions are compared with at least this many numbers: 1.2 is 1.2.0."""

PARSED_CONSTRAINTS_MAX = 4096
"""How many parsed constraints and versions are remembered."""


class Dialect(Enum):
    """Whose rules a constraint follows."""

    VERSION = "version"
    SEMVER = "semver"


class BadVersion(YurtError):
    """A text that is no version, or no constraint on one."""


class Version(msgspec.Struct, frozen=True):
    """A parsed version; `given` says how many of its numbers were written."""

    numbers: tuple[int, ...]
    pre: str
    given: int

    @property
    def precedence(self) -> Precedence:
        """A key that orders versions; a release comes after its pre-releases."""
        if not self.pre:
            return self.numbers, ((2, 0, ""),)
        return self.numbers, tuple(
            (0, int(part), "") if part.isdecimal() else (1, 0, part) for part in self.pre.split(".")
        )


class VersionConstraint(msgspec.Struct, frozen=True):
    """One condition on a version."""

    operator: str
    version: Version


@lru_cache(maxsize=PARSED_CONSTRAINTS_MAX)
def parse_version(text: str) -> Version:
    """Read a version. Raises BadVersion."""
    found = _WHOLE_VERSION.fullmatch(text)
    if found is None:
        raise BadVersion(f"malformed version: {text}")
    return _version(found)


@lru_cache(maxsize=PARSED_CONSTRAINTS_MAX)
def parse_constraints(text: str, dialect: Dialect) -> tuple[VersionConstraint, ...]:
    """Read constraints with commas between them. Raises BadVersion."""
    return tuple(_constraint(part, dialect) for part in text.split(","))


def satisfies(version: str, constraints: str, dialect: Dialect) -> bool:
    """Whether `version` meets all `constraints`; texts that do not parse meet nothing."""
    try:
        have = parse_version(version)
        wanted = parse_constraints(constraints, dialect)
    except BadVersion:
        return False
    rules = _VERSION_RULES if dialect is Dialect.VERSION else _SEMVER_RULES
    return all(rules[constraint.operator](have, constraint.version) for constraint in wanted)


def _version(found: re.Match[str]) -> Version:
    numbers = tuple(int(number) for number in found["numbers"].split("."))
    padding = (0,) * (_NUMBERS_MIN - len(numbers))
    return Version(numbers + padding, found["pre"] or "", len(numbers))


def _constraint(text: str, dialect: Dialect) -> VersionConstraint:
    found = _CONSTRAINTS[dialect].fullmatch(text)
    if found is None:
        malformed = "malformed" if dialect is Dialect.VERSION else "Malformed"
        raise BadVersion(f"{malformed} constraint: {text}")
    return VersionConstraint(found["operator"], _version(found))


def _aligned(have: Version, want: Version) -> tuple[Precedence, Precedence]:
    length = max(len(have.numbers), len(want.numbers))
    keys = []
    for version in (have, want):
        numbers, pre = version.precedence
        keys.append((numbers + (0,) * (length - len(numbers)), pre))
    return keys[0], keys[1]


def _pre_release_fits(have: Version, want: Version) -> bool:
    """Whether the pre-release rule lets `have` be compared with `want`: only to its own kind."""
    if have.pre and want.pre:
        return have.numbers == want.numbers
    return not have.pre


def _pessimistic(have: Version, want: Version) -> bool:
    """`~>`: at least `want`, with all of its written numbers but the last."""
    if not _pre_release_fits(have, want) or (want.pre and not have.pre):
        return False
    kept = want.given - 1
    return _at_least(have, want) and have.numbers[:kept] == want.numbers[:kept]


def _equal(have: Version, want: Version) -> bool:
    first, second = _aligned(have, want)
    return first == second


def _at_least(have: Version, want: Version) -> bool:
    first, second = _aligned(have, want)
    return first >= second


def _below(have: Version, want: Version) -> bool:
    return not _at_least(have, want)


Rule: TypeAlias = Callable[[Version, Version], bool]

_SEMVER_RULES: dict[str, Rule] = {
    "": _equal,
    "=": _equal,
    "!=": lambda have, want: not _equal(have, want),
    ">": lambda have, want: _below(want, have),
    "<": _below,
    ">=": _at_least,
    "<=": lambda have, want: _at_least(want, have),
}


def _guarded(rule: Rule) -> Rule:
    return lambda have, want: _pre_release_fits(have, want) and rule(have, want)


_VERSION_RULES: dict[str, Rule] = {
    **_SEMVER_RULES,
    **{operator: _guarded(_SEMVER_RULES[operator]) for operator in (">", "<", ">=", "<=")},
    "~>": _pessimistic,
}


def _constraint_pattern(rules: dict[str, Rule]) -> re.Pattern[str]:
    operators = "|".join(re.escape(operator) for operator in sorted(rules, key=len, reverse=True))
    return re.compile(rf"\s*(?P<operator>{operators})\s*{_VERSION}\s*")


_CONSTRAINTS = {
    Dialect.VERSION: _constraint_pattern(_VERSION_RULES),
    Dialect.SEMVER: _constraint_pattern(_SEMVER_RULES),
}
