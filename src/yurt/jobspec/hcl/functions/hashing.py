"""Functions that hash, decrypt and make identifiers."""

import base64
import binascii
import hashlib
import uuid

from yurt.jobspec.hcl.function import ArgumentError, CallError, Parameter, Registry
from yurt.jobspec.hcl.values import NUMBER, STRING

FUNCTIONS = Registry()

_STR = Parameter("str", STRING)
_NAMESPACES = {
    "dns": uuid.NAMESPACE_DNS,
    "url": uuid.NAMESPACE_URL,
    "oid": uuid.NAMESPACE_OID,
    "x500": uuid.NAMESPACE_X500,
}
_UUID_LENGTHS = (32, 36, 38, 45)  # plain, with dashes, in braces, as an urn


@FUNCTIONS.add("md5", _STR)
def _md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


@FUNCTIONS.add("sha1", _STR)
def _sha1(text: str) -> str:
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


@FUNCTIONS.add("sha256", _STR)
def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@FUNCTIONS.add("sha512", _STR)
def _sha512(text: str) -> str:
    return hashlib.sha512(text.encode()).hexdigest()


@FUNCTIONS.add("bcrypt", _STR, rest=Parameter("cost", NUMBER))
def _bcrypt(*_: object) -> str:
    raise CallError("bcrypt is not supported; hash the text beforehand and pass the hash in as a variable")


@FUNCTIONS.add("rsadecrypt", Parameter("ciphertext", STRING), Parameter("privatekey", STRING))
def _rsadecrypt(ciphertext: str, private_key: str) -> str:
    # Loading this library takes longer than reading most job files, and next to none needs it.
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric import padding, rsa  # noqa: PLC0415
    from cryptography.hazmat.primitives.serialization import load_pem_private_key  # noqa: PLC0415

    try:
        data = base64.b64decode(ciphertext, validate=True)
    except (binascii.Error, ValueError):
        raise CallError(
            f'failed to decode input "{ciphertext}": cipher text must be base64-encoded'
        ) from None
    try:
        key = load_pem_private_key(private_key.encode(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise ArgumentError(1, "a private key in PEM form without a password is required") from None
    if not isinstance(key, rsa.RSAPrivateKey):
        raise ArgumentError(1, "an RSA key is required")
    try:
        return key.decrypt(data, padding.PKCS1v15()).decode()
    except ValueError:
        raise CallError("failed to decrypt: the key does not fit, or the result is not UTF-8") from None


@FUNCTIONS.add("uuidv4")
def _uuidv4() -> str:
    return str(uuid.uuid4())


@FUNCTIONS.add("uuidv5", Parameter("namespace", STRING), Parameter("name", STRING))
def _uuidv5(namespace: str, name: str) -> str:
    space = _NAMESPACES.get(namespace)
    if space is None:
        try:
            space = uuid.UUID(namespace)
        except ValueError:
            length = len(namespace)
            reason = "invalid UUID format" if length in _UUID_LENGTHS else f"invalid UUID length: {length}"
            raise CallError(f"uuidv5() doesn't support namespace {namespace} ({reason})") from None
    return str(uuid.uuid5(space, name))
