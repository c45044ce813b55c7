"""The functions of sprig on paths and URLs, which templates call with the prefix `sprig_`."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping
from urllib.parse import SplitResult, quote, urlsplit

from yurt.agent.templates.language import FunctionFailed
from yurt.agent.templates.language.values import Value

_PATH_SAFE = "/:@!$&'()*+,;=~-._%"


def base(path: str) -> str:
    if not path:
        return "."
    return path.rstrip("/").rpartition("/")[2] or "/"


def clean(path: str) -> str:
    made = posixpath.normpath(path)
    # POSIX lets two leading slashes stand for themselves; Go does not.
    return f"/{made.lstrip('/')}" if made.startswith("/") else made


def dirname(path: str) -> str:
    return clean(path.rpartition("/")[0] + "/" if "/" in path else "")


def ext(path: str) -> str:
    name = path.rpartition("/")[2]
    dot = name.rfind(".")
    return name[dot:] if dot >= 0 else ""


def is_abs(path: str) -> bool:
    return path.startswith("/")


def url_parse(url: str) -> dict[str, Value]:
    """The parts of a URL by their names."""
    try:
        parts = urlsplit(url)
        hostname = parts.hostname or ""
        _ = parts.port
    except ValueError as error:
        raise FunctionFailed(f"unable to parse url: {error}") from error
    user, _, host = parts.netloc.rpartition("@")
    is_opaque = (
        bool(parts.scheme) and not parts.netloc and bool(parts.path) and not parts.path.startswith("/")
    )
    return {
        "fragment": parts.fragment,
        "host": host,
        "hostname": hostname,
        "opaque": parts.path if is_opaque else "",
        "path": "" if is_opaque else parts.path,
        "query": parts.query,
        "scheme": parts.scheme,
        "userinfo": user,
    }


def url_join(parts: dict[str, Value]) -> str:
    """A URL from the parts that `urlParse` gives."""

    def part(name: str) -> str:
        value = parts.get(name, "")
        if not isinstance(value, str):
            raise FunctionFailed(f"unable to parse {name} key, must be of type string")
        return value

    user, host, path = part("userinfo"), part("host"), part("path")
    if opaque := part("opaque"):
        return f"{part('scheme')}:{opaque}"
    netloc = f"{user}@{host}" if user else host
    if netloc and path and not path.startswith("/"):
        path = f"/{path}"
    return SplitResult(
        part("scheme"), netloc, quote(path, safe=_PATH_SAFE), part("query"), part("fragment")
    ).geturl()


SPRIG_PATHS: Mapping[str, Callable[..., Value]] = {
    "base": base,
    "clean": clean,
    "dir": dirname,
    "ext": ext,
    "isAbs": is_abs,
    "osBase": base,
    "osClean": clean,
    "osDir": dirname,
    "osExt": ext,
    "osIsAbs": is_abs,
    "urlJoin": url_join,
    "urlParse": url_parse,
}
