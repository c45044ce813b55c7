"""What tasks read about names: resolv.conf and hosts."""

from __future__ import annotations

from collections.abc import Iterable

from yurt.model.resources import DNSConfig

_LOOPBACK = (
    "127.0.0.1 localhost",
    "::1 localhost",
    "::1 ip6-localhost ip6-loopback",
    "fe00::0 ip6-localnet",
    "ff00::0 ip6-mcastprefix",
    "ff02::1 ip6-allnodes",
    "ff02::2 ip6-allrouters",
)


def resolv_conf(wanted: DNSConfig, host: str) -> str:
    """The text of a resolv.conf; what `wanted` leaves out is as in the `host`'s own text."""
    found = _parse(host)
    servers = wanted.servers or found["nameserver"]
    searches = wanted.searches or found["search"]
    options = wanted.options or found["options"]
    lines = [f"search {' '.join(searches)}"] if searches else []
    lines += [f"nameserver {server}" for server in servers]
    lines += [f"options {' '.join(options)}"] if options else []
    return "".join(f"{line}\n" for line in lines)


def hosts(address: str, hostname: str, extra: Iterable[str]) -> str:
    """The text of a hosts file: loopback, the task's own name, then `extra` as `name:address`."""
    lines = list(_LOOPBACK)
    if address and hostname:
        lines.append(f"{address} {hostname}")
    for entry in extra:
        name, _, at = entry.partition(":")
        lines.append(f"{at.strip('[]')} {name}")
    return "".join(f"{line}\n" for line in lines)


def _parse(text: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {"nameserver": [], "search": [], "options": []}
    for line in text.splitlines():
        keyword, *values = line.partition("#")[0].partition(";")[0].split() or [""]
        if keyword == "nameserver":
            found[keyword] += values[:1]
        elif keyword in ("search", "domain"):
            found["search"] = values  # the last of them holds
        elif keyword == "options":
            found[keyword] += values
    return found
