"""Parameters and bodies, read as Nomad reads them."""

from __future__ import annotations

import pytest

from tests.api.asgi import a_call, request
from yurt.api.answer import Answer
from yurt.api.app import HttpApp
from yurt.api.call import BODY_BYTES_MAX, Call
from yurt.api.errors import HttpError
from yurt.api.routes import Route, RouteTable
from yurt.model.wire import Wire


def _refusal(read: object) -> tuple[int, str]:
    assert callable(read)
    with pytest.raises(HttpError) as refused:
        read()
    return refused.value.status, refused.value.text


@pytest.mark.parametrize(
    ("query", "index"),
    [("", 0), ("?index=", 0), ("?index=0", 0), ("?index=42", 42), (f"?index={2**64 - 1}", 2**64 - 1)],
)
def test_the_index_of_a_blocking_query(query: str, index: int) -> None:
    assert a_call(f"/{query}").min_index == index


@pytest.mark.parametrize(
    "text", ["-1", "x", "1.5", "%D9%A3", "%C2%B2", "1_000", "+1", str(2**64), "9" * 5000]
)
def test_a_bad_index(text: str) -> None:
    assert _refusal(lambda: a_call(f"/?index={text}").min_index) == (400, "Invalid index")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("", 0),
        ("60000ms", 60),
        ("2m30s", 150),
        ("0", 0),
        ("-5s", -5),
        ("1.5h", 5400),
        ("9" * 400 + "h", 2**63 / 1e9),
    ],
)
def test_how_long_a_blocking_query_waits(text: str, seconds: float) -> None:
    assert a_call(f"/?wait={text}").wait_s == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["10", "abc", "5 s", "s", "9" * 5000 + "h"])
def test_a_bad_wait(text: str) -> None:
    assert _refusal(lambda: a_call(f"/?wait={text}").wait_s) == (400, "Invalid wait time")


@pytest.mark.parametrize(
    ("text", "is_on"), [("true", True), ("1", True), ("T", True), ("false", False), ("F", False), ("", False)]
)
def test_flags(text: str, is_on: bool) -> None:
    assert a_call(f"/?purge={text}").flag("purge") is is_on
    assert a_call("/").flag("purge") is False


def test_a_bad_flag() -> None:
    assert _refusal(lambda: a_call("/?purge=yes").flag("purge")) == (
        500,
        'Failed to parse value of "purge" (yes) as a bool: strconv.ParseBool: parsing "yes": invalid syntax',
    )


@pytest.mark.parametrize(
    ("text", "number"), [("", 0), ("5", 5), ("-5", -5), ("%2B5", 5), ("007", 7), (str(2**63 - 1), 2**63 - 1)]
)
def test_integers(text: str, number: int) -> None:
    assert a_call(f"/?eval_priority={text}").integer("eval_priority") == number


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x", "invalid syntax"),
        ("1_0", "invalid syntax"),
        ("%205", "invalid syntax"),
        ("%D9%A3", "invalid syntax"),
        (str(2**63), "value out of range"),
        ("9" * 5000, "value out of range"),
    ],
)
def test_bad_integers(text: str, reason: str) -> None:
    status, answer = _refusal(lambda: a_call(f"/?n={text}").integer("n"))
    assert status == 500
    assert answer.startswith('Failed to parse value of "n" (')
    assert answer.endswith(f": {reason}")


def test_the_first_of_repeated_parameters_counts() -> None:
    call = a_call("/?prefix=a&prefix=b&namespace=")
    assert call.query["prefix"] == "a"
    assert call.values("prefix") == ["a", "b"]
    assert call.namespace == "default"


async def test_a_body_in_parts() -> None:
    call = a_call("/", b'{"a', b'":1}', method="PUT")
    assert await call.body() == b'{"a":1}'
    assert await call.body() == b'{"a":1}'


class Form(Wire, frozen=True, kw_only=True):
    name: str = ""
    tags: dict[str, str] | None = None


async def _echo(call: Call) -> Answer:
    form: Form = await call.read(Form)
    return Answer(body=form)


APP = HttpApp(RouteTable([Route(path="/v1/echo", handlers={"PUT": _echo}, summary="")]))


async def test_a_body_that_is_read() -> None:
    reply = await request(APP, "PUT", "/v1/echo", b'{"name": "web", "Other": 1} trailing')
    assert (reply.status, reply.json) == (200, {"Name": "web", "Tags": None})


@pytest.mark.parametrize(
    ("body", "text"),
    [
        pytest.param(b"", "Request body is empty", id="empty"),
        pytest.param(b"{", "unexpected EOF", id="cut"),
        pytest.param(b'{"Name": }', "invalid character '}' looking for beginning of value", id="malformed"),
        pytest.param(b"\xff\xfe", "invalid character", id="not text"),
        pytest.param(b'{"Name": 5}', "json: cannot unmarshal number", id="wrong type"),
        pytest.param(b"[]", "json: cannot unmarshal array", id="wrong top"),
        pytest.param(b'{"Tags":' + b"[" * 100_000, "", id="very deep and cut"),
        pytest.param(b"[" * 100_000 + b"]" * 100_000, "", id="very deep"),
        pytest.param(
            b'{"Other":' + b'{"a":' * 50_000 + b"1" + b"}" * 50_001, "", id="deep where nobody looks"
        ),
    ],
)
async def test_a_malformed_body_is_a_400(body: bytes, text: str) -> None:
    reply = await request(APP, "PUT", "/v1/echo", body)
    assert reply.status == 400
    assert reply.text.startswith(text)
    assert "Traceback" not in reply.text


async def test_a_body_that_says_it_is_too_large_is_not_even_read() -> None:
    size = str(BODY_BYTES_MAX + 1)
    reply = await request(APP, "PUT", "/v1/echo", None, headers={"Content-Length": size})
    assert reply.status == 413
    assert reply.text == f"request body is larger than {BODY_BYTES_MAX} bytes"


async def test_a_body_that_turns_out_too_large_is_refused() -> None:
    parts = [b" " * (BODY_BYTES_MAX // 2)] * 3
    reply = await request(APP, "PUT", "/v1/echo", *parts)
    assert reply.status == 413


async def test_a_body_of_just_the_largest_size_is_taken() -> None:
    body = b'{"Name":"web"}'
    reply = await request(APP, "PUT", "/v1/echo", body + b" " * (BODY_BYTES_MAX - len(body)))
    assert reply.status == 200


async def test_a_caller_that_hangs_up_halfway_is_answered_to_nobody() -> None:
    reply = await request(APP, "PUT", "/v1/echo", b'{"Na', None)
    assert (reply.status, reply.text) == (400, "unexpected EOF")
