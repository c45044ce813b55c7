"""The canonical layout of HCL files: indentation by nesting, aligned equals signs, no stray blanks.

It works line by line and changes blanks only, so that comments and expressions stay as they are written.
"""

import re

INDENT = "  "
_ATTRIBUTE = re.compile(r"^(\"[^\"]*\"|[\w.-]+)\s*=(?![=>])\s*(.*)$")
_HEREDOC = re.compile(r"<<-?(\w+)\s*$")
_BLOCK_HEAD = re.compile(r"^([\w-]+(?:\s+(?:\"[^\"]*\"|[\w-]+))*)\s*\{(.*)$")


def format_hcl(text: str) -> str:
    """Lay a file out. The result is stable: laying it out again changes nothing."""
    lines: list[tuple[int, str]] = []  # nesting, or -1 for lines that must not change
    nesting = _Nesting()
    heredoc = ""
    in_comment = False
    for raw in text.splitlines():
        if heredoc:
            lines.append((-1, raw))
            heredoc = "" if raw.strip() == heredoc else heredoc
            continue
        if in_comment:
            lines.append((-1, raw.rstrip()))
            in_comment = "*/" not in raw
            continue
        line = _tidy(raw.strip())
        lines.append((nesting.enter(line), line))
        match = _HEREDOC.search(line)
        heredoc = match[1] if match else ""
        in_comment = "/*" in _code(line) and "*/" not in line
    formatted = _without_extra_empty_lines(_aligned(lines))
    return "\n".join(formatted).strip("\n") + "\n" if formatted else ""


def _tidy(line: str) -> str:
    """One blank where several separate the parts of a block's head."""
    match = _BLOCK_HEAD.match(line)
    if not match or "=" in match[1]:
        return line
    head = re.sub(r"\s+", " ", match[1])
    return f"{head} {{{match[2]}"


class _Nesting:
    """How deep a line lies. Brackets that one line opens together are one level."""

    def __init__(self) -> None:
        self._open: list[int] = []  # brackets open on each level

    def enter(self, line: str) -> int:
        """Go past a line, and say at which level it stands: that of the brackets it closes first."""
        code = _code(line)
        leading = len(code) - len(code.lstrip("}])"))
        for _ in range(leading):
            self._close()
        level = len(self._open)
        opened = 0
        for character in code[leading:]:
            if character in "{[(":
                opened += 1
            elif character in "}])" and opened:
                opened -= 1
            elif character in "}])":
                self._close()
        if opened:
            self._open.append(opened)
        return level

    def _close(self) -> None:
        if self._open:
            self._open[-1] -= 1
            if not self._open[-1]:
                self._open.pop()


def _is_balanced(line: str) -> bool:
    code = _code(line)
    return sum(map(code.count, "{[(")) == sum(map(code.count, "}])"))


def _code(line: str) -> str:
    """A line without its strings and comments, in which only brackets matter.

    A string may hold `${...}`, which may hold strings again.
    """
    kept = []
    open_templates: list[int] = []  # braces open inside each template we are in
    in_string = False
    position = 0
    while position < len(line):
        character = line[position]
        if in_string:
            if character == "\\":
                position += 1
            elif character == '"':
                in_string = False
            elif line.startswith(("${", "%{"), position):
                open_templates.append(0)
                in_string = False
                position += 1
        elif character == '"':
            in_string = True
        elif open_templates and character == "}" and open_templates[-1] == 0:
            open_templates.pop()
            in_string = True
        elif character == "#" or line.startswith("//", position):
            break
        elif open_templates:
            open_templates[-1] += (character == "{") - (character == "}")
        else:
            kept.append(character)
        position += 1
    return "".join(kept)


def _aligned(lines: list[tuple[int, str]]) -> list[str]:
    """Indent lines, and align the equals signs of attributes that follow one another."""
    out: list[str] = []
    run: list[tuple[int, str, str]] = []

    def flush() -> None:
        width = max((len(name) for _, name, _ in run), default=0)
        out.extend(f"{INDENT * depth}{name.ljust(width)} = {value}" for depth, name, value in run)
        run.clear()

    for depth, line in lines:
        match = _ATTRIBUTE.match(line) if depth >= 0 else None
        is_one_line = match is not None and _is_balanced(line) and not _HEREDOC.search(line)
        if run and (not is_one_line or run[0][0] != depth):
            flush()
        if match is not None:
            run.append((depth, match[1], match[2]))
            # A value of several lines stands for itself, on both sides.
            if not is_one_line:
                flush()
        else:
            out.append(line if depth < 0 else f"{INDENT * depth}{line}".rstrip())
    flush()
    return out


def _without_extra_empty_lines(lines: list[str]) -> list[str]:
    kept: list[str] = []
    for line in lines:
        if line or (kept and kept[-1]):
            kept.append(line)
    return kept
