"""The keyring: the keys that sign workload identities."""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import Any

import msgspec
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from yurt.errors import YurtError

RSA_BITS = 2048
_PUBLIC_EXPONENT = 65537


class KeyUnreadable(YurtError):
    """A key file does not hold a key."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"the signing key {path} is damaged: put its backup in its place, or remove it, and a new key is "
            "made; what was signed with it is no longer accepted then"
        )
        self.path = path


class SigningKey(msgspec.Struct, frozen=True, kw_only=True):
    """A private key and its id."""

    key_id: str
    pem: bytes

    def public_jwk(self) -> dict[str, Any]:
        """The public half, as JWKS readers expect it."""
        private = serialization.load_pem_private_key(self.pem, password=None)
        assert isinstance(private, rsa.RSAPrivateKey)
        numbers = private.public_key().public_numbers()
        return {
            "use": "sig",
            "kty": "RSA",
            "kid": self.key_id,
            "alg": "RS256",
            "n": _b64(numbers.n),
            "e": _b64(numbers.e),
        }


def load_or_create_key(directory: Path | None, key_id: str) -> SigningKey:
    """Read the signing key of a data directory, making one at first; slow, meant for a thread.

    The key file is readable by its owner only and never enters the log. Raises KeyUnreadable.
    """
    if directory is not None:
        for path in sorted(directory.glob("*.pem")):
            return _read_key(path)
    private = rsa.generate_private_key(public_exponent=_PUBLIC_EXPONENT, key_size=RSA_BITS)
    pem = private.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    if directory is not None:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = directory / f".{key_id}.tmp"
        with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(pem)
            file.flush()
            os.fsync(file.fileno())
        fresh.rename(directory / f"{key_id}.pem")
    return SigningKey(key_id=key_id, pem=pem)


def _read_key(path: Path) -> SigningKey:
    pem = path.read_bytes()
    try:
        private = serialization.load_pem_private_key(pem, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise KeyUnreadable(path) from error
    if not isinstance(private, rsa.RSAPrivateKey):
        raise KeyUnreadable(path)
    return SigningKey(key_id=path.stem, pem=pem)


def _b64(number: int) -> str:
    data = number.to_bytes((number.bit_length() + 7) // 8, "big")
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
