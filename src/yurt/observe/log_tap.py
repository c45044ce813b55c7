"""Copies of what is logged, for those who look on for a while."""

from __future__ import annotations

import logging
from collections.abc import Callable, MutableMapping
from typing import Any, TypeAlias

Listener: TypeAlias = Callable[[str, int], None]
"""Gets a line, rendered as it is logged, and its level."""

_listeners: set[Listener] = set()

_LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
    "exception": logging.ERROR,
    "critical": logging.CRITICAL,
}


def listen(listener: Listener) -> Callable[[], None]:
    """Give lines to `listener` until the returned function is called."""
    _listeners.add(listener)
    return lambda: _listeners.discard(listener)


def tee(_logger: object, method: str, line: Any) -> Any:  # noqa: ANN401 - structlog's own types
    """The last step of logging: whoever listens gets the line, too."""
    if _listeners and not isinstance(line, MutableMapping):
        for listener in tuple(_listeners):
            listener(str(line), _LEVELS.get(method, logging.INFO))
    return line
