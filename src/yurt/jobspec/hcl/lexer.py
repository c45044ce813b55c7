"""HCL2 text cut into tokens, templates included.

Tokens are three parallel lists, because a job file has thousands of them and an object each would cost
more than everything else here.
"""

import re
from typing import Final, NamedTuple

from yurt.jobspec.hcl.diagnostics import HCLError, syntax_error, too_deep
from yurt.jobspec.hcl.limits import NESTING_DEPTH_MAX, SOURCE_CHARACTERS_MAX
from yurt.jobspec.hcl.source import Source

(
    EOF,
    NEWLINE,
    IDENTIFIER,
    NUMBER,
    STRING,  # a whole quoted string without template sequences or escapes
    QUOTE_OPEN,
    QUOTE_CLOSE,
    HEREDOC_OPEN,
    HEREDOC_CLOSE,
    LITERAL,  # raw text inside a template; in a heredoc with sequences one token a line
    INTERPOLATION_OPEN,  # ${ or ${~
    CONTROL_OPEN,  # %{ or %{~
    SEQUENCE_CLOSE,  # } or ~} that ends one of the two above
    BRACE_OPEN,
    BRACE_CLOSE,
    BRACKET_OPEN,
    BRACKET_CLOSE,
    PAREN_OPEN,
    PAREN_CLOSE,
    ASSIGN,
    ARROW,
    COMMA,
    COLON,
    DOT,
    ELLIPSIS,
    QUESTION,
    STAR,
    SLASH,
    PERCENT,
    PLUS,
    MINUS,
    EQUAL,
    NOT_EQUAL,
    LESS,
    LESS_EQUAL,
    GREATER,
    GREATER_EQUAL,
    AND,
    OR,
    NOT,
) = range(40)

_PUNCTUATION: Final = {
    "{": BRACE_OPEN, "}": BRACE_CLOSE, "[": BRACKET_OPEN, "]": BRACKET_CLOSE, "(": PAREN_OPEN,
    ")": PAREN_CLOSE, "=": ASSIGN, "=>": ARROW, ",": COMMA, ":": COLON, ".": DOT, "...": ELLIPSIS,
    "?": QUESTION, "*": STAR, "/": SLASH, "%": PERCENT, "+": PLUS, "-": MINUS, "==": EQUAL,
    "!=": NOT_EQUAL, "<": LESS, "<=": LESS_EQUAL, ">": GREATER, ">=": GREATER_EQUAL, "&&": AND,
    "||": OR, "!": NOT,
}  # fmt: skip

_IDENTIFIER_PATTERN: Final = r"[^\W\d][\w-]*"
_TOKEN = re.compile(
    r"(?:[ \t]++|\#[^\n]*|//[^\n]*|/\*(?s:.*?)\*/)*+"
    r"(?:"
    rf"({_IDENTIFIER_PATTERN})"
    r"|(\r?\n)"
    r'|("(?:[^"\\$%\n]|[$%](?!\{))*+")'
    rf"|(<<-?{_IDENTIFIER_PATTERN}[ \t]*\r?\n)"
    r"|(=>|==|!=|<=|>=|&&|\|\||\.\.\.|(?!/\*)[-{}\[\]()=,:.?*/%+<>!])"
    r"|(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)"
    r'|(")'
    r"|(~\})"
    r"|(\Z)"
    r")"
)
(
    _IS_IDENTIFIER,
    _IS_NEWLINE,
    _IS_STRING,
    _IS_HEREDOC,
    _IS_PUNCTUATION,
    _IS_NUMBER,
    _IS_QUOTE,
    _IS_STRIP_CLOSE,
) = range(1, 9)
_SKIPPED = re.compile(r"(?:[ \t]++|\#[^\n]*|//[^\n]*|/\*(?s:.*?)\*/)*+")
_QUOTED_TEXT = re.compile(r'(?:[^"\\$%\n]|\\[^\n]|\$\$\{|%%\{|[$%](?!\{))++')
_HEREDOC_TEXT = re.compile(r"(?:[^$%\n]|\$\$\{|%%\{|[$%](?!\{))*+\n?")
_SEQUENCE_OPEN = re.compile(r"[$%]\{~?")
_END_OF_TEXT = re.compile(r"\Z")
_HEREDOC_MARKER = re.compile(rf"<<-?({_IDENTIFIER_PATTERN})")


