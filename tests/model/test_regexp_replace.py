"""Replacing by regular expressions gives what a backtracking engine gives, in bounded time."""

from __future__ import annotations

import contextlib
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


@pytest.mark.parametrize(
    ("text", "pattern", "replacement", "expected"),
    [
        ("abc", "b", "[$0]", "a[b]c"),
        ("aXbX", "x", "-", "aXbX"),
        ("aXbX", "(?i)x", "-", "a-b-"),
        ("abc", "", "-", "-a-b-c-"),
        ("aaa", "a*", "-", "-"),
        ("baac", "a*", "-", "-b-c-"),
        ("abcd", "(?P<x>b)(?<y>c)", "${y}$x", "acbd"),
        ("abcd", "(?P<x>b)(?<y>c)", "${y}${x}", "acbd"),
        ("a.b", r"\.", "$$", "a$b"),
        ("foo bar", r"\bb", "X", "foo Xar"),
        ("foobar", r"o\Bb", "X", "foXar"),
        ("a\nb", "(?m)^", "> ", "> a\n> b"),
        ("a\nb", "^|$", "|", "|a\nb|"),
        ("a\nb", "a.b", "x", "a\nb"),
        ("a\nb", "(?s)a.b", "x", "x"),
        ("aaaa", "a{2}", "x", "xx"),
        ("aaaa", "a{2,3}?", "x", "xx"),
        ("aaaa", "(?U)a+", "x", "xxxx"),
        ("aab", "a+?b|a", "x", "x"),
        ("x1y22", "[0-9]+", "#", "x#y#"),
        ("x1y22", "[[:digit:]]", "#", "x#y##"),
        ("a]b", "[]]", "-", "a-b"),
        ("a-b[c", r"[\[\-]", "_", "a_b_c"),
        ("héé", "é", "e", "hee"),
        ("aé", r"\w", "_", "_é"),
        ("tab\t", r"\t|\x41|\x{42}", "T", "tabT"),
        ("a+b", r"\Qa+b\E", "x", "x"),
        ("abab", "(?:ab)+", "x", "x"),
        ("ab", "(a)|(b)", "<$1$2>", "<a><b>"),
        ("abc", "(?i:B)", "x", "axc"),
        ("abc", "$1", "x", "abc"),
    ],
)
def test_patterns_are_those_of_re2(text: str, pattern: str, replacement: str, expected: str) -> None:
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


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("(", "missing closing ): `(`"),
        (")", "unexpected ): `)`"),
        ("*", "missing argument to repetition operator: `*`"),
        ("a**", "invalid nested repetition operator"),
        ("a{2,1}", "invalid repeat count: `{2,1}`"),
        ("a{1001}", "invalid repeat count"),
        ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
        ("[z-a]", "invalid character class range: `z-a`"),
        ("[[:nope:]]", "invalid character class range"),
        (r"\q", r"invalid escape sequence: `\q`"),
        ("\\", "trailing backslash at end of expression"),
        ("(?P<a>x)(?P<a>y)", "duplicate capture group name"),
        ("(" * 200, "expression nests too deeply"),
        ("((a{1,100}){1,100}){1,100}", "invalid repeat count"),
    ],
)
def test_bad_patterns_are_refused(pattern: str, expected: str) -> None:
    with pytest.raises(BadRegexp) as caught:
        replace_all(pattern, "", "a", chars_max=100)
    assert expected in str(caught.value)


@given(st.text("ab(|)*+?[]{}^$.\\dPQ<>:i1,-&~", max_size=12), st.text("ab1\n", max_size=8))
def test_any_pattern_works_or_is_refused(pattern: str, text: str) -> None:
    with contextlib.suppress(BadRegexp):
        assert replace_all(pattern, "$1", text, chars_max=1000) is not None


def test_limits() -> None:
    assert replace_all("a", "b" * 50, "aaa", chars_max=100) is None
    with pytest.raises(BadRegexp, match="takes too long"):
        replace_all("a(.*b)?", "x", "a" * 5000, chars_max=10_000)
    with pytest.raises(BadRegexp, match="missing closing"):
        replace_all("(", "", "", chars_max=1)
    assert replace_all("(a*)*b", "x", "a" * 2000, chars_max=10_000) == "a" * 2000
