"""Signed tokens: whether their signature, their times and whom they are meant for are right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jwt

from yurt.api.logins.errors import LoginRefused
from yurt.model.acl.auth_method import SIGNING_ALGORITHMS, AuthMethodConfig
from yurt.model.durations import parse_duration
from yurt.model.times import SECOND_NS
from yurt.model.wire import Nanoseconds

TOKEN_LENGTH_MAX = 64 * 1024
DEFAULT_LIFE = 150 * SECOND_NS
DEFAULT_SKEW = 60 * SECOND_NS
_TIMES = ("exp", "nbf", "iat")


def key_id_of(token: str) -> str:
    """Which key a token says it is signed with; empty if it does not say. Raises LoginRefused."""
    if len(token) > TOKEN_LENGTH_MAX:
        raise LoginRefused(f"the token is longer than {TOKEN_LENGTH_MAX} characters")
    try:
        return str(jwt.get_unverified_header(token).get("kid", ""))
    except jwt.PyJWTError:
        raise LoginRefused("the token is no signed JSON Web Token") from None


def verified_claims(
    token: str, keys: Sequence[Any], config: AuthMethodConfig, *, now: Nanoseconds
) -> dict[str, Any]:
    """The claims of a token that one of `keys` signed, in time, by and for those who count.

    Raises LoginRefused.
    """
    claims = _signed(token, keys, tuple(config.signing_algs or SIGNING_ALGORITHMS))
    _check_times(claims, config, now)
    if config.bound_issuer and claims.get("iss") not in config.bound_issuer:
        raise LoginRefused("the token is from an issuer that is not in BoundIssuer")
    if config.bound_audiences:
        given = claims.get("aud", ())
        audiences = [given] if isinstance(given, str) else given
        if not isinstance(audiences, (list, tuple)) or not set(map(str, audiences)) & set(
            config.bound_audiences
        ):
            raise LoginRefused("the token is for an audience that is not in BoundAudiences")
    return claims


def _signed(token: str, keys: Sequence[Any], algorithms: Sequence[str]) -> dict[str, Any]:
    allowed = [one for one in algorithms if one in SIGNING_ALGORITHMS]
    # Times and audiences are checked by the method's own rules, afterwards.
    options: Any = {
        "verify_signature": True,
        "verify_aud": False,
        "verify_iss": False,
        "verify_exp": False,
        "verify_nbf": False,
        "verify_iat": False,
        "verify_sub": False,
        "verify_jti": False,
    }
    for key in keys:
        try:
            claims: dict[str, Any] = jwt.decode(token, key, algorithms=allowed, options=options)
        except (jwt.PyJWTError, ValueError, TypeError):
            continue
        return claims
    raise LoginRefused("the token's signature is by none of the keys that count")


def _check_times(claims: dict[str, Any], config: AuthMethodConfig, now: Nanoseconds) -> None:
    times = {name: claims[name] for name in _TIMES if name in claims}
    if not times or not all(isinstance(one, (int, float)) and abs(one) < 2**53 for one in times.values()):
        raise LoginRefused("the token must say with exp, nbf or iat when it is valid")
    at = {name: int(one * SECOND_NS) for name, one in times.items()}
    skew = _leeway(config.clock_skew_leeway) if config.clock_skew_leeway else DEFAULT_SKEW
    # A token that does not say when it ends is good for a short while.
    end = at.get("exp", max(at.get("nbf", 0), at.get("iat", 0)) + DEFAULT_LIFE)
    if now >= end + skew + _leeway(config.expiration_leeway):
        raise LoginRefused("the token has expired")
    begin = at.get("nbf", at.get("iat", 0))
    if now < begin - skew - _leeway(config.not_before_leeway):
        raise LoginRefused("the token is not valid yet")


def _leeway(text: str) -> Nanoseconds:
    return max(0, parse_duration(text)) if text else 0
