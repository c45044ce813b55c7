"""Durations and sizes as configuration files write them."""

import re

_DURATION_PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)")
_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgtp]?)(i?)b?", re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}

_NANOSECONDS = 1_000_000_000


def parse_duration(text: str) -> float:
    """Read a duration such as `1h30m` or `250ms` as seconds. Raises ValueError for other text."""
    if text == "0":
        return 0.0
    total, at = 0.0, 0
    while part := _DURATION_PART.match(text, at):
        total += float(part[1]) * _SECONDS[part[2]]
        at = part.end()
    if not at or at != len(text):
        raise ValueError(f"{text!r} is not a duration")
    return total


def duration_text(seconds: float) -> str:
    """Write seconds the way people write them in a configuration file: `5m`, `1h30m`, `250ms`."""
    rest = nanoseconds(seconds)
    if rest and rest < _NANOSECONDS:
        unit, name = next((u, n) for u, n in ((1_000_000, "ms"), (1_000, "us"), (1, "ns")) if not rest % u)
        return f"{rest // unit}{name}"
    parts = []
    for unit, name in ((3600 * _NANOSECONDS, "h"), (60 * _NANOSECONDS, "m")):
        count, rest = divmod(rest, unit)
        parts += [f"{count}{name}"] if count else []
    if rest or not parts:
        whole, fraction = divmod(rest, _NANOSECONDS)
        parts.append(f"{whole}.{fraction:09d}".rstrip("0") + "s" if fraction else f"{whole}s")
    return "".join(parts)


def nanoseconds(seconds: float) -> int:
    """Seconds as the API counts them."""
    return round(seconds * _NANOSECONDS)


def parse_size(text: str) -> int:
    """Read a size such as `100GB` (powers of 1000) or `1MiB` (powers of 1024) as bytes. Raises ValueError."""
    size = _SIZE.fullmatch(text.strip())
    if size is None:
        raise ValueError(f"{text!r} is not a size")
    base = 1024 if size[3] else 1000
    return int(float(size[1]) * base ** _POWERS[size[2].lower()])


def size_text(size_bytes: int) -> str:
    """Write bytes with the largest decimal unit that loses nothing: `100GB`, `1M` is `1MB`."""
    for unit, name in ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if size_bytes and not size_bytes % unit:
            return f"{size_bytes // unit}{name}"
    return str(size_bytes)
