"""Whatever is sent, the simple API answers, and never with a fault of its own."""

from __future__ import annotations

import asyncio
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.api.simple.served_simple import GROUPS, HEARTBEAT, REGISTRATION, served_simple

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=4)
    | st.sampled_from(["node-1", "known", "service", "running", "http://h:1", "=", "1"])
)
NAMES = st.sampled_from(
    [
        *("name", "count", "tasks", "config", "image", "port", "command", "resources", "cpu", "memory"),
        *("constraints", "attribute", "operator", "value", "type", "priority", "env", "restart", "attempts"),
        *("node_id", "ip_address", "healthy", "endpoint", "timestamp", "allocations", "status", "message"),
        *("task_groups", "template_id", "job_id", "description", "networks", "reserved_ports", "driver"),
        *("start_time", "end_time", "exit_code", "update", "meta", "volumes", "services", "cores"),
    ]
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)
GOOD: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [{"task_groups": GROUPS}, {"name": "t", "task_groups": GROUPS}, REGISTRATION, HEARTBEAT, GROUPS[0]]
)
ROUTES = st.sampled_from(
    [
        *(
            ("POST", path)
            for path in ("/jobs", "/register", "/heartbeat", "/templates", "/jobs/known/restart")
        ),
        *(("PUT", path) for path in ("/jobs/known", "/templates/none", "/jobs/none")),
    ]
)


@st.composite
def documents(draw: st.DrawFn) -> Any:
    """A good document of which something was changed, deep inside as well."""
    good: dict[str, Any] = draw(GOOD)
    document = good | draw(st.dictionaries(NAMES, VALUES, max_size=3))
    if draw(st.booleans()):
        group = {**GROUPS[0], **draw(st.dictionaries(NAMES, VALUES, max_size=2))}
        task = {**GROUPS[0]["tasks"][0], **draw(st.dictionaries(NAMES, VALUES, max_size=2))}
        document["task_groups"] = [{**group, "tasks": [task]}]
    if draw(st.booleans()):
        document["allocations"] = {
            "a": {"status": "running", **draw(st.dictionaries(NAMES, VALUES, max_size=2))}
        }
    return document


async def _answers(route: tuple[str, str], bodies: list[Any]) -> list[tuple[int, Any]]:
    served = await served_simple()
    await served.call("POST", "/jobs", {"job_id": "known", "task_groups": GROUPS})
    await served.call("POST", "/register", REGISTRATION)
    replies = [await served.call(*route, body) for body in bodies]
    views = [await served.call("GET", path) for path in ("/jobs", "/nodes", "/templates")]
    return [(reply.status, reply.json) for reply in (*replies, *views)]


@settings(max_examples=80, deadline=None)
@given(route=ROUTES, bodies=st.lists(documents(), min_size=1, max_size=4))
def test_whatever_is_sent_is_answered(route: tuple[str, str], bodies: list[Any]) -> None:
    for status, body in asyncio.run(_answers(route, bodies)):
        assert status in (200, 400, 404, 409), (status, body)
        assert status == 200 or body.keys() == {"error"}
