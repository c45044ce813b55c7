"""Request bodies: spelling, kinds and the error texts of Go's decoder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import msgspec
import pytest

from yurt.model.decode import BadRequestBody, decode_body, fold, plan_of, with_zeros
from yurt.model.forms import JobForm
from yurt.model.go_json import NESTING_MAX
from yurt.model.go_types import Folded, FoldedAs
from yurt.model.wire import Wire

RECORDINGS = Path(__file__).parents[1] / "recordings" / "nomad"
PARSED_JOB_FILES = [
    path
    for path in sorted((RECORDINGS / "jobspec").glob("*.json"))
    if not path.name.endswith(".vars.json")  # those are input to job files
]


class JobRegisterRequest(Wire, frozen=True, kw_only=True):
    """The part of a registration that these tests need."""

    job: Annotated[Folded, FoldedAs(JobForm)] | None = None
    enforce_index: bool = False


def malformed_bodies() -> list[Any]:
    steps = json.loads((RECORDINGS / "http" / "job_malformed_bodies.json").read_text())["steps"]
    return [
        pytest.param(step["request"].get("body") or "", step["response"]["text"], id=step["step"])
        for step in steps
        if step["request"]["path"] == "/v1/jobs" and step["response"]["text"] != "Job must be specified"
    ]


@pytest.mark.parametrize(("body", "text"), malformed_bodies())
def test_malformed_body_is_refused_in_the_recorded_words(body: str, text: str) -> None:
    with pytest.raises(BadRequestBody) as refusal:
        decode_body(body.encode(), JobRegisterRequest)
    assert str(refusal.value) == text


@pytest.mark.parametrize("body", ["null", "{}", '{"Job":null}', '{"Job":null} xx', ' {"nope": [1]} {'])
def test_body_without_a_job_is_an_empty_request(body: str) -> None:
    assert decode_body(body.encode(), JobRegisterRequest) == JobRegisterRequest()


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (" ", "EOF"),
        ("{", "unexpected EOF"),
        ('{"a"', "unexpected EOF"),
        ('{"a" 1}', "invalid character '1' after object key"),
        ('{"a": 1 "b"}', "invalid character '\"' after object key:value pair"),
        ('{"a": 1,}', "invalid character '}' looking for beginning of object key string"),
        ("[1 2]", "invalid character '2' after array element"),
        ("[1,]", "invalid character ']' looking for beginning of value"),
        ("[truE]", "invalid character 'E' in literal true (expecting 'e')"),
        ("[nul", "unexpected EOF"),
        ("[-]", "invalid character ']' in numeric literal"),
        ("[1.]", "invalid character ']' after decimal point in numeric literal"),
        ("[1e+]", "invalid character ']' in exponent of numeric literal"),
        ("[012]", "invalid character '1' after array element"),
        ('["a\nb"]', "invalid character '\\n' in string literal"),
        ('["\\x"]', "invalid character 'x' in string escape code"),
        ('["\\u12g4"]', "invalid character 'g' in \\u hexadecimal character escape"),
        ("{'a': 1}", "invalid character '\\'' looking for beginning of object key string"),
        ("é", "invalid character 'Ã' looking for beginning of value"),
        ("[" * (NESTING_MAX + 1), "exceeded max depth"),
    ],
)
def test_syntax_errors_are_worded_as_in_go(body: str, text: str) -> None:
    with pytest.raises(BadRequestBody) as refusal:
        decode_body(body.encode(), JobRegisterRequest)
    assert str(refusal.value) == text


@pytest.mark.parametrize(
    ("job", "text"),
    [
        ('{"Meta":{"a":1}}', "number into Go struct field Job.Job.Meta of type string"),
        ('{"Stop":"no"}', "string into Go struct field Job.Job.Stop of type bool"),
        ('{"Name":true}', "bool into Go struct field Job.Job.Name of type string"),
        ('{"TaskGroups":{}}', "object into Go struct field Job.Job.TaskGroups of type []*api.TaskGroup"),
        ('{"Priority":1e2}', "number 1e2 into Go struct field Job.Job.Priority of type int"),
        ('{"Version":-1}', "number -1 into Go struct field Job.Job.Version of type uint64"),
        (
            '{"Spreads":[{"Weight":200}]}',
            "number 200 into Go struct field Spread.Job.Spreads.Weight of type int8",
        ),
    ],
)
def test_wrong_kinds_name_the_field_and_its_type(job: str, text: str) -> None:
    with pytest.raises(BadRequestBody) as refusal:
        decode_body(f'{{"Job":{job}}}'.encode(), JobRegisterRequest)
    assert str(refusal.value) == f"json: cannot unmarshal {text}"


def test_names_match_in_any_case_and_unknown_ones_and_nulls_are_dropped() -> None:
    body = b'{"jOB": {"id": "x", "TASKGROUPS": [{"count": 2, "Bogus": 1}, null], "Name": null}, "Other": {}}'
    request = decode_body(body, JobRegisterRequest)
    assert request.job == {"ID": "x", "TaskGroups": [{"Count": 2}]}


def test_null_entries_are_zero_values_unless_they_may_be_unset() -> None:
    class Both(Wire, frozen=True, kw_only=True):
        plain: dict[str, str] | None = None
        unset: dict[str, str | None] | None = None

    body = decode_body(b'{"Plain": {"a": null}, "Unset": {"a": null}}', Both)
    assert (body.plain, body.unset) == ({"a": ""}, {"a": None})


def test_free_form_members_are_kept_as_sent() -> None:
    config = {"Null": None, "nested": [{"Case": 1.5}, []]}
    folded = fold({"TaskGroups": [{"Tasks": [{"Config": config}]}]}, plan_of(JobForm))
    assert folded["TaskGroups"][0]["Tasks"][0]["Config"] == config


def test_free_form_members_may_not_nest_without_end() -> None:
    config: dict[str, Any] = {}
    for _ in range(NESTING_MAX + 1):
        config = {"deeper": config}
    with pytest.raises(BadRequestBody, match="exceeded max depth"):
        fold({"TaskGroups": [{"Tasks": [{"Config": config}]}]}, plan_of(JobForm))


def test_bytes_are_base64() -> None:
    assert fold({"Payload": "aGk="}, plan_of(JobForm)) == {"Payload": b"hi"}
    with pytest.raises(BadRequestBody, match="illegal base64 data at input byte 2"):
        fold({"Payload": "aG!="}, plan_of(JobForm))
    with pytest.raises(BadRequestBody, match="illegal base64 data at input byte 4"):
        fold({"Payload": "aGkhaG"}, plan_of(JobForm))


def test_bad_characters_are_replaced() -> None:
    body = b'{"Job": {"ID": "a\xffb", "Name": "c\\ud800d"}}'
    assert decode_body(body, JobRegisterRequest).job == {"ID": "a\ufffdb", "Name": "c\ufffdd"}


def test_alternatives_take_what_fits() -> None:
    class Lock(msgspec.Struct, rename="pascal"):
        ttl: int | str = 0

    assert fold({"Ttl": "15s"}, plan_of(Lock)) == {"Ttl": "15s"}
    assert fold({"Ttl": 15}, plan_of(Lock)) == {"Ttl": 15}
    with pytest.raises(BadRequestBody, match=r"array into Go struct field Lock\.Ttl of type int"):
        fold({"Ttl": []}, plan_of(Lock))


@pytest.mark.parametrize("recording", PARSED_JOB_FILES, ids=lambda path: path.stem)
def test_folding_and_zeros_give_a_parsed_job_back(recording: Path) -> None:
    parsed = json.loads(recording.read_text())["parse"]
    plan = plan_of(JobForm)
    assert with_zeros(fold(parsed, plan), plan) == parsed
