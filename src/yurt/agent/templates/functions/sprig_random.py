"""The functions of sprig that draw at random, which templates call with the prefix `sprig_`."""

from __future__ import annotations

import base64
import secrets
import string
import uuid
from collections.abc import Callable, Mapping

from yurt.agent.templates.functions.limits import check_text
from yurt.agent.templates.language import FunctionFailed
from yurt.agent.templates.language.values import Value

_PRINTABLE = "".join(map(chr, range(32, 127)))
_DRAW = secrets.SystemRandom()


def rand_alpha(count: int) -> str:
    return _drawn(string.ascii_letters, count)


def rand_alpha_num(count: int) -> str:
    return _drawn(string.ascii_letters + string.digits, count)


def rand_ascii(count: int) -> str:
    return _drawn(_PRINTABLE, count)


def rand_numeric(count: int) -> str:
    return _drawn(string.digits, count)


def rand_bytes(count: int) -> str:
    """So many bytes, in base64."""
    check_text(max(count, 0) * 2)
    return base64.b64encode(secrets.token_bytes(max(count, 0))).decode()


def rand_int(least: int, limit: int) -> int:
    """A number from `least` on and below `limit`."""
    if limit <= least:
        raise FunctionFailed("invalid argument to Intn")
    return _DRAW.randrange(least, limit)


def shuffle(of: str) -> str:
    return "".join(_DRAW.sample(of, len(of)))


def uuid_v4() -> str:
    return str(uuid.UUID(int=_DRAW.getrandbits(128), version=4))


def _drawn(letters: str, count: int) -> str:
    check_text(max(count, 0))
    return "".join(_DRAW.choices(letters, k=max(count, 0)))


SPRIG_RANDOM: Mapping[str, Callable[..., Value]] = {
    "randAlpha": rand_alpha,
    "randAlphaNum": rand_alpha_num,
    "randAscii": rand_ascii,
    "randBytes": rand_bytes,
    "randInt": rand_int,
    "randNumeric": rand_numeric,
    "shuffle": shuffle,
    "uuidv4": uuid_v4,
}
