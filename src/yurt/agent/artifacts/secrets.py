"""What of an artifact must not be shown: passwords, signatures and keys that came with it."""

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Iterator, Mapping

HIDDEN = "xxxxx"

_SECRET_NAME = re.compile(
    r"(?i)secret|token|passw|signature|credential|sshkey|api.?key|access.?key|^sig$|auth"
)
# Shorter texts would be found everywhere.
_SECRET_CHARS_MIN = 4


def without_secrets(text: str, source: str, *, options: Mapping[str, str], headers: Mapping[str, str]) -> str:
    """A text about an artifact, without what would let its reader have the artifact."""
    found = {*_in_url(source), *_in_pairs(options), *headers.values()}
    for secret in sorted(found, key=len, reverse=True):
        if len(secret) >= _SECRET_CHARS_MIN:
            text = text.replace(secret, HIDDEN)
    return text


def _in_url(source: str) -> Iterator[str]:
    authority = re.search(r"//([^/?#@]*)@", source)
    if authority is not None and ":" in authority[1]:
        password = authority[1].partition(":")[2]
        yield from (password, urllib.parse.unquote(password))
    query = source.partition("?")[2]
    for pair in query.split("&"):
        name, _, value = pair.partition("=")
        if _SECRET_NAME.search(name):
            yield from (value, urllib.parse.unquote_plus(value), urllib.parse.quote_plus(value))


def _in_pairs(options: Mapping[str, str]) -> Iterator[str]:
    for name, value in options.items():
        if _SECRET_NAME.search(name):
            yield from (value, urllib.parse.quote_plus(value))
