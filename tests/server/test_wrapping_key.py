"""The wrapping key: made once, read back, never silently replaced, and the only way to a root key."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from yurt.server.wrapping_key import (
    KEY_FILE,
    SECRET_VARIABLE,
    WrappingKeyUnusable,
    WrongWrappingKey,
    load_wrapping_key,
)

SECRET = {SECRET_VARIABLE: "correct horse battery staple"}


def test_a_key_file_is_made_once_and_for_its_owner_only(tmp_path: Path) -> None:
    directory = tmp_path / "keystore"
    first = load_wrapping_key(directory, {})
    (path,) = directory.iterdir()
    assert path.name == KEY_FILE
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert load_wrapping_key(directory, {}).unwrap(first.wrap(b"secret", "one"), "one") == b"secret"


def test_a_secret_of_the_environment_needs_no_file(tmp_path: Path) -> None:
    first = load_wrapping_key(tmp_path / "keystore", SECRET)
    assert not (tmp_path / "keystore").exists()
    assert load_wrapping_key(None, SECRET).unwrap(first.wrap(b"secret", "one"), "one") == b"secret"


def test_another_key_opens_nothing() -> None:
    wrapped = load_wrapping_key(None, {}).wrap(b"secret", "one")
    assert b"secret" not in wrapped
    with pytest.raises(WrongWrappingKey, match=KEY_FILE):
        load_wrapping_key(None, {}).unwrap(wrapped, "one")


def test_a_wrapped_key_cannot_take_the_place_of_another() -> None:
    key = load_wrapping_key(None, {})
    with pytest.raises(WrongWrappingKey):
        key.unwrap(key.wrap(b"secret", "one"), "two")


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    (tmp_path / KEY_FILE).write_bytes(b"short")
    with pytest.raises(WrappingKeyUnusable, match=r"wrapping\.key is damaged"):
        load_wrapping_key(tmp_path, {})


def test_a_short_secret_is_refused() -> None:
    with pytest.raises(WrappingKeyUnusable, match="at least 16 characters"):
        load_wrapping_key(None, {SECRET_VARIABLE: "guessable"})
