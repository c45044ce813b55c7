"""How Python values and the API's JSON names correspond.

The API writes `JobID` where we write `job_id`. A JSON null means "not set" throughout the API, so nulls
are dropped before decoding and every field of a `Record` has a default.
"""

from typing import TypeVar

import msgspec

T = TypeVar("T")

_ACRONYMS = {
    "acl": "ACL",
    "cidr": "CIDR",
    "cpu": "CPU",
    "csi": "CSI",
    "http": "HTTP",
    "id": "ID",
    "ids": "IDs",
    "ip": "IP",
    "jwks": "JWKS",
    "jwt": "JWT",
    "mb": "MB",
    "oidc": "OIDC",
    "rpc": "RPC",
    "rss": "RSS",
    "tg": "TG",
    "tls": "TLS",
    "ttl": "TTL",
    "ui": "UI",
    "uri": "URI",
    "url": "URL",
}


def api_name(field: str) -> str:
    """Give the API's name of a field: `task_group` is `TaskGroup`, `eval_id` is `EvalID`."""
    return "".join(_ACRONYMS.get(word, word.capitalize()) for word in field.split("_"))


class Record(msgspec.Struct, frozen=True, rename=api_name):
    """An object of the API. Subclasses list the members that clients use; others are skipped."""


def decode(body: bytes, into: type[T]) -> T:
    """Decode a JSON text. Raises `msgspec.ValidationError` or `msgspec.DecodeError`."""
    return msgspec.convert(without_nulls(msgspec.json.decode(body)), into)


def without_nulls(value: object) -> object:
    """Drop null members of objects, at every depth; nulls inside lists stay."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value
