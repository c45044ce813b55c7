"""Functions about the task itself: its variables, files, time, addresses."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from yurt.agent.templates.functions.sprig_times import SprigTimes
from yurt.agent.templates.functions.times import time_in_layout
from yurt.agent.templates.language import FunctionFailed
from yurt.agent.templates.language.values import Value
from yurt.agent.templates.sources import FileQuery, OutsideFile, Wanted
from yurt.model.wire import Nanoseconds

_REFERENCE = re.compile(r"\$(?:\{(\w+)\}|(\w+))", re.ASCII)
RFC3339 = "2006-01-02T15:04:05Z07:00"


class TaskFunctions:
    """The functions for one rendering.

    `variables` are those of the task and its node, `addresses` evaluates an address expression.
    """

    def __init__(
        self,
        wanted: Wanted,
        *,
        variables: Mapping[str, str],
        now: Nanoseconds,
        addresses: Callable[[str], str],
    ) -> None:
        self._wanted = wanted
        self._variables = variables
        self._now = now
        self._addresses = addresses

    def all(self) -> Mapping[str, Callable[..., Value]]:
        """The functions by name."""
        return {
            "env": self._env,
            "envOrDefault": self._env_or_default,
            "file": self._file,
            "mustEnv": self._must_env,
            "sockaddr": self._sockaddr,
            "sprig_env": self._env,
            "sprig_expandenv": self._expandenv,
            "timestamp": self._timestamp,
            **SprigTimes(self._now).all(),
        }

    def _env(self, name: str) -> str:
        return self._variables.get(name, "")

    def _expandenv(self, text: str) -> str:
        return _REFERENCE.sub(lambda found: self._variables.get(found[1] or found[2], ""), text)

    def _env_or_default(self, name: str, otherwise: str) -> str:
        return self._variables.get(name) or otherwise

    def _must_env(self, name: str) -> str:
        if name not in self._variables:
            raise FunctionFailed(f"missing required environment variable: {name}")
        return self._variables[name]

    def _file(self, path: str) -> str:
        if not path.startswith("/"):
            raise FunctionFailed(
                f'file: {path!r} is relative; write {{{{ file (print (env "NOMAD_TASK_DIR") "/name") }}}}'
            )
        found = self._wanted.look_up(FileQuery(path), f"file({path})", must_exist=True)
        if isinstance(found, OutsideFile):
            raise FunctionFailed(f"'{path}' is outside of sandbox")
        return found if isinstance(found, str) else ""

    def _timestamp(self, *layout: str) -> str:
        if len(layout) > 1:
            raise FunctionFailed(f"timestamp: wrong number of arguments, expected 0 or 1, got {len(layout)}")
        return time_in_layout(self._now, layout[0] if layout else RFC3339)

    def _sockaddr(self, expression: str) -> str:
        return self._addresses(expression)
