"""The asynchronous client: the same calls, made without blocking the loop."""

import asyncio
import base64
import io
import json
import socket
from pathlib import Path

import pytest

from tests.sdk.replay_server import ReplayServer, Reply, Request
from yurt.sdk import (
    ApiError,
    AsyncClient,
    BadAnswer,
    ServerUnreachable,
    allocs,
    evals,
    events,
    jobs,
    snapshots,
)
from yurt.sdk.errors import BadSettings
from yurt.sdk.variables import Conflict, write


async def test_a_call_is_typed_and_scoped_as_in_the_other_client(server: ReplayServer) -> None:
    server.on("GET", "/v1/job/a%2Fb", Reply({"ID": "a/b"}, headers={"x-nomad-index": "7"}))
    async with AsyncClient(server.address, token="secret", namespace="team") as client:
        answer = await client.call(jobs.read, "a/b")
        await client.within(namespace="other").call(jobs.read, "a/b")
    assert (answer.value.id, answer.index) == ("a/b", 7)
    first, second = server.requests
    assert first.query == {"namespace": "team"}
    assert first.headers["X-Nomad-Token"] == "secret"
    assert second.query == {"namespace": "other"}


async def test_bodies_are_sent_and_bare_values_given(server: ReplayServer) -> None:
    server.on("DELETE", "/v1/evaluations", {"Count": 3})
    async with AsyncClient(server.address) as client:
        assert await client.call(evals.delete, eval_ids=("e",)) == 3
    assert server.requests[0].json() == {"EvalIDs": ["e"]}


async def test_errors_are_those_of_the_function(server: ReplayServer) -> None:
    server.on("GET", "/v1/job/nope", Reply(b"job not found", 404))
    server.on("GET", "/v1/jobs", Reply(b"<html>"))
    server.on("PUT", "/v1/var/a", Reply({"Path": "a", "ModifyIndex": 9}, 409))
    async with AsyncClient(server.address) as client:
        with pytest.raises(ApiError, match=r"404 \(job not found\)"):
            await client.call(jobs.read, "nope")
        with pytest.raises(BadAnswer):
            await client.call(jobs.listing)
        with pytest.raises(Conflict) as conflict:
            await client.call(write, "a", {"Items": {}}, cas=1)
    assert conflict.value.current.modify_index == 9


async def test_nobody_listening_is_named() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    async with AsyncClient(f"http://127.0.0.1:{port}") as client:
        with pytest.raises(
            ServerUnreachable, match=f'Get "http://127.0.0.1:{port}/v1/jobs": connection refused'
        ):
            await client.call(jobs.listing)


def test_unusable_addresses_are_refused() -> None:
    with pytest.raises(BadSettings):
        AsyncClient("ftp://x")


async def test_many_calls_are_under_way_at_once(server: ReplayServer) -> None:
    arrived = 0

    def answer(_request: Request) -> Reply:
        nonlocal arrived
        arrived += 1
        return Reply([])

    server.on("GET", "/v1/jobs", answer)
    async with AsyncClient(server.address) as client:
        await asyncio.gather(*(client.call(jobs.listing) for _ in range(50)))
    assert arrived == 50


async def test_watch_yields_only_changes(server: ReplayServer) -> None:
    server.on(
        "GET",
        "/v1/evaluation/e",
        Reply({"ID": "e", "Status": "pending"}, headers={"X-Nomad-Index": "5"}),
        Reply({"ID": "e", "Status": "pending"}, headers={"X-Nomad-Index": "5"}),
        Reply({"ID": "e", "Status": "complete"}, headers={"X-Nomad-Index": "7"}),
    )
    seen = []
    async with AsyncClient(server.address) as client:
        async for answer in client.watch(evals.read, "e"):
            seen.append(answer.value.status)
            if seen[-1] == "complete":
                break
    assert seen == ["pending", "complete"]
    assert [request.query.get("index") for request in server.requests] == [None, "5", "5"]


async def test_frames_of_a_log(server: ReplayServer) -> None:
    text = b"".join(
        json.dumps({"Data": base64.b64encode(line).decode()}).encode() + b"{}" for line in (b"1", b"2")
    )
    server.on(
        "GET", "/v1/client/fs/logs/a", Reply(chunks=tuple(text[n : n + 5] for n in range(0, len(text), 5)))
    )
    async with (
        AsyncClient(server.address) as client,
        client.stream(allocs.stream_logs, "a", "t", kind="stdout", follow=True) as stream,
    ):
        assert [frame.data async for frame in stream.frames()] == [b"1", b"2"]


async def test_refused_streams_are_api_errors(server: ReplayServer) -> None:
    server.on("GET", "/v1/event/stream", Reply(b"Permission denied", 403))
    async with AsyncClient(server.address) as client:
        with pytest.raises(ApiError, match="Permission denied"):
            async with client.stream(events.stream):
                pass


EVENTS = (
    b"{}\n",
    b'{"Index": 5, "Events": [{"Topic": "Job", "Key": "web", "Payload": {"Job": {}}}]}\n',
    b"{}\n",
    b'{"Index": 6, "Events": [{"Topic": "Node", "Key": "n"}]}\n',
)


async def test_events_are_followed_in_both_clients(server: ReplayServer) -> None:
    server.on("GET", "/v1/event/stream", Reply(chunks=EVENTS))
    async with AsyncClient(server.address) as client:
        told = [batch async for batch in events.follow_async(client, topics=("Job:web", "Node"), index=5)]
    assert [(batch.index, batch.events[0].topic) for batch in told] == [(5, "Job"), (6, "Node")]
    assert server.requests[0].query["index"] == "5"


async def test_answers_that_end_are_read_whole_by_functions_that_stream(server: ReplayServer) -> None:
    server.on("GET", "/v1/operator/snapshot", Reply(b"archive", headers={"Digest": "sha-256=x"}))
    into = io.BytesIO()
    async with AsyncClient(server.address) as client:
        assert await client.call(snapshots.save, into) == "sha-256=x"
    assert into.getvalue() == b"archive"


async def test_a_unix_socket_is_an_address(tmp_path: Path) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n[]")
        await writer.drain()
        writer.close()

    path = tmp_path / "api.sock"
    async with await asyncio.start_unix_server(answer, path), AsyncClient(f"unix://{path}") as client:
        assert (await client.call(jobs.listing)).value == ()
