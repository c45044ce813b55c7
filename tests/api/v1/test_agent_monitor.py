"""Following what the agent logs."""

from __future__ import annotations

import asyncio

import pytest

from tests.api.v1.served import served
from yurt.api.v1 import monitor
from yurt.observe.log_tap import tee


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("log_level=loud", "Unknown log level: loud"),
        (
            "plain=maybe",
            'Unknown option for plain: strconv.ParseBool: parsing "maybe": invalid syntax',
        ),
        (
            "log_json=maybe",
            'Unknown option for log json: strconv.ParseBool: parsing "maybe": invalid syntax',
        ),
        ("node_id=a&server_id=b", "Cannot target node and server simultaneously"),
    ],
)
async def test_mistakes_are_named(query: str, text: str) -> None:
    api = await served()
    reply = await api.call("GET", f"/v1/agent/monitor?{query}")
    assert (reply.status, reply.text) == (400, text)


async def test_lines_of_the_level_and_above_are_told_and_nobody_is_left_listening() -> None:
    lines = monitor._lines(level=30)
    first = asyncio.ensure_future(anext(lines))
    await asyncio.sleep(0)
    tee(None, "info", "too quiet")
    tee(None, "error", "loud enough")
    assert await first == "loud enough"
    await lines.aclose()  # type: ignore[attr-defined]  # an async generator
    assert tee(None, "error", "nobody hears") == "nobody hears"
