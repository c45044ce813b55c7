"""Sets of ports written as text: `22,80,9000-9010`."""

from __future__ import annotations

from functools import lru_cache

PORT_MAX = 65535
# Nodes of one fleet reserve the same ports, so few texts are ever read.
RANGES_KEPT_MAX = 1024


@lru_cache(maxsize=RANGES_KEPT_MAX)
def parse_ports(text: str) -> frozenset[int] | None:
    """Read a set of ports; None if the text is none."""
    ports: set[int] = set()
    for part in text.split(",") if text.strip() else ():
        first, dash, last = part.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            return None
        low, high = int(first), int(last) if dash else int(first)
        if not 0 <= low <= high <= PORT_MAX:
            return None
        ports.update(range(low, high + 1))
    return frozenset(ports)
