"""Locks of variables that nobody renews any more."""

from __future__ import annotations

from yurt.model.times import SECOND_NS
from yurt.model.variable import Variable, VariableKey
from yurt.state.state import State

# A lock is given up after twice its TTL, so that one lost renewal does not lose it; then comes its delay.
TTL_FACTOR = 2


class VariableLocks:
    """When each lock ends unless it is renewed.

    Kept in memory, by whoever leads: a new leader gives every lock its whole time again.
    """

    def __init__(self) -> None:
        self._ends: dict[VariableKey, tuple[str, float]] = {}

    def renew(self, variable: Variable, *, now: float) -> None:
        """Let a lock last for its whole time again."""
        lock = variable.lock
        assert lock is not None
        lasts_s = (TTL_FACTOR * lock.ttl + lock.lock_delay) / SECOND_NS
        self._ends[variable.key] = (lock.id, now + lasts_s)

    def expired(self, state: State, *, now: float) -> list[tuple[VariableKey, str]]:
        """Bring the times in line with State; gives the locks whose time is over."""
        ends: dict[VariableKey, tuple[str, float]] = {}
        over = []
        for variable in state.variables:
            if variable.lock is None:
                continue
            known = self._ends.get(variable.key)
            if known is None or known[0] != variable.lock.id:
                self.renew(variable, now=now)
                known = self._ends[variable.key]
            ends[variable.key] = known
            if known[1] <= now:
                over.append((variable.key, known[0]))
        self._ends = ends
        return over

    @property
    def next_end(self) -> float | None:
        """When the next lock ends; None without any."""
        return min((end for _, end in self._ends.values()), default=None)
