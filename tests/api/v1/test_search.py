"""Search by the beginning of ids, and by a part of names."""

from __future__ import annotations

from typing import Any

from tests.api.v1.served import Served, served
from yurt.api.v1.search import CONTEXTS
from yurt.server.settings import SearchLimits


async def found(api: Served, path: str, **body: str) -> Any:
    reply = await api.call("PUT", path, {"Context": "all", **body})
    assert reply.status == 200, reply.text
    return reply.json


async def test_a_prefix_finds_ids_and_what_is_searched_in_vain_is_null() -> None:
    api = await served()
    await api.register("web")
    await api.register("worker")
    body = await found(api, "/v1/search", Prefix="we")
    assert body["Matches"]["jobs"] == ["web"]
    assert body["Matches"]["namespaces"] is None
    assert not any(body["Truncations"].values())
    assert "allocs" not in body["Matches"], "no UUID begins so"


async def test_no_more_than_the_limit_is_shown_and_the_cut_is_told() -> None:
    api = await served()
    for number in range(SearchLimits().ids_max + 1):
        await api.register(f"w{number:02d}")
    body = await found(api, "/v1/search", Prefix="w", Context="jobs")
    assert len(body["Matches"]["jobs"]) == SearchLimits().ids_max
    assert body["Truncations"] == {"jobs": True}


async def test_a_part_of_a_name_is_found_inside_jobs_too() -> None:
    api = await served()
    task = {"Name": "proxy", "Driver": "docker", "Config": {"image": "proxy:1"}}
    await api.register("web", Group={"Name": "proxies", "Tasks": [task]})
    body = await found(api, "/v1/search/fuzzy", Text="PROX")
    assert body["Matches"]["groups"] == [{"ID": "proxies", "Scope": ["default", "web"]}]
    assert body["Matches"]["tasks"] == [{"ID": "proxy", "Scope": ["default", "web", "proxies"]}]
    assert body["Matches"]["images"] == [{"ID": "proxy:1", "Scope": ["default", "web", "proxies", "proxy"]}]
    assert "jobs" not in body["Matches"]
    assert body["Matches"]["evals"] == []


async def test_matches_near_the_beginning_come_first() -> None:
    api = await served()
    for name in ("a-web", "web-long", "web"):
        await api.register(name)
    body = await found(api, "/v1/search/fuzzy", Text="web", Context="jobs")
    assert [one["ID"] for one in body["Matches"]["jobs"]] == ["web", "web-long", "a-web"]


async def test_mistakes_are_named() -> None:
    api = await served()
    wrong = await api.call("PUT", "/v1/search", {"Prefix": "a", "Context": "x"})
    assert (wrong.status, wrong.text) == (
        500,
        f"context must be one of [{' '.join(CONTEXTS)}] or 'all' for all contexts; got \"x\"",
    )
    short = await api.call("PUT", "/v1/search/fuzzy", {"Text": "a", "Context": "all"})
    assert (short.status, short.text) == (
        500,
        "fuzzy search query must be at least 2 characters, got 1",
    )
