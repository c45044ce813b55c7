"""What can be wrong with a configuration, said so that it can be mended."""

from collections.abc import Iterable

import msgspec

from yurt.errors import YurtError

COMMAND_LINE = "command line"
"""The `file` of a value that a flag gave."""


class Location(msgspec.Struct, frozen=True):
    """Where a value was written; `line` 0 means the file as a whole."""

    file: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """One thing to mend. `key` is dotted (`server.heartbeat_grace`), or empty when no key is at fault."""

    text: str
    key: str = ""
    location: Location | None = None

    def __str__(self) -> str:
        parts = [str(self.location)] if self.location else []
        if self.key:
            parts.append(self.key)
        return ": ".join([*parts, self.text])


class Notice(msgspec.Struct, frozen=True, kw_only=True):
    """Something an operator should look at although the agent starts; `event` is its name in the log."""

    event: str
    text: str
    keys: tuple[str, ...] = ()


class ConfigError(YurtError):
    """The configuration cannot be used; `problems` holds everything found, not only the first."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))
