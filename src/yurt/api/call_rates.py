"""How often one client may make calls that cost a server much."""

from __future__ import annotations

from collections.abc import Callable

from yurt.api.errors import HttpError
from yurt.api.routes import WRITE

# Clients that are remembered; whoever is forgotten starts with a full allowance.
CLIENTS_MAX = 10_000

COSTLY: frozenset[tuple[str, str]] = frozenset(
    (method, path)
    for methods, path in (
        (WRITE, "/v1/jobs/parse"),
        (WRITE, "/v1/validate/job"),
        (WRITE, "/v1/job/{job_id}/plan"),
        (WRITE, "/v1/search/fuzzy"),
        # Anybody may make these, and they check signatures or ask others.
        (WRITE, "/v1/acl/bootstrap"),
        (WRITE, "/v1/acl/login"),
        (WRITE, "/v1/acl/oidc/auth-url"),
        (WRITE, "/v1/acl/oidc/complete-auth"),
        (WRITE, "/v1/acl/token/onetime/exchange"),
        (WRITE, "/v1/system/gc"),
        (WRITE, "/v1/system/reconcile/summaries"),
        (("GET", *WRITE), "/v1/operator/snapshot"),
        (("GET", *WRITE), "/v1/job/{job_id}/placements"),
        (("GET", *WRITE), "/v1/evaluation/{eval_id}/placements"),
    )
    for method in methods
)
"""Calls that take much longer to answer than others, or that could guess at secrets, as method and route."""


class CallRates:
    """An allowance for each client, which fills at a steady rate up to a burst."""

    def __init__(self, *, per_second: int, burst: int, now: Callable[[], float]) -> None:
        self._per_second = per_second
        self._burst = burst
        self._now = now
        # For each client: how many calls it had left, and when. Who called longest ago comes first.
        self._left: dict[str, tuple[float, float]] = {}

    def spend(self, client: str) -> None:
        """Count a call of `client`. Raises HttpError 429 if it has made too many."""
        now = self._now()
        left, at = self._left.pop(client, (float(self._burst), now))
        left = min(float(self._burst), left + (now - at) * self._per_second)
        is_allowed = left >= 1.0
        if len(self._left) >= CLIENTS_MAX:
            del self._left[next(iter(self._left))]
        self._left[client] = (left - 1.0 if is_allowed else left, now)
        if not is_allowed:
            raise HttpError(
                429,
                f"too many costly calls from {client}: {self._per_second} a second are allowed, "
                f"{self._burst} at once; wait and try again (limits.http_costly_calls_per_second)",
            )
