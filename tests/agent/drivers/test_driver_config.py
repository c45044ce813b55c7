"""Driver config from job files: what is accepted, and what is said of the rest."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.agent.drivers.specs import event
from yurt.agent.drivers import config_error_text
from yurt.agent.drivers.config_schema import Seconds, decode_config
from yurt.agent.drivers.raw_exec import RawExecConfig


class Inner(msgspec.Struct, frozen=True, kw_only=True):
    size: int = 0


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    text: str = ""
    number: int = 0
    flag: bool = False
    wait: Seconds = Seconds(0.0)
    words: tuple[str, ...] = ()
    labels: dict[str, str] = {}
    ports: dict[str, int] = {}
    inner: Inner = Inner()


@pytest.mark.parametrize(
    ("scenario", "config"),
    [
        ("bad-config", {"command": "/bin/true", "nosuch": "x"}),
        ("missing-config", {"args": ["x"]}),
    ],
)
def test_problems_are_told_as_recorded(
    recorded_events: dict[str, Any], scenario: str, config: dict[str, Any]
) -> None:
    decoded, problems = decode_config(config, RawExecConfig)

    assert decoded is None
    recorded = event(recorded_events, scenario, "Failed Validation")["ValidationError"]
    assert config_error_text(problems) == recorded


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        pytest.param({"text": 5}, Sample(text="5"), id="number to text"),
        pytest.param({"text": 2.5}, Sample(text="2.5"), id="fraction to text"),
        pytest.param({"text": True}, Sample(text="true"), id="bool to text"),
        pytest.param({"number": "7"}, Sample(number=7), id="text to number"),
        pytest.param({"number": 7.0}, Sample(number=7), id="JSON number"),
        pytest.param({"flag": "true"}, Sample(flag=True), id="text to bool"),
        pytest.param({"wait": "1m30s"}, Sample(wait=Seconds(90.0)), id="duration"),
        pytest.param({"words": ["a", 1, False]}, Sample(words=("a", "1", "false")), id="mixed list"),
        pytest.param({"labels": {"a": 1}}, Sample(labels={"a": "1"}), id="a map as an object"),
        pytest.param(
            {"labels": [{"a": "1"}, {"b": "2"}]}, Sample(labels={"a": "1", "b": "2"}), id="a map as blocks"
        ),
        pytest.param({"ports": [{"http": "80"}]}, Sample(ports={"http": 80}), id="a map of numbers"),
        pytest.param({"inner": [{"size": 3}]}, Sample(inner=Inner(size=3)), id="a block"),
        pytest.param({"text": None}, Sample(), id="null is absent"),
    ],
)
def test_values_are_converted_as_job_files_expect(config: dict[str, Any], expected: Sample) -> None:
    assert decode_config(config, Sample) == (expected, [])


@pytest.mark.parametrize(
    ("config", "wanted"),
    [
        ({"text": ["a"]}, '"text": string'),
        ({"number": "many"}, '"number": number'),
        ({"number": 1.5}, '"number": number'),
        ({"number": True}, '"number": number'),
        ({"flag": "perhaps"}, '"flag": bool'),
        ({"wait": "soon"}, '"wait": duration such as 1m30s'),
        ({"words": "a"}, '"words": list of string'),
        ({"words": [["a"]]}, '"words": string'),
        ({"labels": "a"}, '"labels": map of string'),
        ({"inner": {"size": "x"}}, '"size": number'),
    ],
)
def test_a_wrong_type_is_named(config: dict[str, Any], wanted: str) -> None:
    text = f"Incorrect attribute value type: Inappropriate value for attribute {wanted} required."

    assert decode_config(config, Sample) == (None, [text])


def test_all_problems_are_told_at_once() -> None:
    assert len(decode_config({"nosuch": 1, "args": "x"}, RawExecConfig)[1]) == 3
