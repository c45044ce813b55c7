"""Redirects, worded as clients know them."""

from __future__ import annotations

from urllib.parse import quote

from starlette.responses import Response

# What may stand in a path as it is.
_PATH_SAFE = "/!$&'()*+,;=:@-._~"


def redirect(target: str, query: str = "") -> Response:
    """Send the caller to another path of this server, with the query it came with."""
    # The path comes decoded: unquoted, a line break in it would end the header.
    path = quote(target, safe=_PATH_SAFE)
    location = f"{path}?{query}" if query else path
    return Response(
        f'<a href="{_escaped(location)}">Temporary Redirect</a>.\n\n',
        status_code=307,
        headers={
            "Location": location,
            "Content-Type": "text/html; charset=utf-8",
            "Vary": "Accept-Encoding",
        },
    )


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&#34;")
