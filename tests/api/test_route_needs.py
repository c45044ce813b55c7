"""Every route says what its callers must be allowed to do."""

from __future__ import annotations

from tests.api.v1.served import served
from yurt.api.simple.table import simple_routes


async def test_every_method_of_every_route_says_what_it_needs() -> None:
    api = await served()
    silent = [
        f"{method} {route.path}"
        for route in (*api.table.routes, *simple_routes(api.deps).routes)
        for method in route.handlers
        if route.need(method) is None
    ]
    assert silent == [], "say with `needs=` what callers must be allowed to do; see yurt.api.needs"
