"""A text with a file name, which turns offsets into lines and columns."""

from bisect import bisect_right

import msgspec

from yurt.jobspec.hcl.graphemes import grapheme_count


class Position(msgspec.Struct, frozen=True):
    """A place in a text; both numbers start at 1, columns count characters as people see them."""

    line: int
    column: int


class Range(msgspec.Struct, frozen=True):
    """A stretch of a named text, written `file:line,column-column`."""

    filename: str
    start: Position
    end: Position

    def __str__(self) -> str:
        start, end = self.start, self.end
        if start.line == end.line:
            return f"{self.filename}:{start.line},{start.column}-{end.column}"
        return f"{self.filename}:{start.line},{start.column}-{end.line},{end.column}"


class Source:
    """One text to parse.

    Syntax nodes hold offsets into `text`; lines and columns are worked out only when a message needs them.
    `origin` is the position of the first character, for text that stands inside another (a JSON string).
    """

    __slots__ = ("_line_starts", "filename", "origin", "text")

    def __init__(self, text: str, filename: str, *, origin: Position = Position(1, 1)) -> None:  # noqa: B008 (frozen)
        self.text = text.removeprefix("\ufeff")
        self.filename = filename
        self.origin = origin
        self._line_starts: list[int] | None = None

    def position(self, offset: int) -> Position:
        starts = self._starts()
        row = bisect_right(starts, offset) - 1
        column = grapheme_count(self.text[starts[row] : offset]) + 1
        if row == 0:
            column += self.origin.column - 1
        return Position(row + self.origin.line, column)

    def range(self, start: int, end: int) -> Range:
        return Range(self.filename, self.position(start), self.position(end))

    def line_text(self, offset: int) -> str:
        """The line that holds `offset`, without its line break."""
        starts = self._starts()
        row = bisect_right(starts, offset) - 1
        end = starts[row + 1] if row + 1 < len(starts) else len(self.text)
        return self.text[starts[row] : end].rstrip("\r\n")

    def _starts(self) -> list[int]:
        if self._line_starts is None:
            starts = [0]
            find = self.text.find
            at = find("\n")
            while at >= 0:
                starts.append(at + 1)
                at = find("\n", at + 1)
            self._line_starts = starts
        return self._line_starts
