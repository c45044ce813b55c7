"""What can be wrong with a template."""

from __future__ import annotations

from yurt.errors import YurtError


class TemplateFailed(YurtError):
    """A template cannot be read or run; the text says where and why, as Go says it."""


class ParseFailed(TemplateFailed):
    """A template cannot be read."""

    def __init__(self, name: str, line: int, problem: str) -> None:
        super().__init__(f"template: {name}:{line}: {problem}")
        self.line = line


class ExecutionFailed(TemplateFailed):
    """A template cannot be run."""
