"""The functions of sprig on regular expressions, which templates call with the prefix `sprig_`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from yurt.agent.templates.functions.texts import check_for_regexp, regex_match, regex_replace_all
from yurt.agent.templates.language import FunctionFailed
from yurt.agent.templates.language.values import Value
from yurt.model.regexp import BadRegexp
from yurt.model.regexp_replace import find_all

_SPECIAL = frozenset(r"\.+*?()|[]{}^$")


def regex_find(pattern: str, of: str) -> str:
    return next((of[start:end] for start, end in _spans(pattern, of, 1)), "")


def regex_find_all(pattern: str, of: str, count: int) -> list[str]:
    return [of[start:end] for start, end in _spans(pattern, of, count)]


def regex_replace_all_in(pattern: str, of: str, replacement: str) -> str:
    return regex_replace_all(pattern, replacement, of)


def regex_replace_all_literal(pattern: str, of: str, replacement: str) -> str:
    return regex_replace_all(pattern, replacement.replace("$", "$$"), of)


def regex_split(pattern: str, of: str, count: int) -> list[str]:
    """The texts between the matches, at most `count`; all for a negative one, none for 0."""
    if count == 0:
        return []
    if pattern and not of:
        return [""]
    parts: list[str] = []
    begin = end = 0
    for found in _spans(pattern, of, count):
        if 0 < count == len(parts) + 1:
            break
        end = found[0]
        if found[1]:  # a match of nothing at the very start parts nothing
            parts.append(of[begin:end])
        begin = found[1]
    if end != len(of):
        parts.append(of[begin:])
    return parts


def regex_quote_meta(of: str) -> str:
    return "".join(f"\\{letter}" if letter in _SPECIAL else letter for letter in of)


def _spans(pattern: str, of: str, count: int) -> list[tuple[int, int]]:
    check_for_regexp(of)
    try:
        return find_all(pattern, of, at_most=None if count < 0 else count)
    except BadRegexp as error:
        raise FunctionFailed(str(error)) from error


SPRIG_REGEXPS: Mapping[str, Callable[..., Value]] = {
    "mustRegexFind": regex_find,
    "mustRegexFindAll": regex_find_all,
    "mustRegexMatch": regex_match,
    "mustRegexReplaceAll": regex_replace_all_in,
    "mustRegexReplaceAllLiteral": regex_replace_all_literal,
    "mustRegexSplit": regex_split,
    "regexFind": regex_find,
    "regexFindAll": regex_find_all,
    "regexMatch": regex_match,
    "regexQuoteMeta": regex_quote_meta,
    "regexReplaceAll": regex_replace_all_in,
    "regexReplaceAllLiteral": regex_replace_all_literal,
    "regexSplit": regex_split,
}
