"""Regular expressions whose matching takes time in proportion to the text, whatever the pattern.

Patterns come from users and are matched inside the scheduler. A backtracking engine could be made to
hang by one tenant's constraint, for everyone; simulating an automaton cannot.
"""

from __future__ import annotations

from functools import lru_cache

import msgspec

from yurt.model.regexp_syntax import (
    Assertion,
    BadRegexp,
    Capture,
    CharacterSet,
    Choice,
    Node,
    Repeat,
    Sequence,
    in_category,
    parse_regexp,
)

__all__ = ["BadRegexp", "Regexp", "compile_regexp"]

STEPS_MAX = 10_000
"""How large a compiled pattern may become."""

COMPILED_MAX = 1024
"""How many compiled patterns are remembered."""

MOVES_MAX = 512
"""How many moves of a compiled pattern are remembered from one text to the next."""


class _Consume(msgspec.Struct):
    """Take one character of a set and go on with the next step."""

    wanted: CharacterSet


class _Check(msgspec.Struct):
    """Go on with the next step if the place fits."""

    kind: str


class _Fork(msgspec.Struct):
    """Go on with several steps at once."""

    targets: list[int]


class _Accept(msgspec.Struct):
    """The pattern has matched."""


_Step = _Consume | _Check | _Fork | _Accept

_Place = tuple[frozenset[int], str]
"""The steps that wait for a character, and a character of the kind that was before; empty at the start."""

_START: _Place = (frozenset(), "")


@lru_cache(maxsize=COMPILED_MAX)
def compile_regexp(pattern: str) -> Regexp:
    """Compile a pattern in RE2's syntax. Raises BadRegexp with Go's words."""
    steps: list[_Step] = []
    _emit(parse_regexp(pattern), steps, pattern)
    steps.append(_Accept())
    return Regexp(steps)


class Regexp:
    """A compiled pattern.

    Where a match may be in the pattern, and what each character makes of that, is remembered: the same
    few moves serve text after text.
    """

    def __init__(self, steps: list[_Step]) -> None:
        self._steps = steps
        self._moves: dict[tuple[_Place, str], _Place | None] = {}

    def matches(self, text: str) -> bool:
        """Whether the pattern matches anywhere in `text`."""
        if len(self._moves) > MOVES_MAX:
            self._moves = {}
        moves = self._moves
        place = _START
        for character in (*text, ""):
            key = (place, character)
            try:
                following = moves[key]
            except KeyError:
                following = moves[key] = self._move(place, character)
            if following is None:
                return True
            place = following
        return False

    def _move(self, place: _Place, character: str) -> _Place | None:
        """Where a match may be behind `character`, which is empty at the end; None once there is one."""
        waiting, before = place
        # A match may start at every place, so the first step joins those that wait.
        taking, accepted = self._settle([*waiting, 0], before + character, len(before))
        if accepted:
            return None
        following = (number + 1 for number, wanted in taking if character and is_in(character, wanted))
        return frozenset(following), _side(character)

    def _settle(self, numbers: list[int], text: str, at: int) -> tuple[list[tuple[int, CharacterSet]], bool]:
        """Follow all steps that take no character; give those that wait for one."""
        taking: list[tuple[int, CharacterSet]] = []
        seen: set[int] = set()
        stack = numbers
        while stack:
            number = stack.pop()
            if number in seen:
                continue
            seen.add(number)
            step = self._steps[number]
            match step:
                case _Consume(wanted=wanted):
                    taking.append((number, wanted))
                case _Fork(targets=targets):
                    stack.extend(targets)
                case _Check(kind=kind):
                    if holds(kind, text, at):
                        stack.append(number + 1)
                case _Accept():
                    return taking, True
        return taking, False


def _emit(node: Node, steps: list[_Step], pattern: str) -> None:
    """Append the steps of `node`; they end by going on with whatever follows."""
    if len(steps) > STEPS_MAX:
        raise BadRegexp(f"error parsing regexp: expression too large: `{pattern}`")
    match node:
        case CharacterSet():
            steps.append(_Consume(node))
        case Assertion(kind=kind):
            steps.append(_Check(kind))
        case Sequence(parts=parts):
            for part in parts:
                _emit(part, steps, pattern)
        case Capture(part=part):
            _emit(part, steps, pattern)
        case Choice(alternatives=alternatives):
            _emit_choice(alternatives, steps, pattern)
        case Repeat(part=part, least=least, most=most):
            for _ in range(least):
                _emit(part, steps, pattern)
            if most is None:
                _emit_loop(part, steps, pattern)
            else:
                _emit_optional(part, most - least, steps, pattern)


def _emit_choice(alternatives: tuple[Node, ...], steps: list[_Step], pattern: str) -> None:
    fork = _Fork([])
    steps.append(fork)
    exits = []
    for alternative in alternatives:
        fork.targets.append(len(steps))
        _emit(alternative, steps, pattern)
        leave = _Fork([])
        steps.append(leave)
        exits.append(leave)
    for leave in exits:
        leave.targets.append(len(steps))


def _emit_loop(part: Node, steps: list[_Step], pattern: str) -> None:
    start = len(steps)
    fork = _Fork([start + 1])
    steps.append(fork)
    _emit(part, steps, pattern)
    steps.append(_Fork([start]))
    fork.targets.append(len(steps))


def _emit_optional(part: Node, times: int, steps: list[_Step], pattern: str) -> None:
    forks = []
    for _ in range(times):
        fork = _Fork([len(steps) + 1])
        steps.append(fork)
        forks.append(fork)
        _emit(part, steps, pattern)
    for fork in forks:
        fork.targets.append(len(steps))


def is_in(character: str, wanted: CharacterSet) -> bool:
    """Whether a set has a character."""
    forms = {character, character.lower(), character.upper()} if wanted.fold_case else {character}
    inside = any(_is_listed(form, wanted) for form in forms if len(form) == 1)
    return inside != wanted.negated


def _is_listed(character: str, wanted: CharacterSet) -> bool:
    code_point = ord(character)
    return any(low <= code_point <= high for low, high in wanted.ranges) or any(
        in_category(character, category) == asked for category, asked in wanted.categories
    )


def holds(kind: str, text: str, at: int) -> bool:
    """Whether a place in `text` is as an Assertion of that kind says."""
    match kind:
        case "begin":
            return at == 0
        case "end":
            return at == len(text)
        case "line_begin":
            return at == 0 or text[at - 1] == "\n"
        case "line_end":
            return at == len(text) or text[at] == "\n"
    boundary = _is_word(text[at - 1 : at] if at else "") != _is_word(text[at : at + 1])
    return boundary == (kind == "word")


def _side(character: str) -> str:
    """A character that assertions take for `character`."""
    if _is_word(character):
        return "w"
    return "\n" if character == "\n" else " "


def _is_word(character: str) -> bool:
    return character.isascii() and (character.isalnum() or character == "_")
