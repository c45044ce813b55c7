"""The wrapping key: what keeps root keys secret wherever they are written down."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from yurt.errors import YurtError

KEY_BYTES = 32
NONCE_BYTES = 12
KEY_FILE = "wrapping.key"
SECRET_VARIABLE = "YURT_KEYRING_SECRET"  # noqa: S105 - the name of a variable, not a secret
SECRET_CHARS_MIN = 16

# Guessing a secret costs as much as deriving a key from it: about 50 ms and 16 MiB a try.
_SCRYPT_COST, _SCRYPT_BLOCK, _SCRYPT_PARALLEL = 2**14, 8, 1
_SCRYPT_SALT = b"yurt wrapping key 1"


class WrappingKeyUnusable(YurtError):
    """The wrapping key cannot be had."""


class WrongWrappingKey(YurtError):
    """Something was wrapped with another key than this one."""

    def __init__(self) -> None:
        super().__init__(
            f"the cluster's keys were wrapped with another key than this server has: put back the server's "
            f"keystore/{KEY_FILE}, or start it with the {SECRET_VARIABLE} it was started with before"
        )


class WrappingKey:
    """A key that only ever encrypts other keys. It enters neither the log nor snapshots."""

    def __init__(self, key: bytes) -> None:
        assert len(key) == KEY_BYTES
        self._cipher = AESGCM(key)
        # Names the key without telling anything about it.
        self.name = hashlib.sha256(b"name of " + key).hexdigest()[:16]

    @classmethod
    def made_up(cls) -> WrappingKey:
        """A key that lasts as long as its process."""
        return cls(os.urandom(KEY_BYTES))

    def wrap(self, secret: bytes, name: str) -> bytes:
        """Encrypt the secrets of the root key `name`."""
        nonce = os.urandom(NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, secret, name.encode())

    def unwrap(self, wrapped: bytes, name: str) -> bytes:
        """Decrypt the secrets of the root key `name`. Raises WrongWrappingKey."""
        try:
            return self._cipher.decrypt(wrapped[:NONCE_BYTES], wrapped[NONCE_BYTES:], name.encode())
        except (InvalidTag, ValueError) as error:
            raise WrongWrappingKey from error


def load_wrapping_key(directory: Path | None, environment: Mapping[str, str]) -> WrappingKey:
    """Get the wrapping key from the environment's secret, else from the file of a keystore.

    The file is made at first, readable by its owner only. Without a directory and a secret the key lasts as
    long as its process. Blocks; meant for a thread. Raises WrappingKeyUnusable.
    """
    secret = environment.get(SECRET_VARIABLE, "")
    if secret:
        return WrappingKey(_derived(secret))
    if directory is None:
        return WrappingKey.made_up()
    path = directory / KEY_FILE
    try:
        key = _read_or_make(path)
    except OSError as error:
        raise WrappingKeyUnusable(f"the wrapping key {path} cannot be used: {error.strerror}") from error
    if len(key) != KEY_BYTES:
        raise WrappingKeyUnusable(
            f"the wrapping key {path} is damaged: it must hold {KEY_BYTES} bytes; put its backup in its place"
        )
    return WrappingKey(key)


def _derived(secret: str) -> bytes:
    if len(secret) < SECRET_CHARS_MIN:
        raise WrappingKeyUnusable(
            f"{SECRET_VARIABLE} is too short: use at least {SECRET_CHARS_MIN} characters, hard to guess"
        )
    return hashlib.scrypt(
        secret.encode(),
        salt=_SCRYPT_SALT,
        n=_SCRYPT_COST,
        r=_SCRYPT_BLOCK,
        p=_SCRYPT_PARALLEL,
        dklen=KEY_BYTES,
    )


def _read_or_make(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        pass
    key = os.urandom(KEY_BYTES)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Written aside first: a half-written key would lose everything that it is to protect.
    unfinished = path.with_suffix(".new")
    with open(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(key)
        file.flush()
        os.fsync(file.fileno())
    unfinished.rename(path)
    return key
