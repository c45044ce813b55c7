"""Functions on texts."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import string
from collections.abc import Callable, Mapping

from yurt.agent.templates.functions.limits import TEXT_CHARS_MAX, check_items, check_text, too_long
from yurt.agent.templates.language import FunctionFailed
from yurt.agent.templates.language.values import Value
from yurt.model.regexp import BadRegexp, compile_regexp
from yurt.model.regexp_replace import replace_all

_BASE64 = string.ascii_letters + string.digits
# Matching takes a step of ours for each character and part of the pattern.
REGEXP_TEXT_CHARS_MAX = 64 << 10


def base64_decode(text: str) -> str:
    return _decoded(text, url_safe=False)


def base64_encode(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def base64_url_decode(text: str) -> str:
    return _decoded(text, url_safe=True)


def base64_url_encode(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode()


def _decoded(text: str, *, url_safe: bool) -> str:
    name = "base64URLDecode" if url_safe else "base64Decode"
    alphabet = _BASE64 + ("-_" if url_safe else "+/")
    try:
        decoded = base64.b64decode(text, altchars=b"-_" if url_safe else None, validate=True)
    except (binascii.Error, ValueError) as error:
        at = next((at for at, letter in enumerate(text) if letter not in alphabet), len(text) // 4 * 4)
        raise FunctionFailed(f"{name}: illegal base64 data at input byte {at}") from error
    return decoded.decode(errors="replace")


def indent(spaces: int, text: str) -> str:
    if spaces < 0:
        raise FunctionFailed("indent value must be a positive integer")
    check_text(spaces * (text.count("\n") + 1) + len(text))
    prefix = " " * spaces
    return "".join(prefix + line if line.strip("\n") else line for line in text.splitlines(keepends=True))


def join(separator: str, texts: list[str]) -> str:
    check_text(sum(map(len, texts)) + len(separator) * len(texts))
    return separator.join(texts)


def split(separator: str, text: str) -> list[str]:
    text = text.strip()
    if not text:
        return []
    check_items(text.count(separator) if separator else len(text))
    return text.split(separator) if separator else list(text)


def split_to_map(pair_separator: str, separator: str, text: str) -> dict[str, Value]:
    made: dict[str, Value] = {}
    for pair in split(pair_separator, text):
        key, found, value = pair.partition(separator)
        if not found:
            raise FunctionFailed(f"splitToMap: {pair!r} has no {separator!r}")
        made[key] = value
    return made


def replace_all_texts(old: str, new: str, text: str) -> str:
    check_text(len(text) + (text.count(old) if old else len(text) + 1) * len(new))
    return text.replace(old, new)


def regex_match(pattern: str, text: str) -> bool:
    check_for_regexp(text)
    try:
        return compile_regexp(pattern).matches(text)
    except BadRegexp as error:
        raise FunctionFailed(str(error)) from error


def regex_replace_all(pattern: str, replacement: str, text: str) -> str:
    check_for_regexp(text)
    try:
        replaced = replace_all(pattern, replacement, text, chars_max=TEXT_CHARS_MAX)
    except BadRegexp as error:
        raise FunctionFailed(str(error)) from error
    if replaced is None:
        raise too_long()
    return replaced


def check_for_regexp(text: str) -> None:
    """Refuse a text that is too long to look through. Raises FunctionFailed."""
    if len(text) > REGEXP_TEXT_CHARS_MAX:
        raise FunctionFailed(f"regular expressions take texts of up to {REGEXP_TEXT_CHARS_MAX} characters")


def to_lower(text: str) -> str:
    return text.lower()


def to_upper(text: str) -> str:
    return text.upper()


def to_title(text: str) -> str:
    """Make the first letter of each word a capital, and leave the others as they are."""
    made, is_start = [], True
    for letter in text:
        made.append(letter.upper() if is_start else letter)
        is_start = not (letter.isalnum() or letter in "_'")
    return "".join(made)


def trim(characters: str, text: str) -> str:
    return text.strip(characters)


def trim_prefix(prefix: str, text: str) -> str:
    return text.removeprefix(prefix)


def trim_suffix(suffix: str, text: str) -> str:
    return text.removesuffix(suffix)


def trim_space(text: str) -> str:
    return text.strip()


def sha256_hex(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def md5sum(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def hmac_sha256_hex(message: str, key: str) -> str:
    return hmac.new(key.encode(), message.encode(), hashlib.sha256).hexdigest()


TEXTS: Mapping[str, Callable[..., Value]] = {
    "base64Decode": base64_decode,
    "base64Encode": base64_encode,
    "base64URLDecode": base64_url_decode,
    "base64URLEncode": base64_url_encode,
    "hmacSHA256Hex": hmac_sha256_hex,
    "indent": indent,
    "join": join,
    "md5sum": md5sum,
    "regexMatch": regex_match,
    "regexReplaceAll": regex_replace_all,
    "replaceAll": replace_all_texts,
    "sha256Hex": sha256_hex,
    "split": split,
    "splitToMap": split_to_map,
    "toLower": to_lower,
    "toTitle": to_title,
    "toUpper": to_upper,
    "trim": trim,
    "trimPrefix": trim_prefix,
    "trimSpace": trim_space,
    "trimSuffix": trim_suffix,
}
