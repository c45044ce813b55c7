"""The keyring: root keys in use, to encrypt and to sign with."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable
from typing import Any

import msgspec
from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from yurt.errors import YurtError
from yurt.model.root_key import KEY_ACTIVE, RootKey
from yurt.model.wire import Nanoseconds
from yurt.server.wrapping_key import KEY_BYTES, NONCE_BYTES, WrappingKey, WrongWrappingKey
from yurt.state.state import State

SIGNING_ALGORITHM = "RS256"
RSA_BITS = 2048
_PUBLIC_EXPONENT = 65537
_PADDING = padding.PKCS1v15()
_HASH = hashes.SHA256()


class NoActiveKey(YurtError):
    """There is no key yet to encrypt or sign with."""

    def __init__(self) -> None:
        super().__init__("the keyring has no active key yet: the servers make one when they start; retry")


class KeyMissing(YurtError):
    """A key that something was encrypted with is gone."""

    def __init__(self, key_id: str) -> None:
        super().__init__(f"no such key {key_id} in keyring: restore a snapshot that still has it")
        self.key_id = key_id


class DataDamaged(YurtError):
    """What was encrypted is not what it was."""

    def __init__(self) -> None:
        super().__init__("the encrypted data was changed outside of the servers; restore it from a snapshot")


class _Secrets(msgspec.Struct, frozen=True):
    """What a root key keeps secret: a key to encrypt with, and a private key to sign with."""

    encryption: bytes
    signing: bytes


class _Opened:
    """A root key whose secrets are known."""

    def __init__(self, secrets: _Secrets) -> None:
        private = serialization.load_der_private_key(secrets.signing, password=None)
        assert isinstance(private, rsa.RSAPrivateKey)
        self.cipher = AESGCM(secrets.encryption)
        self.private = private
        self.public = private.public_key()


class Keyring:
    """The root keys of State, opened with the wrapping key. What is opened never leaves this process."""

    def __init__(self, state: Callable[[], State], wrapping: WrappingKey) -> None:
        self._state = state
        self._wrapping = wrapping
        self._opened: dict[str, _Opened] = {}

    @property
    def is_usable(self) -> bool:
        """Whether there is an active key that this server can open."""
        key = self._state().root_keys.active
        if key is None:
            return False
        try:
            self._open(key)
        except WrongWrappingKey:
            return False
        return True

    def new_key(
        self,
        key_id: str,
        *,
        now: Nanoseconds,
        state: str = KEY_ACTIVE,
        publish_time: Nanoseconds = 0,
    ) -> RootKey:
        """Make a root key. Takes some milliseconds, and now and then half a second; meant for a thread."""
        secrets = _Secrets(os.urandom(KEY_BYTES), _new_signing_key())
        return RootKey(
            key_id=key_id,
            create_time=now,
            state=state,
            publish_time=publish_time,
            wrapped=self._wrapping.wrap(msgspec.msgpack.encode(secrets), key_id),
            wrapped_by=self._wrapping.name,
        )

    def encrypt(self, plain: bytes, bound_to: bytes) -> tuple[str, bytes]:
        """Encrypt with the active key; gives the key's id with the result.

        It is only decrypted again together with `bound_to`, which is not secret. Raises NoActiveKey.
        """
        key_id, opened = self._active()
        nonce = os.urandom(NONCE_BYTES)
        return key_id, nonce + opened.cipher.encrypt(nonce, plain, bound_to)

    def decrypt(self, key_id: str, data: bytes, bound_to: bytes) -> bytes:
        """Decrypt what `encrypt` gave. Raises KeyMissing, WrongWrappingKey or DataDamaged."""
        key = self._state().root_keys.get(key_id)
        if key is None:
            raise KeyMissing(key_id)
        try:
            return self._open(key).cipher.decrypt(data[:NONCE_BYTES], data[NONCE_BYTES:], bound_to)
        except (InvalidTag, ValueError) as error:
            raise DataDamaged from error

    def sign(self, claims: bytes) -> str:
        """Make a token of claims in JSON, signed with the active key. Raises NoActiveKey."""
        key_id, opened = self._active()
        header = msgspec.json.encode({"alg": SIGNING_ALGORITHM, "kid": key_id, "typ": "JWT"})
        signed = _b64(header) + b"." + _b64(claims)
        return (signed + b"." + _b64(opened.private.sign(signed, _PADDING, _HASH))).decode()

    def verified(self, token: str) -> tuple[str, bytes] | None:
        """The key that signed a token and its claims in JSON; None for any other text."""
        parts = token.encode(errors="replace").split(b".")
        if len(parts) != 3:
            return None
        try:
            header = msgspec.json.decode(_from_b64(parts[0]), type=_Header)
            claims, signature = _from_b64(parts[1]), _from_b64(parts[2])
        except (ValueError, msgspec.MsgspecError):
            return None
        key = self._state().root_keys.get(header.kid)
        if key is None or header.alg != SIGNING_ALGORITHM:
            return None
        try:
            self._open(key).public.verify(signature, b".".join(parts[:2]), _PADDING, _HASH)
        except (InvalidSignature, WrongWrappingKey):
            return None
        return key.key_id, claims

    def public_keys(self) -> list[dict[str, Any]]:
        """The public halves of all keys that can be opened, as JWKS readers expect them."""
        found = []
        for key in self._state().root_keys:
            try:
                numbers = self._open(key).public.public_numbers()
            except WrongWrappingKey:
                continue
            found.append(
                {
                    "use": "sig",
                    "kty": "RSA",
                    "kid": key.key_id,
                    "alg": SIGNING_ALGORITHM,
                    "n": _b64_number(numbers.n),
                    "e": _b64_number(numbers.e),
                }
            )
        return found

    def _active(self) -> tuple[str, _Opened]:
        key = self._state().root_keys.active
        if key is None:
            raise NoActiveKey
        return key.key_id, self._open(key)

    def _open(self, key: RootKey) -> _Opened:
        opened = self._opened.get(key.key_id)
        if opened is None:
            plain = self._wrapping.unwrap(key.wrapped, key.key_id)
            opened = self._opened[key.key_id] = _Opened(msgspec.msgpack.decode(plain, type=_Secrets))
        return opened


class _Header(msgspec.Struct, frozen=True):
    alg: str = ""
    kid: str = ""


def _new_signing_key() -> bytes:
    private = rsa.generate_private_key(public_exponent=_PUBLIC_EXPONENT, key_size=RSA_BITS)
    return private.private_bytes(
        serialization.Encoding.DER, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def _b64(data: bytes) -> bytes:
    return base64.urlsafe_b64encode(data).rstrip(b"=")


def _from_b64(text: bytes) -> bytes:
    return base64.b64decode(text + b"=" * (-len(text) % 4), altchars=b"-_", validate=True)


def _b64_number(number: int) -> str:
    return _b64(number.to_bytes((number.bit_length() + 7) // 8, "big")).decode()
