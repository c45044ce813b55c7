"""Find or replace what a regular expression matches, in time that grows with text and pattern only.

All ways of matching advance together, the preferred one first, each with the places of its groups: the
first that arrives is the one that a backtracking engine would have found.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import islice

import msgspec

from yurt.model.regexp import STEPS_MAX, holds, is_in
from yurt.model.regexp_syntax import (
    Assertion,
    BadRegexp,
    Capture,
    CharacterSet,
    Choice,
    Node,
    Repeat,
    Sequence,
    parse_regexp,
)

COMPILED_MAX = 128
# Many matches that each look far ahead add up to the square of the text.
PLACES_MAX = 300_000
_REFERENCE = re.compile(r"\$(?:\$|(\w+)|\{(\w+)\})", re.ASCII)


class _Consume(msgspec.Struct):
    wanted: CharacterSet


class _Check(msgspec.Struct):
    kind: str


class _Split(msgspec.Struct):
    """Go on with several steps, the first ones preferred."""

    targets: list[int]


class _Mark(msgspec.Struct):
    """Remember the place, as the start or end of a group."""

    slot: int


class _Accept(msgspec.Struct):
    pass


_Step = _Consume | _Check | _Split | _Mark | _Accept
_Places = tuple[int, ...]


def replace_all(
    pattern: str,
    replacement: str,
    text: str,
    *,
    chars_max: int,
    charge: Callable[[int], None] = lambda _steps: None,
) -> str | None:
    """Replace every match; `$1` and `${name}` stand for groups. None if the result is over `chars_max`.

    `charge` is told the steps of the work as it goes on, and may raise to end it. Raises BadRegexp.
    """
    program = _compiled(pattern)
    parts: list[str] = []
    chars = copied = 0
    for places in _matches(program, text, charge):
        new = (text[copied : places[0]], program.expand(replacement, text, places))
        parts += new
        chars += sum(map(len, new))
        if chars > chars_max:
            return None
        copied = places[1]
    parts.append(text[copied:])
    return "".join(parts) if chars + len(parts[-1]) <= chars_max else None


def find_all(pattern: str, text: str, *, at_most: int | None = None) -> list[tuple[int, int]]:
    """Where the matches start and end, the first `at_most` of them. Raises BadRegexp."""
    found = _matches(_compiled(pattern), text, lambda _steps: None)
    return [(places[0], places[1]) for places in islice(found, at_most)]


def _matches(program: _Program, text: str, charge: Callable[[int], None]) -> Iterator[_Places]:
    at = looked = 0
    last_end = -1
    while at <= len(text):
        places, seen = program.find(text, at, charge)
        looked += seen
        if looked > PLACES_MAX:
            raise BadRegexp(f"replacing `{program.pattern}` takes too long; match less at a time")
        if places is None:
            return
        start, end = places[0], places[1]
        # An empty match right behind the one before is not another one.
        if not (start == end == last_end):
            yield places
            last_end = end
        at = end if end > at else at + 1


class _Program:
    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self._steps: list[_Step] = []
        self._names: dict[str, int] = {}
        self._groups = 0
        self._emit(parse_regexp(pattern))
        self._steps.append(_Accept())

    def find(self, text: str, begin: int, charge: Callable[[int], None]) -> tuple[_Places | None, int]:
        """The places of the first match from `begin` on, and how many characters were looked at.

        The places are start and end of the whole, then of each group, -1 for those without a part in it.
        """
        empty = (-1,) * (2 * self._groups + 2)
        waiting: list[tuple[int, _Places]] = []
        found: _Places | None = None
        at = begin
        for at in range(begin, len(text) + 1):
            starts = [] if found is not None else [(0, (at, *empty[1:]))]
            if not waiting and not starts:
                break
            taking, accepted, followed = self._settle([*waiting, *starts], text, at)
            charge(followed)
            found = accepted or found
            if at == len(text):
                break
            waiting = [(number + 1, places) for number, wanted, places in taking if is_in(text[at], wanted)]
        return found, at - begin + 1

    def _settle(
        self, threads: list[tuple[int, _Places]], text: str, at: int
    ) -> tuple[list[tuple[int, CharacterSet, _Places]], _Places | None, int]:
        """Follow all steps that take no character; what is preferred less than a match is dropped.

        Returns the steps that take one, the match if there is one, and how many steps were followed.
        """
        taking: list[tuple[int, CharacterSet, _Places]] = []
        seen: set[int] = set()
        stack = threads[::-1]
        while stack:
            number, places = stack.pop()
            if number in seen:
                continue
            seen.add(number)
            match self._steps[number]:
                case _Consume(wanted=wanted):
                    taking.append((number, wanted, places))
                case _Split(targets=targets):
                    stack.extend((target, places) for target in reversed(targets))
                case _Check(kind=kind):
                    if holds(kind, text, at):
                        stack.append((number + 1, places))
                case _Mark(slot=slot):
                    stack.append((number + 1, (*places[:slot], at, *places[slot + 1 :])))
                case _Accept():
                    return taking, (places[0], at, *places[2:]), len(seen)
        return taking, None, len(seen)

    def expand(self, replacement: str, text: str, places: _Places) -> str:
        def group(found: re.Match[str]) -> str:
            name = found[1] or found[2]
            if name is None:
                return "$"
            number = int(name) if name.isdigit() else self._names.get(name, -1)
            if not 0 <= number <= self._groups or places[2 * number] < 0:
                return ""
            return text[places[2 * number] : places[2 * number + 1]]

        return _REFERENCE.sub(group, replacement)

    # --- compiling ------------------------------------------------------------------------------------

    def _emit(self, node: Node) -> None:
        if len(self._steps) > STEPS_MAX:
            raise BadRegexp(f"error parsing regexp: expression too large: `{self.pattern}`")
        match node:
            case CharacterSet():
                self._steps.append(_Consume(node))
            case Assertion(kind=kind):
                self._steps.append(_Check(kind))
            case Sequence(parts=parts):
                for part in parts:
                    self._emit(part)
            case Capture(part=part, number=number, name=name):
                self._groups = max(self._groups, number)
                if name:
                    self._names[name] = number
                self._steps.append(_Mark(2 * number))
                self._emit(part)
                self._steps.append(_Mark(2 * number + 1))
            case Choice(alternatives=alternatives):
                self._choice(alternatives)
            case Repeat():
                self._repeat(node)

    def _choice(self, alternatives: tuple[Node, ...]) -> None:
        split = _Split([])
        self._steps.append(split)
        exits = []
        for alternative in alternatives:
            split.targets.append(len(self._steps))
            self._emit(alternative)
            exits.append(_Split([]))
            self._steps.append(exits[-1])
        for leave in exits:
            leave.targets.append(len(self._steps))

    def _repeat(self, node: Repeat) -> None:
        for _ in range(node.least):
            self._emit(node.part)
        splits = []
        if node.most is None:
            start = len(self._steps)
            splits.append(self._optional(node.part))
            self._steps.append(_Split([start]))
        else:
            splits += [self._optional(node.part) for _ in range(node.most - node.least)]
        for split in splits:
            place = len(self._steps)
            split.targets = [place, *split.targets] if node.lazy else [*split.targets, place]

    def _optional(self, part: Node) -> _Split:
        split = _Split([len(self._steps) + 1])
        self._steps.append(split)
        self._emit(part)
        return split


@lru_cache(maxsize=COMPILED_MAX)
def _compiled(pattern: str) -> _Program:
    return _Program(pattern)
