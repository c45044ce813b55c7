"""Filter expressions: which objects of a list the caller wants to see."""

from yurt.api.filter.compiled import Filter, compile_filter
from yurt.api.filter.errors import FilterFailed, FilterUnreadable

__all__ = ["Filter", "FilterFailed", "FilterUnreadable", "compile_filter"]
