"""Which pages a browser may carry a request for."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from urllib.parse import urlsplit

FOREIGN_PAGE = (
    "a page of another site asks for this; without acl.enabled only pages of this agent may change things "
    "through a browser"
)


def is_foreign_page(headers: Mapping[str, str], *, asked_at: str) -> bool:
    """Whether a page of another site asks; `asked_at` is the address that the request came in on.

    Programs send neither `Origin` nor `Sec-Fetch-Site`; browsers do, and pages cannot change them.
    """
    origin, site = headers.get("origin", ""), headers.get("sec-fetch-site", "")
    if not origin and not site:
        return False
    if site in ("cross-site", "same-site"):
        return True
    host = headers.get("host", "")
    if origin and urlsplit(origin).netloc.lower() != host.lower():
        return True
    # A stranger's name that was made to point here (DNS rebinding) looks like our own. On the loopback
    # address nobody is reached by a name that a stranger could have.
    return _is_loopback(asked_at) and not _is_local_name(urlsplit(f"//{host}").hostname or "")


def _is_local_name(name: str) -> bool:
    return _address(name) is not None or "." not in name or name.endswith(".localhost")


def _is_loopback(host: str) -> bool:
    address = _address(host)
    return address is not None and address.is_loopback


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
