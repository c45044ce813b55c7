"""Strings as sequences of characters people see (grapheme clusters).

Python has no segmentation tables; this covers combining marks, joiners, variation selectors, emoji
modifiers, flags, Hangul syllables written as letters and CR LF, which is what job files meet.
"""

import unicodedata

_ZERO_WIDTH_JOINER = "\u200d"
_FIRST_COMBINING = "\u0300"
_EXTENDING = frozenset({"Mn", "Me", "Mc"})
_SKIN_TONES = range(0x1F3FB, 0x1F400)
_REGIONAL_INDICATORS = range(0x1F1E6, 0x1F200)
_HANGUL_LEADING = range(0x1100, 0x1160)
_HANGUL_FOLLOWING = range(0x1160, 0x1200)


def grapheme_count(text: str) -> int:
    """Number of visible characters of `text`."""
    return len(text) if _is_simple(text) else len(graphemes(text))


def graphemes(text: str) -> list[str]:
    """The visible characters of `text`, in order; joined they give `text`."""
    if _is_simple(text):
        return list(text)
    clusters: list[str] = []
    for char in text:
        if clusters and _continues(clusters[-1], char):
            clusters[-1] += char
        else:
            clusters.append(char)
    return clusters


def _is_simple(text: str) -> bool:
    """Whether every code point is a character of its own."""
    return (text.isascii() or max(text) < _FIRST_COMBINING) and "\r" not in text


def _continues(cluster: str, char: str) -> bool:
    last, code = cluster[-1], ord(char)
    if last == "\r":
        return char == "\n"
    if last < " " or char < " ":
        return False
    if char == _ZERO_WIDTH_JOINER or code in _SKIN_TONES or unicodedata.category(char) in _EXTENDING:
        return True
    if last == _ZERO_WIDTH_JOINER:
        return unicodedata.category(char) == "So"
    if code in _REGIONAL_INDICATORS:
        return len(cluster) == 1 and ord(last) in _REGIONAL_INDICATORS
    return code in _HANGUL_FOLLOWING and (ord(last) in _HANGUL_LEADING or ord(last) in _HANGUL_FOLLOWING)
