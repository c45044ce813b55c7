"""Regular expressions that take time proportional to the text, whatever the pattern.

The patterns are RE2's, as job files use them. Python's `re` would do, but for patterns such as `(a+)+$`
that keep it busy for ever, and a server evaluates what strangers send. So the pattern becomes a small
program of which all branches run side by side; `re` is used for one character at a time.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from yurt.jobspec.hcl.regular_expression_syntax import (
    Alternation,
    Assertion,
    Character,
    Group,
    Node,
    PatternError,
    Repetition,
    Sequence,
    parse_pattern,
)

PROGRAM_LENGTH_MAX = 5_000

_REFERENCE = re.compile(r"\$(?:(\$)|\{(\w+)\}|(\w+))", re.ASCII)

__all__ = ["PatternError", "replace_matches"]


class _Step(NamedTuple):
    """One instruction: `character` and `assertion` test, `save` notes a place, `jump` goes on at all of "
    "`to`."""

    kind: str
    to: tuple[int, ...] = ()
    test: Character | Assertion | None = None
    slot: int = 0


def replace_matches(text: str, pattern: str, replacement: str, *, charge: Callable[[int], None]) -> str:
    """`text` with every match of `pattern` replaced; `$1` and `${name}` in `replacement` are groups.

    `charge` is called with the number of steps taken, and may raise to end the work. Raises PatternError
    for a bad pattern or one that is too large.
    """
    parsed = parse_pattern(pattern)
    program = _compile(parsed.node)
    results: list[str] = []
    pos, last_end = 0, -1
    while pos <= len(text):
        slots = _find(program, text, pos, parsed.group_count, charge)
        if slots is None:
            break
        start, end = slots[0], slots[1]
        results.append(text[pos:start])
        if not start == end == last_end:  # an empty match right behind the last one does not count
            expanded = _expanded(replacement, text, slots, parsed.names)
            charge(len(expanded))
            results.append(expanded)
        if end == start:
            results.append(text[end : end + 1])
            end += 1
            last_end = -1
        else:
            last_end = end
        pos = end
    results.append(text[pos:])
    return "".join(results)


def _expanded(replacement: str, text: str, slots: list[int], names: dict[str, int]) -> str:
    def group(match: re.Match[str]) -> str:
        if match[1]:
            return "$"
        name = match[2] or match[3]
        number = int(name) if name.isdigit() and len(name) < 4 else names.get(name, -1)
        if not 0 <= number < len(slots) // 2 or slots[number * 2] < 0:
            return ""
        return text[slots[number * 2] : slots[number * 2 + 1]]

    return _REFERENCE.sub(group, replacement)


def _compile(node: Node) -> list[_Step]:
    program: list[_Step] = []
    _emit(Group(node, 0), program)
    program.append(_Step("match"))
    return program


def _emit(node: Node, program: list[_Step]) -> None:
    """Append the instructions of `node`; they end where the next instruction goes on."""
    if len(program) > PROGRAM_LENGTH_MAX:
        raise PatternError("expression too large")
    match node:
        case Character() | Assertion():
            program.append(_Step("character" if isinstance(node, Character) else "assertion", test=node))
        case Sequence():
            for item in node.items:
                _emit(item, program)
        case Group():
            if node.number is None:
                _emit(node.node, program)
            else:
                program.append(_Step("save", slot=node.number * 2))
                _emit(node.node, program)
                program.append(_Step("save", slot=node.number * 2 + 1))
        case Alternation():
            _emit_alternation(node, program)
        case Repetition():
            _emit_repetition(node, program)


def _emit_alternation(node: Alternation, program: list[_Step]) -> None:
    exits = []
    for branch in node.branches[:-1]:
        split = len(program)
        program.append(_Step("jump"))
        _emit(branch, program)
        exits.append(len(program))
        program.append(_Step("jump"))
        program[split] = _Step("jump", (split + 1, len(program)))
    _emit(node.branches[-1], program)
    for at in exits:
        program[at] = _Step("jump", (len(program),))


def _emit_repetition(node: Repetition, program: list[_Step]) -> None:
    for _ in range(node.least):
        _emit(node.node, program)
    if node.most is None:
        split = len(program)
        program.append(_Step("jump"))
        _emit(node.node, program)
        program.append(_Step("jump", (split,)))
        program[split] = _Step("jump", _preferred(node, split + 1, len(program)))
        return
    splits = []
    for _ in range(node.most - node.least):
        splits.append(len(program))
        program.append(_Step("jump"))
        _emit(node.node, program)
    for split in splits:
        program[split] = _Step("jump", _preferred(node, split + 1, len(program)))


def _preferred(node: Repetition, again: int, on: int) -> tuple[int, int]:
    return (again, on) if node.is_greedy else (on, again)


def _find(
    program: list[_Step], text: str, start: int, group_count: int, charge: Callable[[int], None]
) -> list[int] | None:
    """The places of the leftmost match from `start` on: start and end of each group, -1 if unset."""
    threads: list[tuple[int, list[int]]] = []
    found: list[int] | None = None
    empty = [-1] * (group_count * 2)
    for pos in range(start, len(text) + 1):
        seen: set[int] = set()
        ready: list[tuple[int, list[int]]] = []
        for at, slots in threads:
            _follow(program, text, pos, (at, slots), seen, ready)
        if found is None:
            _follow(program, text, pos, (0, empty), seen, ready)
        charge(1 + len(seen))
        threads = []
        for at, slots in ready:
            step = program[at]
            if step.kind == "match":
                found = slots
                break  # threads behind this one are less preferred
            assert isinstance(step.test, Character)
            if pos < len(text) and step.test.matches(text[pos]):
                threads.append((at + 1, slots))
        if not threads and found is not None:
            break
    return found


def _follow(
    program: list[_Step],
    text: str,
    pos: int,
    thread: tuple[int, list[int]],
    seen: set[int],
    ready: list[tuple[int, list[int]]],
) -> None:
    """Add what `thread` waits for at `pos`: instructions that test a character, or the match."""
    pending = [thread]
    while pending:
        at, slots = pending.pop()
        if at in seen:
            continue
        seen.add(at)
        step = program[at]
        if step.kind == "jump":
            pending.extend((target, slots) for target in reversed(step.to))
        elif step.kind == "save":
            pending.append((at + 1, [*slots[: step.slot], pos, *slots[step.slot + 1 :]]))
        elif step.kind == "assertion":
            assert isinstance(step.test, Assertion)
            if step.test.holds(text, pos):
                pending.append((at + 1, slots))
        else:
            ready.append((at, slots))
