"""Regular expressions in RE2's syntax."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yurt.model.regexp import BadRegexp, compile_regexp


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("bar", "foobar", True),
        ("^bar", "foobar", False),
        ("^foo$", "foo\n", False),
        ("(?m)^b$", "a\nb\nc", True),
        ("a.c", "a\nc", False),
        ("(?s)a.c", "a\nc", True),
        ("(?i)linux", "LINUX", True),
        ("(?i:l)inux", "LINUX", False),
        ("(?i)[a-c]+$", "ABC", True),
        ("x{2,3}y", "xxy", True),
        ("x{2,3}y", "xy", False),
        ("^x{3}$", "xxx", True),
        ("^x{2,}$", "xxxx", True),
        ("^(web|app)-[0-9]+$", "app-12", True),
        ("^(web|app)-[0-9]+$", "db-12", False),
        ("^(?P<a>x)(?<b>y)?$", "x", True),
        (r"^\d+\.\d+$", "10.5", True),
        (r"^\S+\s\w+$", "a-b c_d", True),
        (r"\bcat\b", "a cat!", True),
        (r"\bcat\b", "concat", False),
        (r"\Bcat", "concat", True),
        (r"^[^a-z\d]+$", "ABC", True),
        (r"^[[:alpha:]_-]+$", "a_b-", True),
        (r"^[[:^digit:]]+$", "abc", True),
        (r"^\pL+$", "äöü", True),
        (r"^\P{Lu}+$", "abC", False),
        (r"^\Qa.b\E$", "a.b", True),
        (r"^\x41\x{42}\103$", "ABC", True),
        (r"^[]a]+$", "]a", True),
        (r"^[a-]+$", "-a", True),
        (r"\Aa\z", "a", True),
        ("a{,2}", "a{,2}", True),
        ("", "anything", True),
        ("a||b", "", True),
        ("(a*)*$", "b", True),
    ],
)
def test_matching(pattern: str, text: str, found: bool) -> None:
    assert compile_regexp(pattern).matches(text) is found


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("([", "missing closing ]: `[`"),
        ("(", "missing closing ): `(`"),
        ("a(b", "missing closing ): `a(b`"),
        ("a)b", "unexpected ): `a)b`"),
        ("*a", "missing argument to repetition operator: `*`"),
        ("a|*", "missing argument to repetition operator: `*`"),
        ("a**", "invalid nested repetition operator: `**`"),
        ("a{1001}", "invalid repeat count: `{1001}`"),
        ("a{2,1}", "invalid repeat count: `{2,1}`"),
        ("(a{100}){100}", "invalid repeat count: `(a{100}){100}`"),
        ("[z-a]", "invalid character class range: `z-a`"),
        ("[[:foo:]]", "invalid character class range: `[:foo:]`"),
        (r"\q", r"invalid escape sequence: `\q`"),
        (r"(a)\1", r"invalid escape sequence: `\1`"),
        ("\\", "trailing backslash at end of expression: ``"),
        ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
        ("(?<=a)", "invalid or unsupported Perl syntax: `(?<`"),
        ("(?P<a-b>x)", "invalid named capture: `(?P<a-b>`"),
        ("(" * 200 + ")" * 200, "expression nests too deeply: `" + "(" * 200 + ")" * 200 + "`"),
    ],
)
def test_bad_patterns_are_worded_as_in_go(pattern: str, problem: str) -> None:
    with pytest.raises(BadRegexp) as refusal:
        compile_regexp(pattern)
    assert str(refusal.value) == f"error parsing regexp: {problem}"


def test_a_large_pattern_is_refused() -> None:
    with pytest.raises(BadRegexp, match="expression too large"):
        compile_regexp("(abcdefghijklmnopqrst){1000}")


def test_a_pattern_that_defeats_backtracking_is_harmless() -> None:
    assert not compile_regexp("(a+)+$").matches("a" * 200 + "b")


# Where the syntaxes agree, so must the answers.
SHARED = st.recursive(
    st.sampled_from(["a", "b", ".", "[ab]", "[^a]", r"\d", "^", "$", r"\b"]),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda pair: f"(?:{pair[0]}|{pair[1]})"),
        inner.flatmap(
            lambda part: st.sampled_from(["*", "+", "?", "{2}", "{0,2}"]).map(
                lambda times: f"(?:{part}){times}"
            )
        ),
    ),
    max_leaves=8,
)


@given(pattern=SHARED, text=st.text("ab1 ", max_size=6))
def test_answers_agree_with_another_engine(pattern: str, text: str) -> None:
    assert compile_regexp(pattern).matches(text) == (re.search(pattern, text) is not None)
