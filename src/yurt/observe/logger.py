"""The logger: events with fields, for people and their tools."""

from __future__ import annotations

import logging
import sys
from typing import Any, TextIO

import structlog

from yurt.observe import log_tap

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
        structlog.processors.JSONRenderer() if json else structlog.dev.ConsoleRenderer(colors=target.isatty())
    )
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info if json else _keep,
            render,
            log_tap.tee,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(LEVELS[level.upper()]),
        logger_factory=structlog.PrintLoggerFactory(target),
        cache_logger_on_first_use=False,
    )


def _keep(_logger: object, _name: str, event: Any) -> Any:  # noqa: ANN401 - structlog's own types
    return event
