"""Ids in paths and prefixes: what is no UUID is refused in Nomad's words."""

from __future__ import annotations

import pytest

from yurt.api.errors import HttpError
from yurt.api.ids import checked_prefix, checked_uuid

WHOLE = "0123abcd-0123-4567-89ab-0123456789ab"


def test_a_whole_id_is_taken_in_lower_case() -> None:
    assert checked_uuid("node", WHOLE.upper()) == WHOLE


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "UUID must be 36 characters"),
        (WHOLE[:-1], "UUID must be 36 characters"),
        (WHOLE + "0", "UUID must be 36 characters"),
        ("z" + WHOLE[1:], "Invalid UUID: encoding/hex: invalid byte: U+007A 'z'"),
        ("\n" + WHOLE[1:], "Invalid UUID: encoding/hex: invalid byte: U+000A"),
        ("é" + WHOLE[2:], "Invalid UUID: encoding/hex: invalid byte: U+00C3 'Ã'"),
        ("é" + WHOLE[1:], "UUID must be 36 characters"),
    ],
)
def test_what_is_no_whole_id(text: str, problem: str) -> None:
    with pytest.raises(HttpError) as refused:
        checked_uuid("eval", text, prefix="failed to lookup eval: ")
    assert refused.value.status == 500
    assert refused.value.text == f"failed to lookup eval: eval lookup failed: index error: {problem}"


@pytest.mark.parametrize("text", ["", "01", "0123ABCD", "0123abcd-", "0123abcd-01", WHOLE])
def test_the_beginning_of_an_id(text: str) -> None:
    assert checked_prefix("alloc", text) == text.lower()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("012", "Input (without hyphens) must be even length"),
        ("0123abcd-0", "Input (without hyphens) must be even length"),
        ("zz", "Invalid UUID: encoding/hex: invalid byte: U+007A 'z'"),
        ("-----", 'UUID should have maximum of 4 "-"; got 5'),
        (WHOLE + "00", "Invalid UUID length. UUID have 36 characters; got 38"),
    ],
)
@pytest.mark.parametrize("kind", ["alloc", ""])
def test_what_is_no_beginning(kind: str, text: str, problem: str) -> None:
    with pytest.raises(HttpError) as refused:
        checked_prefix(kind, text)
    start = f"{kind} lookup failed: " if kind else ""
    assert refused.value.text == f"{start}index error: {problem}"
