"""Structlog without what it imports for tracebacks that we do not print: it takes a tenth of a start."""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import structlog
else:
    _kept: dict[str, Any] = {} if "rich" in sys.modules else {"rich": None}
    # None in its place makes an import fail, as where it is not installed.
    sys.modules.update(_kept)
    structlog = import_module("structlog")
    for _name in _kept:
        del sys.modules[_name]

__all__ = ["structlog"]
