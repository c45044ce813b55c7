"""Signals by the names job files and the API use."""

from __future__ import annotations

import signal


def signal_number(name: str) -> int:
    """The number of a signal; SIGINT for no name and for a name that is none, as in Nomad."""
    try:
        return signal.Signals[name]
    except KeyError:
        return signal.SIGINT
