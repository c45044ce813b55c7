"""Texts made at random, broken or nested without end: clear errors, within bounds of time and memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.fuzz.bounded import memory_within, steps_of
from tests.fuzz.sizes import examples
from yurt.api.filter import FilterFailed, FilterUnreadable, compile_filter
from yurt.api.v1.job_messages import JobRegisterRequest
from yurt.jobspec import JobspecError, parse_submitted_job
from yurt.model.decode import BadRequestBody, decode_body
from yurt.model.wire import Wire

DEEP = 20_000
MEMORY_MIB = 200
JOB_FILES = sorted((Path(__file__).parent.parent / "recordings" / "nomad" / "jobspec").rglob("*.hcl"))
WORDS = (
    'job "x" {', 'group "g" {', 'task "t" {', "}", "{", "(", ")", "[", "]", "=", ",", ":", "?", "=>", "...",
    "${", "%{", '"', "<<EOT\n", "EOT\n", "for", "in", "if", "else", "endif", "endfor", "dynamic", "content",
    "variable", "locals", "var.", "local.", "count", "null", "true", "1e9", "0x", "-", "!", "==", "&&", "||",
    "format(", "jsondecode(", "range(", "\n", " ", "\t", "#", "//", "/*", "*/", "\\", "\u00e9", "\U0001f600",
)  # fmt: skip
FILTER_WORDS = (
    "Status", "Meta.a", 'Meta["a b"]', '"/Meta/a"', "==", "!=", "in", "not", "and", "or", "(", ")", "is",
    "empty", "nil", "matches", "contains", "any", "all", "as", "{", "}", "x", ",", "_", '"v"', "`v`", "1",
    "1.5", "true", '"(a+)+$"', "\\", '"',
)  # fmt: skip


class Thing(Wire, frozen=True, kw_only=True):
    """Something to filter."""

    status: str = "a" * 40
    meta: dict[str, str] | None = None
    tags: tuple[str, ...] = ("a", "b")
    count: int = 3


def _settings(bounded: int) -> settings:
    return settings(
        max_examples=examples(bounded), deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )


def _mixed(words: tuple[str, ...]) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(words) | st.text(max_size=5), max_size=60).map(" ".join)


def _parse_job(text: str) -> None:
    _says_what_is_wrong(lambda: parse_submitted_job(text), JobspecError)


def _filter(text: str) -> None:
    def compile_and_match() -> None:
        compile_filter(text).matches(Thing(meta={"a": "b"}))

    _says_what_is_wrong(compile_and_match, FilterUnreadable, FilterFailed)


def _decode(body: bytes) -> None:
    _says_what_is_wrong(lambda: decode_body(body, JobRegisterRequest), BadRequestBody)


def _says_what_is_wrong(work: Callable[[], object], *errors: type[Exception]) -> None:
    """Whatever `work` refuses, it says why; anything else it raises is a mistake of ours."""
    said = "nothing is wrong"
    try:
        work()
    except errors as error:
        said = str(error).strip()
    assert said


@_settings(200)
@given(text=_mixed(WORDS))
@example(text="")
@example(text="\x00")
def test_job_files_of_any_words(text: str) -> None:
    _parse_job(text)


@_settings(100)
@given(data=st.data())
def test_job_files_that_are_cut_or_changed(data: st.DataObject) -> None:
    whole = data.draw(st.sampled_from(JOB_FILES)).read_text()
    start = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(start, len(whole)))
    put = data.draw(st.sampled_from(WORDS))
    _parse_job(whole[:start] + put + whole[end:])


@_settings(300)
@given(text=_mixed(FILTER_WORDS))
def test_filters_of_any_words(text: str) -> None:
    _filter(text)


_JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=10),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(("Job", "ID", "TaskGroups", "Tasks", "Config", "Meta", "Count", "Networks", "x")),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@_settings(300)
@given(value=_JSON)
def test_bodies_of_any_shape(value: Any) -> None:
    _decode(msgspec.json.encode(value))


@_settings(200)
@given(body=st.binary(max_size=200))
@example(body=b"\xff")
@example(body=b'{"Job": {"ID": "\\ud800"}}')
def test_bodies_of_any_bytes(body: bytes) -> None:
    _decode(body)


@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        ("(", ")"),
        ("[", "]"),
        ("{a=", "}"),
        ("!", ""),
        ("-", ""),
        ('"${', '}"'),
        ("format(", ")"),
        ("[for x in ", ": x]"),
        ("true ? ", " : 1"),
        ("a.", ""),
        ("1+", "1"),
    ],
)
def test_expressions_nested_without_end_are_refused(opening: str, closing: str) -> None:
    for text in (opening * DEEP + "1" + closing * DEEP, opening * DEEP):
        with memory_within(MEMORY_MIB):
            _parse_job(f'job "x" {{\n  meta {{\n    a = {text}\n  }}\n}}\n')


def test_blocks_nested_without_end_are_refused() -> None:
    with memory_within(MEMORY_MIB), pytest.raises(JobspecError):
        parse_submitted_job('job "x" {\n' * DEEP)


@pytest.mark.parametrize(
    ("opening", "closing"),
    [("(", ")"), ("not ", ""), ("any Tags as x { ", " }"), ("Status == a and ", "Status == a")],
)
def test_filters_nested_without_end_are_refused(opening: str, closing: str) -> None:
    with memory_within(MEMORY_MIB), pytest.raises(FilterUnreadable):
        compile_filter(opening * DEEP + "Status == a" + closing * DEEP)


@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}"), (b'{"Job":', b"}")])
def test_bodies_nested_without_end_are_refused(opening: bytes, closing: bytes) -> None:
    for body in (opening * DEEP + b"1" + closing * DEEP, b'{"Job":{"Meta":' + opening * DEEP):
        with memory_within(MEMORY_MIB), pytest.raises(BadRequestBody):
            decode_body(body, JobRegisterRequest)


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*b", "(.*)*c", "a{1,50}a{1,50}b", "((a?)*)*d"])
def test_patterns_take_steps_in_proportion_to_the_text(pattern: str) -> None:
    wanted = compile_filter(f'Status matches "{pattern}"')
    short = steps_of(lambda: wanted.matches(Thing(status="a" * 50)), most=2_000_000)
    long = steps_of(lambda: wanted.matches(Thing(status="a" * 500)), most=2_000_000)
    assert long < 12 * short + 10_000


@pytest.mark.parametrize(
    "expression",
    [
        "[for a in range(1000) : [for b in range(1000) : b]]",
        'join("", [for a in range(60000) : "0123456789012345678901234567890123456789012345678901234567890"])',
        'format("%s%s", join(",", range(60000)), join(",", range(60000)))',
        "1e999999999",
        "9 * 999999999999999999999999999999999999999999999999999999",
        'jsondecode("' + "[" * 500 + "]" * 500 + '")',
        'regexall("(a+)+$", join("", [for a in range(5000) : "a"]))',
    ],
)
def test_expressions_that_ask_for_much_stay_within_bounds(expression: str) -> None:
    with memory_within(MEMORY_MIB):
        _parse_job(f'job "x" {{\n  meta {{\n    a = {expression}\n  }}\n}}\n')
