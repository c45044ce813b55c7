"""How long to wait before asking again."""

from __future__ import annotations

from random import Random

FIRST_S = 0.25
LONGEST_S = 10.0
# Nodes that lost the same server at the same moment must not come back at the same moment.
SPREAD = 0.5


def retry_delay_s(failures: int, rng: Random) -> float:
    """The pause after the `failures`-th failure in a row, counted from 1."""
    longest = min(LONGEST_S, FIRST_S * 2.0 ** min(failures - 1, 16))
    return longest * (1 - SPREAD * rng.random())
