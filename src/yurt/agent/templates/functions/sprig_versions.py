"""The functions of sprig on versions, which templates call with the prefix `sprig_`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TypeAlias

from yurt.agent.templates.language import FunctionFailed
from yurt.agent.templates.language.values import Record, Value
from yurt.model.versions import Dialect, satisfies

_VERSION = re.compile(
    r"v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+([0-9A-Za-z.-]+))?"
)
_WANTED = re.compile(
    r"\s*(=|!=|>|<|>=|=>|<=|=<|~|~>|\^)?\s*v?(\d+|[xX*])(?:\.(\d+|[xX*]))?(?:\.(\d+|[xX*]))?(-[0-9A-Za-z.-]+)?\s*"
)
_RANGE = re.compile(r"(\S+)\s+-\s+(\S+)")
_Numbers: TypeAlias = tuple[int, int, int]


class SemanticVersion(Record):
    """A version in its parts."""

    type_name = "*semver.Version"

    def __init__(self, written: str) -> None:
        """Raises FunctionFailed for what is no version."""
        found = _VERSION.fullmatch(written)
        if found is None:
            raise FunctionFailed("Invalid Semantic Version")
        major, minor, patch, self.pre, self.metadata = found.groups(default="")
        self.numbers: _Numbers = (int(major), int(minor or 0), int(patch or 0))
        self._written = written

    def text(self) -> str:
        """The whole version, with all of its numbers."""
        tail = f"-{self.pre}" if self.pre else ""
        build = f"+{self.metadata}" if self.metadata else ""
        return ".".join(map(str, self.numbers)) + tail + build

    def methods(self) -> Mapping[str, Callable[..., Value]]:
        """Its parts, and comparing it with another."""
        major, minor, patch = self.numbers
        return {
            "Major": lambda: major,
            "Minor": lambda: minor,
            "Patch": lambda: patch,
            "Prerelease": lambda: self.pre,
            "Metadata": lambda: self.metadata,
            "Original": lambda: self._written,
            "String": self.text,
            "Compare": self._compare,
        }

    def _compare(self, other: Value) -> int:
        if not isinstance(other, SemanticVersion):
            raise FunctionFailed("Compare: another version is needed")
        if _holds(self.text(), "=", other.text()):
            return 0
        return -1 if _holds(self.text(), "<", other.text()) else 1


def semver(version: str) -> SemanticVersion:
    return SemanticVersion(version)


def semver_compare(constraint: str, version: str) -> bool:
    """Whether a version meets a constraint: comparisons with commas between, alternatives with `||`."""
    have = SemanticVersion(version)
    return any(_meets(have, alternative) for alternative in constraint.split("||"))


def _meets(have: SemanticVersion, constraint: str) -> bool:
    spread = _RANGE.sub(r">=\1,<=\2", constraint.strip())
    parts = [part for part in re.split(r",|(?<=[\w*])\s+(?=[^\s])", spread) if part.strip()]
    return all(_meets_one(have, part) for part in parts or ["*"])


def _meets_one(have: SemanticVersion, wanted: str) -> bool:
    found = _WANTED.fullmatch(wanted)
    if found is None:
        raise FunctionFailed(f"improper constraint: {wanted.strip()}")
    operator, *written, pre = found.groups()
    numbers = [int(number) for number in _until_wildcard(written)]
    # A pre-release is meant only by who names one.
    if have.pre and not pre:
        return False
    full: _Numbers = (*numbers, 0, 0, 0)[:3]  # type: ignore[assignment]
    low = ".".join(map(str, full)) + (pre or "")
    version = have.text().partition("+")[0]
    if operator in ("~", "~>", "^") or (operator in (None, "=") and len(numbers) < len(full)):
        above = _first_beyond(operator or "=", numbers, full)
        return _holds(version, ">=", low) and (above is None or have.numbers < above)
    return _compared(have, version, operator or "=", numbers, low)


def _compared(have: SemanticVersion, version: str, operator: str, numbers: list[int], low: str) -> bool:
    """Compare, only as far as the numbers go that were written."""
    is_whole = len(numbers) == len(have.numbers)
    same = have.numbers[: len(numbers)] == tuple(numbers)
    match operator:
        case "!=":
            return not (_holds(version, "=", low) if is_whole else same)
        case ">":
            return _holds(version, ">", low) and (is_whole or not same)
        case "<=" | "=<":
            return _holds(version, "<=", low) or (not is_whole and same)
        case "=>":
            return _holds(version, ">=", low)
    return _holds(version, operator, low)


def _until_wildcard(written: list[str | None]) -> list[str]:
    numbers = []
    for number in written:
        if number is None or number in "xX*":
            break
        numbers.append(number)
    return numbers


def _first_beyond(operator: str, numbers: list[int], full: _Numbers) -> _Numbers | None:
    """The first version above what an operator allows; None when all are allowed."""
    major, minor, patch = full
    if not numbers:
        return None
    if operator == "^" and major == 0 and len(numbers) > 1:
        if minor or len(numbers) == 2:
            return (0, minor + 1, 0)
        return (0, 0, patch + 1)
    if operator == "^" or len(numbers) == 1:
        return (major + 1, 0, 0)
    return (major, minor + 1, 0)


def _holds(version: str, operator: str, other: str) -> bool:
    return satisfies(version, f"{operator} {other}", Dialect.SEMVER)


SPRIG_VERSIONS: Mapping[str, Callable[..., Value]] = {"semver": semver, "semverCompare": semver_compare}
