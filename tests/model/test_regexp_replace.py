"""Replacing by regular expressions gives what a backtracking engine gives, in bounded time."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yurt.model.regexp_replace import replace_all
from yurt.model.regexp_syntax import BadRegexp

PARTS = st.sampled_from(
    ["a", "b", "(a)", "(b|ab)", "a*", "b+?", "[ab]", "(?:ab)?", ".", "^", "$", "(a*b)?", r"\b"]
)


@pytest.mark.parametrize(
    ("pattern", "replacement", "text", "expected"),
    [
        ("o", "0", "foo", "f00"),
        ("(a+)(b*)", "<$1|$2>", "aabxab", "<aa|b>x<a|b>"),
        ("a*", "-", "baac", "-b-c-"),
        (r"(?P<key>\w+)=(\w+)", "${2}=$key", "x=1,y=2", "1=x,2=y"),
        ("a", "$$1 $9 $none", "a", "$1  "),
        ("(?i)A+?", "x", "aA", "xx"),
        ("(a|ab)(c|bcd)(d*)", "[$1,$2,$3]", "abcd", "[a,bcd,]"),
    ],
)
def test_examples(pattern: str, replacement: str, text: str, expected: str) -> None:
    assert replace_all(pattern, replacement, text, chars_max=100) == expected


@given(st.lists(PARTS, min_size=1, max_size=4).map("".join), st.text("abc ", max_size=10))
def test_the_same_matches_as_backtracking(pattern: str, text: str) -> None:
    assert replace_all(pattern, "<$0>", text, chars_max=10_000) == by_backtracking(pattern, text)


def by_backtracking(pattern: str, text: str) -> str:
    """Go's rule: an empty match right behind another one does not count."""
    made, at, copied, last_end = "", 0, 0, -1
    while at <= len(text) and (found := re.compile(pattern).search(text, at)):
        start, end = found.span()
        if not start == end == last_end:
            made += f"{text[copied:start]}<{found[0]}>"
            copied = last_end = end
        at = end if end > at else at + 1
    return made + text[copied:]


def test_limits() -> None:
    assert replace_all("a", "b" * 50, "aaa", chars_max=100) is None
    with pytest.raises(BadRegexp, match="takes too long"):
        replace_all("a(.*b)?", "x", "a" * 5000, chars_max=10_000)
    with pytest.raises(BadRegexp, match="missing closing"):
        replace_all("(", "", "", chars_max=1)
    assert replace_all("(a*)*b", "x", "a" * 2000, chars_max=10_000) == "a" * 2000
