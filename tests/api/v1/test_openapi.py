"""The API describes itself: every route, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import schemathesis

from tests.api.v1.served import served
from yurt.api.openapi import documented_methods


async def test_every_route_is_described_with_its_methods() -> None:
    api = await served()
    document = (await api.call("GET", "/v1/openapi.json")).json
    described = {(path, method.upper()) for path, methods in document["paths"].items() for method in methods}
    expected = {
        (route.documented_path(method), method)
        for route in api.table.routes
        for method in documented_methods(route)
    }
    assert described == expected
    assert all(documented_methods(route) for route in api.table.routes)


async def test_every_route_of_nomads_api_is_described() -> None:
    api = await served()
    described = {
        (_without_names(route.documented_path(method)), method)
        for route in api.table.routes
        for method in (*documented_methods(route), *route.handlers)
    }
    lines = (Path(__file__).parent / "nomad_routes.txt").read_text().splitlines()
    wanted = {(_without_names(path), method) for method, path in (line.split() for line in lines)}
    assert wanted <= described, sorted(wanted - described)


async def test_the_document_is_valid() -> None:
    api = await served()
    schemathesis.openapi.from_dict((await api.call("GET", "/v1/openapi.json")).json).validate()


async def test_lists_tell_their_parameters() -> None:
    api = await served()
    document = (await api.call("GET", "/v1/openapi.json")).json
    told = {one["name"] for one in document["paths"]["/v1/allocations"]["get"]["parameters"]}
    assert {"namespace", "region", "prefix", "filter", "per_page", "next_token", "reverse"} < told
    assert {"index", "wait", "stale", "pretty", "resources", "task_states"} < told


async def test_bodies_refer_to_schemas_that_are_there() -> None:
    api = await served()
    text = (await api.call("GET", "/v1/openapi.json")).text
    document = (await api.call("GET", "/v1/openapi.json")).json
    schemas = document["components"]["schemas"]
    referred = {part.split('"')[0] for part in text.split("#/components/schemas/")[1:]}
    assert referred <= set(schemas)
    registration = document["paths"]["/v1/jobs"]["put"]["requestBody"]["content"]["application/json"]
    assert registration["schema"]["$ref"].endswith("/JobRegisterRequest")


async def test_no_two_routes_share_a_path() -> None:
    api = await served()
    paths = [route.path for route in api.table.routes]
    assert len(paths) == len(set(paths))


def _without_names(path: str) -> str:
    """A path whose placeholders have no names."""
    return re.sub(r"\{\w+\}", "{}", path).replace(
        "/upgrade-check/vault-workload-identity", "/upgrade-check/{}"
    )
