"""Which route a path belongs to."""

from __future__ import annotations

import pytest

from yurt.api.answer import Answer
from yurt.api.call import Call
from yurt.api.routes import Route, RouteTable


async def _answer(_call: Call) -> Answer:
    return Answer()


TABLE = RouteTable(
    Route(path=path, handlers={"GET": _answer}, summary="")
    for path in (
        "/v1/jobs",
        "/v1/job/{job_id}/evaluate",
        "/v1/job/{job_id}/dispatch",
        "/v1/job/{job_id}/dispatch/payload",
        "/v1/job/{job_id}",
        "/v1/node/{node_id}/allocations",
        "/v1/node/{node_id}",
        "/v1/node/pools",
        "/v1/node/pool/{pool}/nodes",
        "/v1/node/pool/{pool}",
        "/v1/deployment/fail/{deployment_id}",
        "/v1/deployment/{deployment_id}",
    )
)


@pytest.mark.parametrize(
    ("path", "route", "value"),
    [
        pytest.param("/v1/jobs", "/v1/jobs", None, id="exact"),
        pytest.param("/v1/job/web", "/v1/job/{job_id}", "web", id="placeholder"),
        pytest.param("/v1/job/web/evaluate", "/v1/job/{job_id}/evaluate", "web", id="suffix"),
        pytest.param("/v1/job/a/b/evaluate", "/v1/job/{job_id}/evaluate", "a/b", id="slashes in an id"),
        pytest.param("/v1/job/a/b", "/v1/job/{job_id}", "a/b", id="unknown suffix is the id's"),
        pytest.param("/v1/job/evaluate", "/v1/job/{job_id}", "evaluate", id="an id like a suffix"),
        pytest.param("/v1/job//evaluate", "/v1/job/{job_id}/evaluate", "", id="empty id with suffix"),
        pytest.param(
            "/v1/job/w/dispatch/payload", "/v1/job/{job_id}/dispatch/payload", "w", id="longer suffix"
        ),
        pytest.param("/v1/job/", "/v1/job/{job_id}", "", id="empty id"),
        pytest.param("/v1/node/pools", "/v1/node/pools", None, id="exact wins"),
        pytest.param("/v1/node/pool/gpu", "/v1/node/pool/{pool}", "gpu", id="specific prefix wins"),
        pytest.param("/v1/node/pool/gpu/nodes", "/v1/node/pool/{pool}/nodes", "gpu", id="and its suffix"),
        pytest.param("/v1/node/pool", "/v1/node/{node_id}", "pool", id="no slash behind the prefix"),
        pytest.param(
            "/v1/deployment/fail/d1", "/v1/deployment/fail/{deployment_id}", "d1", id="prefix action"
        ),
        pytest.param("/v1/deployment/d1", "/v1/deployment/{deployment_id}", "d1", id="no action"),
    ],
)
def test_a_path_finds_its_route(path: str, route: str, value: str | None) -> None:
    match = TABLE.find(path)
    assert match is not None
    assert match.route.path == route
    assert list(match.values.values()) == ([] if value is None else [value])


@pytest.mark.parametrize(
    "path", ["/", "/v1", "/v1/jobs/", "/v1/Jobs", "/v1/job", "/v2/jobs", "", "/v1/jobsx"]
)
def test_other_paths_find_nothing(path: str) -> None:
    assert TABLE.find(path) is None


@pytest.mark.parametrize(
    ("path", "is_root"),
    [
        ("/v1/job", True),
        ("/v1/node/pool", True),
        ("/v1/deployment/fail", True),
        ("/v1/jobs", False),
        ("/v1", False),
    ],
)
def test_subtree_roots(path: str, is_root: bool) -> None:
    assert TABLE.is_subtree_root(path) is is_root
