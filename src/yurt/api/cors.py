"""Cross-origin requests: which pages may read what, as browsers ask."""

from __future__ import annotations

from starlette.responses import Response

from yurt.api.call import Call


def is_preflight(call: Call) -> bool:
    """Whether a browser asks what it may do."""
    return call.method == "OPTIONS" and "access-control-request-method" in call.headers


def preflight_response(call: Call, methods: tuple[str, ...]) -> Response:
    """Allow what was asked for if its method is one of `methods`; any origin and header will do."""
    response = Response(status_code=204)
    response.headers["Vary"] = "Accept-Encoding"
    for name in ("Origin", "Access-Control-Request-Method", "Access-Control-Request-Headers"):
        response.headers.append("Vary", name)
    wanted = call.headers["access-control-request-method"]
    if "origin" in call.headers and wanted in methods:
        response.headers["Access-Control-Allow-Origin"] = "*"
        response.headers["Access-Control-Allow-Methods"] = wanted
        asked = call.headers.get("access-control-request-headers", "")
        if asked:
            response.headers["Access-Control-Allow-Headers"] = asked
        response.headers["Access-Control-Allow-Credentials"] = "true"
    return response


def allow_origin(call: Call, response: Response) -> None:
    """Let pages of any origin read the response."""
    response.headers.append("Vary", "Origin")
    if "origin" in call.headers:
        response.headers["Access-Control-Allow-Origin"] = "*"
        response.headers["Access-Control-Allow-Credentials"] = "true"