class Tokens(NamedTuple):
    """The tokens of a text: kind, first offset and end offset of each. The last one is EOF."""

    kinds: list[int]
    starts: list[int]
    ends: list[int]


class _Template(NamedTuple):
    """A template being read: a heredoc if it has a terminator, else a quoted string."""

    start: int
    terminator: re.Pattern[str] | None
    depth: int  # open braces around the template, in the text it stands in
    sequence_start: int = 0


def lex(source: Source, *, is_template: bool = False) -> Tokens:
    """Cut `source` into tokens. Raises HCLError at the first character that fits no token.

    With `is_template` the whole text is one template, as if it stood in a heredoc.
    """
    if len(source.text) > SOURCE_CHARACTERS_MAX:
        raise syntax_error(
            source, 0, 0, "Text too long", f"A file may have at most {SOURCE_CHARACTERS_MAX} characters."
        )
    lexer = _Lexer(source)
    return lexer.run_template() if is_template else lexer.run()


class _Lexer:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.text = source.text
        self.tokens = Tokens([], [], [])
        self.templates: list[_Template] = []

    def run_template(self) -> Tokens:
        self._add(HEREDOC_OPEN, 0, 0)
        pos, depth = self._heredoc(_Template(0, _END_OF_TEXT, 0), 0)
        return self.run(pos, depth)

    def run(self, pos: int = 0, depth: int = 0) -> Tokens:
        text, match = self.text, _TOKEN.match
        kinds, starts, ends = self.tokens
        punctuation = _PUNCTUATION
        while True:
            found = match(text, pos)
            if found is None:
                raise self._invalid(_SKIPPED.match(text, pos).end())  # type: ignore[union-attr]  # may be empty
            group = found.lastindex
            assert group is not None
            start, pos = found.span(group)
            if group == _IS_PUNCTUATION:
                kind = punctuation[text[start:pos]]
                if kind == BRACE_OPEN:
                    depth += 1
                elif kind == BRACE_CLOSE:
                    if depth == 0 and self.templates:
                        pos, depth = self._close_sequence(start, pos)
                        continue
                    depth -= 1
            elif group <= _IS_STRING:
                kind = IDENTIFIER if group == _IS_IDENTIFIER else NEWLINE if group == _IS_NEWLINE else STRING
            elif group == _IS_NUMBER:
                kind = NUMBER
            elif group == _IS_QUOTE:
                self._add(QUOTE_OPEN, start, pos)
                pos, depth = self._quoted(_Template(start, None, depth), pos)
                continue
            elif group == _IS_HEREDOC:
                self._add(HEREDOC_OPEN, start, pos)
                pos, depth = self._open_heredoc(start, pos, depth)
                continue
            elif group == _IS_STRIP_CLOSE:
                if depth != 0 or not self.templates:
                    raise self._invalid(start)
                pos, depth = self._close_sequence(start, pos)
                continue
            else:
                if self.templates:
                    raise self._unclosed_sequence()
                self._add(EOF, start, start)
                return self.tokens
            kinds.append(kind)
            starts.append(start)
            ends.append(pos)

    def _add(self, kind: int, start: int, end: int) -> None:
        self.tokens.kinds.append(kind)
        self.tokens.starts.append(start)
        self.tokens.ends.append(end)

    # Each of the following returns where ordinary tokens go on and how many braces are open there.

    def _quoted(self, template: _Template, pos: int) -> tuple[int, int]:
        text = self.text
        literal = _QUOTED_TEXT.match(text, pos)
        if literal:
            self._add(LITERAL, pos, literal.end())
            pos = literal.end()
        if text.startswith('"', pos):
            self._add(QUOTE_CLOSE, pos, pos + 1)
            return pos + 1, template.depth
        if _SEQUENCE_OPEN.match(text, pos):
            return self._open_sequence(template, pos)
        if text.startswith("\n", pos):
            raise syntax_error(
                self.source,
                pos,
                pos + 1,
                "Invalid multi-line string",
                "Quoted strings may not be split over multiple lines. To produce a multi-line string, "
                "either use "
                'the \\n escape to represent a newline character or use the "heredoc" multi-line template '
                "syntax.",
            )
        raise self._unterminated()

    def _open_heredoc(self, start: int, pos: int, depth: int) -> tuple[int, int]:
        marker = _HEREDOC_MARKER.match(self.text, start)
        assert marker is not None
        terminator = re.compile(rf"^[ \t]*{re.escape(marker[1])}(?=[ \t]*\r?$)", re.MULTILINE)
        end = terminator.search(self.text, pos)
        if end is None:
            raise self._unterminated()
        body = self.text[pos : end.start()]
        if "${" in body or "%{" in body:
            return self._heredoc(_Template(start, terminator, depth), pos)
        if body:
            self._add(LITERAL, pos, end.start())
        self._add(HEREDOC_CLOSE, end.start(), end.end())
        return end.end(), depth

    def _heredoc(self, template: _Template, pos: int) -> tuple[int, int]:
        text = self.text
        assert template.terminator is not None
        while True:
            end = template.terminator.match(text, pos)
            if end:
                self._add(HEREDOC_CLOSE, pos, end.end())
                return end.end(), template.depth
            literal = _HEREDOC_TEXT.match(text, pos)
            assert literal is not None
            if literal.end() > pos:
                self._add(LITERAL, pos, literal.end())
                pos = literal.end()
            if _SEQUENCE_OPEN.match(text, pos):
                return self._open_sequence(template, pos)
            if pos == len(text):
                raise self._unterminated()

    def _open_sequence(self, template: _Template, pos: int) -> tuple[int, int]:
        opened = _SEQUENCE_OPEN.match(self.text, pos)
        assert opened is not None
        if len(self.templates) >= NESTING_DEPTH_MAX:
            raise too_deep(self.source, pos)
        self._add(INTERPOLATION_OPEN if self.text[pos] == "$" else CONTROL_OPEN, pos, opened.end())
        self.templates.append(template._replace(sequence_start=pos))
        return opened.end(), 0

    def _close_sequence(self, start: int, end: int) -> tuple[int, int]:
        """Leave a `${…}` or `%{…}`; the text of its template goes on at `end`."""
        self._add(SEQUENCE_CLOSE, start, end)
        template = self.templates.pop()
        return self._quoted(template, end) if template.terminator is None else self._heredoc(template, end)

    def _invalid(self, at: int) -> HCLError:
        char = self.text[at]
        summary, detail = "Invalid character", "This character is not used within the language."
        if char in "&|^~":
            summary = "Unsupported operator"
            detail = "Bitwise operators are not supported."
            if char in "&|":
                detail += f' Did you mean boolean {"AND" if char == "&" else "OR"} ("{char * 2}")?'
        elif char == "'":
            detail = 'Single quotes are not valid. Use double quotes (") to enclose strings.'
        elif char == ";":
            detail = (
                'The ";" character is not valid. Use newlines to separate arguments and blocks, and commas '
                "to "
                "separate items in collection values."
            )
        elif self.text.startswith("/*", at):
            summary, detail = "Unterminated comment", 'This comment has no closing "*/".'
        return syntax_error(self.source, at, at + 1, summary, detail)

    def _unterminated(self) -> HCLError:
        end = len(self.text)
        return syntax_error(
            self.source,
            end,
            end,
            "Unterminated template string",
            "No closing marker was found for the string.",
        )

    def _unclosed_sequence(self) -> HCLError:
        start = self.templates[-1].sequence_start
        return syntax_error(
            self.source,
            start,
            start + 2,
            "Unclosed template sequence",
            "There is no closing brace for this sequence before the end of the file. This might be caused by "
            "incorrect nesting inside the given expression.",
        )
