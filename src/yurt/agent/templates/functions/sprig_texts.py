"""The functions of sprig on texts, which templates call with the prefix `sprig_`."""

from __future__ import annotations

import base64
import binascii
import hashlib
import zlib
from collections.abc import Callable, Mapping

from yurt.agent.templates.functions import texts
from yurt.agent.templates.functions.limits import check_items, check_text
from yurt.agent.templates.language import FunctionFailed
from yurt.agent.templates.language.text import text_of
from yurt.agent.templates.language.values import Value
from yurt.model.go_text import quoted


def text(value: Value) -> str:
    """Any value as text; bytes are text already."""
    return value.decode(errors="replace") if isinstance(value, bytes) else text_of(value)


def trunc(length: int, of: str) -> str:
    """The first characters, or the last for a negative length."""
    if length < 0:
        return of[length:] if len(of) + length > 0 else of
    return of[:length]


def substr(start: int, end: int, of: str) -> str:
    if start < 0:
        return of[:end]
    return of[start:] if end < 0 or end > len(of) else of[start:end]


def repeat(count: int, of: str) -> str:
    check_text(max(0, count) * len(of))
    return of * max(0, count)


def replace(old: str, new: str, of: str) -> str:
    return texts.replace_all_texts(old, new, of)


def quote(*values: Value) -> str:
    return " ".join(quoted(text(value)) for value in values if value is not None)


def squote(*values: Value) -> str:
    return " ".join(f"'{text(value)}'" for value in values if value is not None)


def cat(*values: Value) -> str:
    return " ".join(text(value) for value in values if value is not None)


def indent(spaces: int, of: str) -> str:
    check_text(max(0, spaces) * (of.count("\n") + 1) + len(of))
    pad = " " * max(0, spaces)
    return pad + of.replace("\n", "\n" + pad)


def nindent(spaces: int, of: str) -> str:
    return "\n" + indent(spaces, of)


def nospace(of: str) -> str:
    return "".join(of.split())


def untitle(of: str) -> str:
    return of[:1].lower() + of[1:]


def join(separator: str, values: Value) -> str:
    listed = values if isinstance(values, list | range) else [] if values is None else [values]
    return texts.join(separator, [text(item) for item in listed])


def split_list(separator: str, of: str) -> list[str]:
    check_items(of.count(separator) if separator else len(of))
    return of.split(separator) if separator else list(of)


def split(separator: str, of: str) -> dict[str, Value]:
    return {f"_{number}": part for number, part in enumerate(split_list(separator, of))}


def contains(part: str, of: str) -> bool:
    return part in of


def has_prefix(prefix: str, of: str) -> bool:
    return of.startswith(prefix)


def has_suffix(suffix: str, of: str) -> bool:
    return of.endswith(suffix)


def b64dec(of: str) -> str:
    try:
        return base64.b64decode(of, validate=True).decode(errors="replace")
    except (binascii.Error, ValueError) as error:
        return str(error)


def b32dec(of: str) -> str:
    try:
        return base64.b32decode(of).decode(errors="replace")
    except (binascii.Error, ValueError) as error:
        return str(error)


def b32enc(of: str) -> str:
    return base64.b32encode(of.encode()).decode()


def adler32sum(of: str) -> str:
    return str(zlib.adler32(of.encode()))


def hello() -> str:
    return "Hello!"


def sha1sum(of: str) -> str:
    return hashlib.sha1(of.encode(), usedforsecurity=False).hexdigest()


def sha512sum(of: str) -> str:
    return hashlib.sha512(of.encode()).hexdigest()


def plural(one: str, many: str, count: int) -> str:
    return one if count == 1 else many


def fail(message: str) -> str:
    raise FunctionFailed(message)


def trim_all(characters: str, of: str) -> str:
    return of.strip(characters)


SPRIG_TEXTS: Mapping[str, Callable[..., Value]] = {
    "adler32sum": adler32sum,
    "b32dec": b32dec,
    "b32enc": b32enc,
    "b64dec": b64dec,
    "b64enc": texts.base64_encode,
    "cat": cat,
    "contains": contains,
    "fail": fail,
    "hasPrefix": has_prefix,
    "hasSuffix": has_suffix,
    "hello": hello,
    "indent": indent,
    "join": join,
    "lower": texts.to_lower,
    "nindent": nindent,
    "nospace": nospace,
    "plural": plural,
    "quote": quote,
    "repeat": repeat,
    "replace": replace,
    "sha1sum": sha1sum,
    "sha256sum": texts.sha256_hex,
    "sha512sum": sha512sum,
    "split": split,
    "splitList": split_list,
    "squote": squote,
    "substr": substr,
    "title": texts.to_title,
    "toString": text,
    "trim": texts.trim_space,
    "trimAll": trim_all,
    "trimall": trim_all,
    "trimPrefix": texts.trim_prefix,
    "trimSuffix": texts.trim_suffix,
    "trunc": trunc,
    "untitle": untitle,
    "upper": texts.to_upper,
}
