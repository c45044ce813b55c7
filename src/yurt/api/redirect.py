"""Redirects, worded as clients know them."""

from __future__ import annotations

from starlette.responses import Response


def redirect(target: str, query: str = "") -> Response:
    """Send the caller to another path of this server, with the query it came with."""
    location = f"{target}?{query}" if query else target
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
