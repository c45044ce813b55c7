"""Modules that are imported when something in them is first asked for.

An agent starts in less than two seconds because it leaves out what it may never need.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import aiohttp
else:

    class _Later:
        """Stands for a module."""

        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the module has
            return getattr(import_module(self._name), name)

    # For calls to others: to push nodes, between servers and nodes, to Docker and Consul, for artifacts.
    aiohttp = _Later("aiohttp")

__all__ = ["aiohttp"]
