"""Filter expressions: what they select, and how they tell what is wrong with them."""

from __future__ import annotations

import pytest

from yurt.api.filter import FilterFailed, FilterUnreadable, compile_filter
from yurt.api.filter.parse import NESTING_MAX, TEXT_LENGTH_MAX
from yurt.model.group import TaskGroup
from yurt.model.job import Job
from yurt.model.wire import JobID

WEB = Job(
    id=JobID("web-a"),
    type="service",
    priority=70,
    datacenters=("dc1",),
    meta={"owner": "x", "a.b": "1"},
    task_groups=(TaskGroup(name="g", count=3), TaskGroup(name="h", count=1)),
)


@pytest.mark.parametrize(
    ("expression", "holds"),
    [
        ('ID == "web-a"', True),
        ('ID=="web-a"', True),
        ('ID != "web-a"', False),
        ("Type == service and Stop == false", True),
        ("Type == batch or Priority == 70", True),
        ("Type == batch or Stop == true and Priority == 70", False),
        ("not Type == batch", True),
        ("(Type == batch or Priority == 70) and (not Stop == true)", True),
        ('Priority == "70"', True),
        ('"dc1" in Datacenters', True),
        ('"dc2" not in Datacenters', True),
        ('Datacenters contains "dc1"', True),
        ('ID contains "b-"', True),
        ("owner in Meta", True),
        ('Meta["a.b"] == 1', True),
        ('"/Meta/a.b" == "1"', True),
        ('Meta.nope == "x"', False),
        ('Meta.nope != "x"', True),
        ("Meta.nope is empty", True),
        ("Meta is not empty", True),
        ("Periodic is nil", True),
        ("Meta is not nil", True),
        ('ID matches "^web-"', True),
        ('ID not matches "b$"', True),
        ("Name == ``", True),
        ("TaskGroups.1.Count == 1", True),
        ("any TaskGroups as tg { tg.Count == 3 }", True),
        ("all TaskGroups as tg { tg.Count == 3 }", False),
        ('any Meta as k, v { k == "owner" and v == "x" }', True),
        ('any TaskGroups as _, tg { tg.Name == "h" }', True),
        ('Type == batch or any TaskGroups as tg { tg.Name == "h" }', True),
    ],
)
def test_an_expression_selects_what_it_says(expression: str, holds: bool) -> None:
    assert compile_filter(expression).matches(WEB) is holds


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("ID == f-a", r'1:8 (7): no match found, expected: ".", "[", [ \t\r\n], [a-zA-Z0-9_/] or EOF'),
        ("ID", r'1:3 (2): no match found, expected: "!=", ".", "==", "[", [ \t\r\n] or [a-zA-Z0-9_/]'),
        (
            "Priority > 60",
            r'1:10 (9): no match found, expected: "!=", "==", "contains", "in", "is", "matches", "not" '
            r"or [ \t\r\n]",
        ),
        (
            "((",
            r'1:3 (2): no match found, expected: "(", "-", "0", "\"", "`", "all", "any", "not", [ \t\r\n], '
            "[1-9] or [a-zA-Z]",
        ),
        (
            'ID == "a" AND Type == "b"',
            r'1:11 (10): no match found, expected: "and", "or", [ \t\r\n] or EOF',
        ),
    ],
)
def test_an_unreadable_expression_names_the_place_and_what_could_stand_there(
    expression: str, text: str
) -> None:
    with pytest.raises(FilterUnreadable) as caught:
        compile_filter(expression)
    assert str(caught.value) == text


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (
            "Bogus == 1",
            "error finding value in datum: /Bogus at part 0: "
            'couldn\'t find key: struct field with name "Bogus"',
        ),
        (
            "Priority == abc",
            'error getting match value in expression: strconv.ParseInt: parsing "abc": invalid syntax',
        ),
        (
            "Stop == maybe",
            'error getting match value in expression: strconv.ParseBool: parsing "maybe": invalid syntax',
        ),
        (
            'ID matches "("',
            'failed to compile regular expression "(": error parsing regexp: missing closing ): `(`',
        ),
        ("Meta == x", "unable to find suitable primitive comparison function for matching"),
    ],
)
def test_an_expression_that_does_not_fit_fails_on_the_first_object(expression: str, text: str) -> None:
    ready = compile_filter(expression)
    with pytest.raises(FilterFailed) as caught:
        ready.matches(WEB)
    assert str(caught.value) == text


def test_deep_and_long_expressions_are_refused() -> None:
    with pytest.raises(FilterUnreadable, match="nested deeper"):
        compile_filter("(" * (NESTING_MAX + 1) + "ID == a" + ")" * (NESTING_MAX + 1))
    with pytest.raises(FilterUnreadable, match="longer than"):
        compile_filter("ID == " + "a" * TEXT_LENGTH_MAX)


def test_nested_choices_are_read_once() -> None:
    depth = NESTING_MAX - 1
    assert compile_filter("(" * depth + 'ID == "web-a"' + ")" * depth).matches(WEB)
