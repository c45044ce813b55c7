"""Problems found in a file, each with its place and what to do about it."""

from collections.abc import Iterable, Sequence

import msgspec

from yurt.jobspec.hcl.limits import NESTING_DEPTH_MAX
from yurt.jobspec.hcl.source import Range, Source

NO_POSITION = "<nil>"
"""Where a problem of a file as a whole is shown to be."""

_SUGGESTION_DISTANCE_MAX = 2


class Diagnostic(msgspec.Struct, frozen=True, kw_only=True):
    """One problem. `subject` is None when it has no single place."""

    summary: str
    detail: str
    subject: Range | None = None
    line_text: str = ""

    def __str__(self) -> str:
        return f"{self.subject or NO_POSITION}: {self.summary}; {self.detail}"

    def with_source_line(self) -> str:
        """The message, then the line it speaks of with the place marked below it."""
        if self.subject is None or not self.line_text:
            return str(self)
        start, end = self.subject.start, self.subject.end
        width = (
            end.column - start.column if end.line == start.line else len(self.line_text) + 1 - start.column
        )
        pad = "".join(c if c == "\t" else " " for c in self.line_text[: start.column - 1])
        return f"{self}\n  {self.line_text}\n  {pad}{'^' * max(1, width)}"


class HCLError(Exception):
    """The text cannot be used; `diagnostics` says why, and `str()` gives them one a line.

    `is_syntax` tells that the text could not be read at all, so that nothing after the first problem
    was looked at.
    """

    def __init__(self, diagnostics: Iterable[Diagnostic], *, is_syntax: bool = False) -> None:
        self.diagnostics: tuple[Diagnostic, ...] = tuple(diagnostics)
        self.is_syntax = is_syntax
        super().__init__("\n".join(str(d) for d in self.diagnostics))


def diagnostic_at(source: Source, start: int, end: int, *, summary: str, detail: str) -> Diagnostic:
    """A diagnostic about `source.text[start:end]`."""
    return Diagnostic(
        summary=summary, detail=detail, subject=source.range(start, end), line_text=source.line_text(start)
    )


def syntax_error(source: Source, start: int, end: int, summary: str, detail: str) -> HCLError:
    """The error that ends parsing at `source.text[start:end]`."""
    problem = diagnostic_at(source, start, end, summary=summary, detail=detail)
    return HCLError([problem], is_syntax=True)


def too_deep(source: Source, at: int) -> HCLError:
    """The error for blocks, expressions or values nested without end."""
    return syntax_error(
        source,
        at,
        at + 1,
        "Nested too deeply",
        f"Blocks and expressions may be nested at most {NESTING_DEPTH_MAX} levels deep.",
    )


def closest_name(given: str, known: Iterable[str]) -> str | None:
    """The known name that was probably meant by `given`, if one is at most two typing errors away."""
    best: str | None = None
    best_distance = _SUGGESTION_DISTANCE_MAX + 1
    for name in known:
        if abs(len(name) - len(given)) < best_distance:
            distance = _edit_distance(given, name)
            if distance < best_distance:
                best, best_distance = name, distance
    return best


def _edit_distance(a: Sequence[str], b: Sequence[str]) -> int:
    row = list(range(len(b) + 1))
    for i, left in enumerate(a, 1):
        previous, row[0] = row[0], i
        for j, right in enumerate(b, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (left != right))
    return row[-1]
