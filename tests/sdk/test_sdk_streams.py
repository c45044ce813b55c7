"""Endless answers."""

import base64
import json

import pytest

from tests.sdk.replay_server import ReplayServer, Reply
from yurt.sdk import ApiError, BadAnswer, Client, allocs, events
from yurt.sdk.streams import FrameCutter


def frame(data: bytes, **members: object) -> bytes:
    return json.dumps({"Data": base64.b64encode(data).decode(), "File": 'f}\\"{', **members}).encode()


def test_frames_follow_one_another_without_separator(server: ReplayServer, client: Client) -> None:
    text = frame(b"line 1\n", Offset=7) + b"{}" + frame(b"line 2\n", Offset=14) + b"{}{}"
    cuts = [text[position : position + 5] for position in range(0, len(text), 5)]
    server.on("GET", "/v1/client/fs/logs/a", Reply(chunks=tuple(cuts)))
    with allocs.stream_logs(client, "a", "t", kind="stdout", follow=True) as stream:
        frames = list(stream.frames())
    assert [found.data for found in frames] == [b"line 1\n", b"line 2\n"]
    assert [found.offset for found in frames] == [7, 14]
    assert server.requests[0].query == {
        "task": "t",
        "type": "stdout",
        "follow": "true",
        "offset": "0",
        "origin": "start",
    }


def test_stream_errors_are_api_errors(server: ReplayServer, client: Client) -> None:
    server.on("GET", "/v1/client/fs/logs/a", Reply(b'unknown task name "t"', 400))
    with (
        pytest.raises(ApiError, match="unknown task name"),
        allocs.stream_logs(client, "a", "t", kind="stdout", follow=False),
    ):
        pass


def test_cut_off_frame_is_reported() -> None:
    cutter = FrameCutter("http://x")
    assert cutter.feed(b'{"Data": "aGk') == []
    with pytest.raises(BadAnswer, match="ends within a frame"):
        cutter.end()


def test_lines_are_whole(server: ReplayServer, client: Client) -> None:
    server.on("GET", "/v1/event/stream", Reply(chunks=(b'{}\n{"Ind', b'ex": 1}\n', b"rest")))
    with client.stream("/v1/event/stream") as stream:
        assert list(stream.lines()) == [b"{}", b'{"Index": 1}', b"rest"]


def test_events_are_followed(server: ReplayServer, client: Client) -> None:
    batch = b'{"Index": 5, "Events": [{"Topic": "Job", "Key": "web", "Payload": {"Job": {"ID": "web"}}}]}\n'
    server.on("GET", "/v1/event/stream", Reply(chunks=(b"{}\n", batch)))
    (told,) = events.follow(client, topics=("Job:web", "Node"), index=4)
    assert (told.index, told.events[0].payload) == (5, {"Job": {"ID": "web"}})
    assert server.requests[0].query == {"topic": "Node", "index": "4"}
