"""Files of plain values: agent configuration and ACL policies."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yurt.jobspec.hcl import HCLError, literal_body


def test_blocks_and_objects_are_lists_of_bodies() -> None:
    body = literal_body('a { x = 1 }\na = { x = 2 }\nb = "s"\n', filename="agent.hcl")
    assert body == {"a": [{"x": 1}, {"x": 2}], "b": "s"}


def test_each_label_is_one_more_level() -> None:
    body = literal_body(
        'plugin "docker" {\n  config { gc = true }\n}\nhost_volume x y { }\n', filename="agent.hcl"
    )
    assert body == {
        "plugin": [{"docker": [{"config": [{"gc": True}]}]}],
        "host_volume": [{"x": [{"y": [{}]}]}],
    }


def test_json_gives_the_same_tree() -> None:
    hcl = literal_body('plugin "docker" { config { gc = true } }\nports = [1, 2.5, "x"]\n', filename="a.hcl")
    json = literal_body(
        '{"plugin": {"docker": {"config": {"gc": true}}}, "ports": [1, 2.5, "x"]}', filename="a.json"
    )
    assert hcl == json


def test_items_may_share_a_line_and_keys_may_be_quoted() -> None:
    body = literal_body('"a b" = 1 c { d = -2, e = [ "x", "y", ] f = null }', filename="agent.hcl")
    assert body == {"a b": 1, "c": [{"d": -2, "e": ["x", "y"], "f": None}]}


def test_template_sequences_are_ordinary_text() -> None:
    body = literal_body(
        'a = "x ${foo["b"]} \\"q\\""\nb = <<E\n${x}\nE\nc = <<-E\n  y\n  E\n', filename="agent.hcl"
    )
    assert body == {"a": 'x ${foo["b"]} "q"', "b": "${x}\n", "c": "y\n"}


def test_the_last_of_equal_values_counts_and_lines_are_known() -> None:
    body = literal_body("a = 1\n\na = 2\nb {\n  c = 3\n}\n", filename="agent.hcl")
    assert body["a"] == 2
    assert body.lines == {"a": 3, "b": 4}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = b\n", "c.hcl:1,5-6: Plain value required; "),
        ("a = upper(1)\n", "c.hcl:1,5-10: Plain value required; "),
        ("a = 1 + 2\n", "c.hcl:1,7-8: Key required; "),
        ("a\n", "c.hcl:1,2-2,1: Value required; "),
        ("a {\n", "c.hcl:1,3-4: Unclosed block; "),
        ("a = [1\n", "c.hcl:1,5-6: Unclosed list; "),
        ("a = -x\n", "c.hcl:1,6-7: Invalid number; "),
        ('{"a": }', "c.hcl:1,7-8: Invalid JSON value; "),
        ('{"a": 1', "c.hcl:1,8-8: Unclosed object; "),
        ('{"a" 1}', "c.hcl:1,6-7: Missing property value; "),
        ("{a: 1}", "c.hcl:1,2-3: Invalid object property name; "),
        ('{"a": "x\n"}', "c.hcl:1,7-8: Invalid JSON string; "),
        ('{"a": 1} x', "c.hcl:1,10-11: Extraneous data after value; "),
        ('{"a": [1 2]}', "c.hcl:1,10-11: Missing comma; "),
        ('{"a": [1,]}', "c.hcl:1,9-10: Trailing comma in array; "),
        ('{"a": 1e99999}', "c.hcl:1,7-8: Invalid JSON number; "),
    ],
)
def test_errors_say_where_and_what(text: str, message: str) -> None:
    with pytest.raises(HCLError) as caught:
        literal_body(text, filename="c.hcl")
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("text", ["a = " + "[" * 5000, "a {" * 5000, '{"a":' * 5000])
def test_deep_nesting_is_refused(text: str) -> None:
    with pytest.raises(HCLError, match="Nested too deeply"):
        literal_body(text, filename="c.hcl")


FRAGMENTS = st.sampled_from([*'{}[]="\\,:\n a0-', "null", '"k"', "${", "<<E\n", "\nE\n"])


@given(st.one_of(st.text(), st.lists(FRAGMENTS).map("".join)))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(HCLError):
        literal_body(text, filename="c.hcl")
