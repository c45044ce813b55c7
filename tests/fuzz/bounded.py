"""Whether work stays within bounds that no input may push it over."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def memory_within(mib: int) -> Iterator[None]:
    """Fail if the block takes more memory at any moment."""
    tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < mib * 2**20, f"{peak / 2**20:.0f} MiB were taken, more than {mib}"


def steps_of(work: Callable[[], object], *, most: int) -> int:
    """How many function calls and lines of Python `work` takes; fails beyond `most`.

    Counted rather than timed, so that a slow machine fails no test and a fast one hides nothing.
    """
    import sys  # noqa: PLC0415 - only for the tracer

    count = 0

    def trace(_frame: object, _event: str, _arg: object) -> object:
        nonlocal count
        count += 1
        if count > most:
            sys.settrace(None)
            pytest.fail(f"more than {most} steps")
        return trace

    sys.settrace(trace)  # type: ignore[arg-type]  # looser than the stub's protocol
    try:
        work()
    finally:
        sys.settrace(None)
    return count
