"""Endless answers."""

import base64
import json
from collections.abc import Iterator

import pytest

from tests.sdk.replay_server import ReplayServer, Reply
from yurt.sdk import ApiError, BadAnswer, Client, allocs
from yurt.sdk.streams import split_objects


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
    chunks: Iterator[bytes] = iter([b'{"Data": "aGk'])
    with pytest.raises(BadAnswer, match="ends within a frame"):
        list(split_objects(chunks, "http://x"))


def test_lines_are_whole(server: ReplayServer, client: Client) -> None:
    server.on("GET", "/v1/event/stream", Reply(chunks=(b'{}\n{"Ind', b'ex": 1}\n', b"rest")))
    with client.stream("/v1/event/stream") as stream:
        assert list(stream.lines()) == [b"{}", b'{"Index": 1}', b"rest"]
