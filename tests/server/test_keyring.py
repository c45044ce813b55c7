"""The keyring: made once, read back, and never silently replaced."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from yurt.server import keyring
from yurt.server.keyring import KeyUnreadable, load_or_create_key


@pytest.fixture(autouse=True)
def _small_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyring, "RSA_BITS", 1024)  # quicker to make


def test_a_key_is_made_once(tmp_path: Path) -> None:
    directory = tmp_path / "keystore"
    first = load_or_create_key(directory, "first")
    assert load_or_create_key(directory, "second") == first
    (path,) = directory.iterdir()
    assert path.name == "first.pem"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700


def test_without_a_directory_a_key_lives_as_long_as_its_process() -> None:
    assert load_or_create_key(None, "one") != load_or_create_key(None, "one")


def test_the_public_half_tells_nothing_of_the_private_one() -> None:
    jwk = load_or_create_key(None, "one").public_jwk()
    assert jwk.pop("n")
    assert jwk == {"kid": "one", "kty": "RSA", "alg": "RS256", "use": "sig", "e": "AQAB"}


@pytest.mark.parametrize(
    "content", [b"", b"damaged", b"-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----\n"]
)
def test_a_damaged_key_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "old.pem").write_bytes(content)
    with pytest.raises(KeyUnreadable, match=r"old\.pem is damaged"):
        load_or_create_key(tmp_path, "new")
