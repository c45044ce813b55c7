"""How much is tried: a little with every run of the tests, much with `make fuzz`."""

from __future__ import annotations

import os

FUZZ_TIMES = int(os.environ.get("YURT_FUZZ_TIMES", "1"))
"""How many times more examples are tried than `make test` does."""


def examples(bounded: int) -> int:
    """How many examples to try where `make test` tries `bounded`."""
    return bounded * FUZZ_TIMES
