"""The API describes itself: every route, and nothing else."""

from __future__ import annotations

from tests.api.v1.served import served


async def test_every_route_and_method_is_described() -> None:
    api = await served()
    document = (await api.call("GET", "/v1/openapi.json")).json
    described = {(path, method.upper()) for path, methods in document["paths"].items() for method in methods}
    expected = {
        (route.path, method)
        for route in api.table.routes
        for method in route.handlers
        if method in ("GET", "PUT", "POST", "DELETE")
    }
    assert described == expected


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
