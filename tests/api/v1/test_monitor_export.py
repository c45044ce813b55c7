"""What can be asked of /v1/agent/monitor/export, and what cannot."""

from __future__ import annotations

import pytest

from tests.api.v1.served import served

PATH = "/v1/agent/monitor/export"


@pytest.mark.parametrize(
    ("query", "status", "text"),
    [
        ("", 400, "Either -service-name or -on-disk must be set"),
        ("service_name=yurt&on_disk=true", 400, "Cannot target journald and nomad log file simultaneously"),
        ("on_disk=true&follow=true", 400, "Cannot follow log file"),
        (
            "on_disk=x",
            400,
            'Unknown value for on-disk: strconv.ParseBool: parsing "x": invalid syntax',
        ),
        ("service_name=sshd", 422, "service name must include 'nomad"),
        ("service_name=--file%3Dnomad", 422, "service name must include 'nomad"),
        ("service_name=yurt&logs_since=soon", 400, "Unknown value for logs-since: soon"),
        ("service_name=yurt&node_id=a&server_id=b", 400, "Cannot target node and server simultaneously"),
    ],
)
async def test_what_cannot_be_asked(query: str, status: int, text: str) -> None:
    reply = await (await served()).call("GET", f"{PATH}?{query}")
    assert (reply.status, reply.text) == (status, text)


async def test_an_agent_without_a_log_file_says_so() -> None:
    reply = await (await served()).call("GET", f"{PATH}?on_disk=true")
    assert reply.status == 404
    assert "-service-name" in reply.text
