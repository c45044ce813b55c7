"""The logger: events with fields, for people and their tools."""

from __future__ import annotations

import logging
import sys
import traceback
from typing import Any, TextIO

from yurt.observe import log_tap
from yurt.observe.plain_structlog import structlog

# Nomad's levels; TRACE is our debug, OFF silences everything.
LEVELS = {
    "TRACE": logging.DEBUG,
    "DEBUG": logging.DEBUG,
    "INFO": logging.INFO,
    "WARN": logging.WARNING,
    "WARNING": logging.WARNING,
    "ERR": logging.ERROR,
    "ERROR": logging.ERROR,
    "OFF": logging.CRITICAL + 10,
}


def get_logger(component: str) -> Any:  # noqa: ANN401 - structlog's own type
    """A logger for one part of Yurt."""
    return structlog.get_logger(component=component)


def configure(level: str = "INFO", *, json: bool = False, stream: TextIO | None = None) -> None:
    """Set where events go and which are worth it."""
    target = stream or sys.stderr
    render: Any = (
        structlog.processors.JSONRenderer()
        if json
        else structlog.dev.ConsoleRenderer(colors=target.isatty(), exception_formatter=_write_traceback)
    )
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info if json else _in_one_line,
            render,
            log_tap.tee,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(LEVELS[level.upper()]),
        logger_factory=structlog.PrintLoggerFactory(target),
        cache_logger_on_first_use=False,
    )


def _in_one_line(_logger: object, _name: str, event: Any) -> Any:  # noqa: ANN401 - structlog's own types
    """Show what a terminal or a reader of lines would act on: names may come from anybody."""
    for key, value in event.items():
        if isinstance(value, str) and not value.isprintable():
            event[key] = _printable(value)
    return event


def _write_traceback(out: TextIO, failure: Any) -> None:  # noqa: ANN401 - structlog's own type
    """Write where something failed, and never the values there: among them are secrets."""
    text = "".join(traceback.format_exception(*failure))
    out.write("\n" + "\n".join(_printable(line) for line in text.rstrip("\n").split("\n")))


def _printable(text: str) -> str:
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)
