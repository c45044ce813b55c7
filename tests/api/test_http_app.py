"""From a request to a response: routes, redirects, failures, and the form of answers."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import AsyncIterator

import pytest

from tests.api.asgi import Reply, request
from yurt.api.answer import Answer, read_answer
from yurt.api.app import HttpApp
from yurt.api.call import Call
from yurt.api.errors import HttpError
from yurt.api.routes import WRITE, Handler, Route, RouteTable
from yurt.errors import YurtError
from yurt.log.errors import LogBusy

BODY = {"Name": "web", "Count": 3}


class _Handlers:
    """Handlers that answer in every way."""

    async def show(self, call: Call) -> Answer:
        return read_answer({"ID": next(iter(call.path.values()), "")}, 7)

    async def listing(self, _call: Call) -> Answer:
        return read_answer(BODY, 7, next_token="more")

    async def write(self, _call: Call) -> Answer:
        return Answer(body=BODY, index=9)

    async def plain(self, _call: Call) -> Answer:
        return Answer(body=b"plain", content_type="text/plain")

    async def nothing(self, _call: Call) -> Answer:
        return Answer(body=None)

    async def stream(self, _call: Call) -> Answer:
        return Answer(stream=_parts(), content_type="text/plain", headers={"Digest": "x"})

    async def refuse(self, _call: Call) -> Answer:
        raise HttpError(400, "Job ID hasn't been provided")

    async def fail(self, _call: Call) -> Answer:
        raise YurtError("the disk is full; free space")

    async def busy(self, _call: Call) -> Answer:
        raise LogBusy(waiting_entries=1, waiting_bytes=2)

    async def break_down(self, _call: Call) -> Answer:
        raise KeyError("secret-token-in-a-traceback")

    async def unencodable(self, _call: Call) -> Answer:
        return Answer(body=object())


async def _parts() -> AsyncIterator[bytes]:
    yield b"one"
    yield b"two"


HANDLERS = _Handlers()
ROUTES: dict[str, dict[str, Handler]] = {
    "/v1/jobs": {"GET": HANDLERS.listing, **dict.fromkeys(WRITE, HANDLERS.write)},
    "/v1/job/{job_id}": {"GET": HANDLERS.show},
    "/v1/plain": {"GET": HANDLERS.plain},
    "/v1/nothing": {"GET": HANDLERS.nothing},
    "/v1/stream": {"GET": HANDLERS.stream},
    "/v1/refuse": {"GET": HANDLERS.refuse},
    "/v1/fail": {"GET": HANDLERS.fail},
    "/v1/busy": {"GET": HANDLERS.busy},
    "/v1/break": {"GET": HANDLERS.break_down},
    "/v1/unencodable": {"GET": HANDLERS.unencodable},
    "/.well-known/jwks.json": {"GET": HANDLERS.plain},
}
APP = HttpApp(
    RouteTable(Route(path=path, handlers=handlers, summary="") for path, handlers in ROUTES.items()),
    extra_headers={"X-Extra": "yes"},
)


async def _get(url: str, **headers: str) -> Reply:
    return await request(APP, "GET", url, headers={k.replace("_", "-"): v for k, v in headers.items()})


async def test_a_read_says_how_fresh_it_is() -> None:
    reply = await _get("/v1/jobs")
    assert (reply.status, reply.json) == (200, BODY)
    assert reply.headers["x-nomad-index"] == "7"
    assert reply.headers["x-nomad-knownleader"] == "true"
    assert reply.headers["x-nomad-lastcontact"] == "0"
    assert reply.headers["x-nomad-nexttoken"] == "more"
    assert reply.headers["content-type"] == "application/json"
    assert reply.headers["vary"] == "Accept-Encoding"
    assert reply.headers["x-extra"] == "yes"


@pytest.mark.parametrize("method", WRITE)
async def test_a_write_says_its_index_only(method: str) -> None:
    reply = await request(APP, method, "/v1/jobs", b"{}")
    assert reply.headers["x-nomad-index"] == "9"
    assert "x-nomad-knownleader" not in reply.headers


async def test_ids_are_decoded_once() -> None:
    assert (await _get("/v1/job/a%2Fb%20c")).json == {"ID": "a/b c"}
    assert (await _get("/v1/job/a%252Fb")).json == {"ID": "a%2Fb"}
    assert (await _get("/v1/job/%F0%9F%8F%95")).json == {"ID": "🏕"}


@pytest.mark.parametrize("path", ["/v1/unknown", "/v1/jobs/", "/v2/jobs", "/favicon.ico"])
async def test_an_unknown_path_is_a_404_without_a_word(path: str) -> None:
    reply = await _get(path)
    assert (reply.status, reply.body) == (404, b"")
    assert reply.headers["vary"] == "Accept-Encoding"


@pytest.mark.parametrize("method", ["DELETE", "PATCH", "HEAD", "OPTIONS", "BREW"])
async def test_another_method_is_a_405(method: str) -> None:
    reply = await request(APP, method, "/v1/jobs")
    assert reply.status == 405
    assert reply.text == "Invalid method"
    assert reply.headers["content-type"] == "text/plain; charset=utf-8"


@pytest.mark.parametrize(
    ("url", "location"),
    [
        pytest.param("/v1/job", "/v1/job/", id="subtree root"),
        pytest.param("/v1/job?pretty&x=a%20b", "/v1/job/?pretty&x=a%20b", id="with its query"),
        pytest.param("//v1/jobs", "/v1/jobs", id="two slashes"),
        pytest.param("/v1//jobs", "/v1/jobs", id="two slashes inside"),
        pytest.param("/v1/./jobs", "/v1/jobs", id="dot"),
        pytest.param("/v1/x/../jobs", "/v1/jobs", id="dots"),
        pytest.param("/../../v1/jobs", "/v1/jobs", id="above the root"),
        pytest.param("/v1//job/a%20b/", "/v1/job/a%20b/", id="a final slash stays"),
        pytest.param("/v1//job/%0d%0aSet-Cookie:%20a=b", "/v1/job/%0D%0ASet-Cookie:%20a=b", id="line breaks"),
        pytest.param("/v1//job/%E2%9B%BA", "/v1/job/%E2%9B%BA", id="beyond ASCII"),
        pytest.param("/v1//job/a%3Fb%23c%25", "/v1/job/a%3Fb%23c%25", id="what has a meaning in URLs"),
    ],
)
async def test_redirects(url: str, location: str) -> None:
    reply = await _get(url)
    assert reply.status == 307
    assert reply.headers["location"] == location
    assert reply.headers["content-type"] == "text/html; charset=utf-8"
    assert reply.text == f'<a href="{location.replace("&", "&amp;")}">Temporary Redirect</a>.\n\n'


async def test_a_name_that_begins_with_a_dot_is_no_reason_to_redirect() -> None:
    assert (await _get("/.well-known/jwks.json")).status == 200


@pytest.mark.parametrize(
    ("path", "status", "text"),
    [
        ("/v1/refuse", 400, "Job ID hasn't been provided"),
        ("/v1/fail", 500, "the disk is full; free space"),
        ("/v1/busy", 503, "the log is busy"),
    ],
)
async def test_operating_errors_are_answered_in_their_words(path: str, status: int, text: str) -> None:
    reply = await _get(path)
    assert reply.status == status
    assert reply.text.startswith(text)
    assert reply.headers["content-type"] == "text/plain; charset=utf-8"
    assert "x-nomad-index" not in reply.headers


@pytest.mark.parametrize("path", ["/v1/break", "/v1/unencodable"])
async def test_a_bug_is_a_500_that_gives_nothing_away(path: str) -> None:
    reply = await _get(path)
    assert reply.status == 500
    assert reply.text == "internal error: the server's log says more"


@pytest.mark.parametrize("query", ["?pretty", "?pretty=", "?pretty=1", "?pretty=false"])
async def test_pretty_answers(query: str) -> None:
    reply = await _get(f"/v1/jobs{query}")
    assert reply.body == b'{\n    "Name": "web",\n    "Count": 3\n}\n'


async def test_answers_that_are_not_pretty() -> None:
    assert (await _get("/v1/jobs?pretty=0")).body == b'{"Name":"web","Count":3}'
    assert (await _get("/v1/plain?pretty")).body == b"plain"
    assert (await _get("/v1/nothing")).body == b"null"


@pytest.mark.parametrize(
    ("accepted", "coding"),
    [
        ("gzip", "gzip"),
        ("gzip, deflate, br", "gzip"),
        ("deflate", "deflate"),
        ("identity", ""),
        ("", ""),
    ],
)
async def test_compressed_answers(accepted: str, coding: str) -> None:
    for path, body in (("/v1/jobs", b'{"Name":"web","Count":3}'), ("/v1/stream", b"onetwo")):
        reply = await _get(path, accept_encoding=accepted)
        assert reply.headers.get("content-encoding", "") == coding
        match coding:
            case "gzip":
                assert gzip.decompress(reply.body) == body
            case "deflate":
                assert zlib.decompress(reply.body) == body
            case _:
                assert reply.body == body


async def test_errors_are_compressed_too() -> None:
    reply = await _get("/v1/refuse", accept_encoding="gzip")
    assert gzip.decompress(reply.body) == b"Job ID hasn't been provided"
    empty = await _get("/v1/unknown", accept_encoding="gzip")
    assert empty.body == b""


async def test_a_stream_has_its_headers() -> None:
    reply = await _get("/v1/stream")
    assert (reply.body, reply.headers["digest"]) == (b"onetwo", "x")


async def test_another_region_is_out_of_reach() -> None:
    reply = await _get("/v1/jobs?region=elsewhere")
    assert (reply.status, reply.text) == (500, "No path to region")
