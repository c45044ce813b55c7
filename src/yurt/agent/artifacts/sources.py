"""What an artifact's source means: how to get it, and what to do with it then."""

from __future__ import annotations

import posixpath
import re
import urllib.parse
from collections.abc import Mapping

import msgspec

from yurt.agent.artifacts.errors import FetchFailed

HTTP = "http"
GIT = "git"
FILE = "file"

MODE_ANY = "any"
MODE_FILE = "file"
MODE_DIR = "dir"

# The longest first: a `.tar.gz` is no `.gz`.
ARCHIVE_KINDS = (
    *("tar.gz", "tar.bz2", "tar.xz", "tar.zst"),
    *("tgz", "tbz2", "txz", "tzst", "tar", "zip", "gz", "bz2", "xz", "zst"),
)
_OPTIONS = ("archive", "checksum", "filename")
_GIT_OPTIONS = ("ref", "depth", "sshkey")
NO_ARCHIVE = ("false", "0")

_FORCED = re.compile(r"([A-Za-z0-9]+)::(.+)", re.DOTALL)
_SCP = re.compile(r"(?:([^@/:]+)@)?([^/:]+\.[^/:]+):(?!//)(.+)")
_HOSTED = re.compile(r"(github\.com|gitlab\.com|bitbucket\.org)/[^/]+/[^/]+")
_UNKNOWN_HOSTS = re.compile(r"[^/]*(?:s3[^/]*\.amazonaws\.com|googleapis\.com)/")


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """Where an artifact is and how it is got.

    `archive` is the kind of archive it is, empty for none; `subdir` the part of it that is wanted.
    """

    getter: str
    url: str
    subdir: str = ""
    archive: str = ""
    checksum: str = ""
    filename: str = ""
    ref: str = ""
    depth: int = 0
    ssh_key: str = ""

    @property
    def name(self) -> str:
        """What a single file is called."""
        path = urllib.parse.unquote(urllib.parse.urlsplit(self.url).path)
        return self.filename or posixpath.basename(path.rstrip("/"))


def read_source(text: str, options: Mapping[str, str]) -> Source:
    """Read a source with its options, which are part of its query, too. Raises FetchFailed."""
    forced = _FORCED.fullmatch(text)
    kind, rest = (forced[1], forced[2]) if forced else ("", text)
    rest, kind = _detected(rest, kind)
    base, subdir = _without_subdir(rest)
    parts = urllib.parse.urlsplit(base)
    getter = _getter(kind, parts.scheme, text)
    query = dict(urllib.parse.parse_qsl(parts.query, keep_blank_values=True)) | dict(options)
    own = {
        name: query.pop(name, "")
        for name in (
            "archive",
            "checksum",
            "filename",
            *(("ref", "depth", "sshkey") if getter == GIT else ()),
        )
    }
    url = urllib.parse.urlunsplit(parts._replace(query=urllib.parse.urlencode(query)))
    return Source(
        getter=getter,
        url=url,
        subdir=subdir,
        archive="" if getter == GIT else _archive(own["archive"], parts.path),
        checksum=own["checksum"],
        filename=_plain_name(own["filename"]),
        ref=_not_an_option("ref", own.get("ref", "")),
        depth=_depth(own.get("depth", "")),
        ssh_key=own.get("sshkey", ""),
    )


def _detected(text: str, kind: str) -> tuple[str, str]:
    """Write short forms in full: hosted repositories, and `user@host:path`."""
    if "://" in text:
        return text, kind
    if _HOSTED.match(text):
        path, query = _split_query(text)
        base, subdir = _hosted_parts(path)
        suffix = "" if base.endswith(".git") else ".git"
        return f"https://{base}{suffix}{subdir}{query}", kind or GIT
    if _UNKNOWN_HOSTS.match(text):
        return f"https://{text}", kind or "s3"
    scp = _SCP.fullmatch(text)
    if scp is not None:
        user = f"{scp[1]}@" if scp[1] else ""
        return f"ssh://{user}{scp[2]}/{scp[3]}", kind or GIT
    if text.startswith("/"):
        return f"file://{text}", kind
    raise FetchFailed(f"{text!r} is no source of an artifact; write a URL such as https://host/file")


def _split_query(text: str) -> tuple[str, str]:
    path, mark, query = text.partition("?")
    return path, mark + query


def _hosted_parts(path: str) -> tuple[str, str]:
    """Split `host/org/repo/sub` into the repository and `//sub`."""
    parts = path.replace("//", "/").split("/")
    subdir = "/".join(parts[3:])
    return "/".join(parts[:3]), f"//{subdir}" if subdir else ""


def _without_subdir(url: str) -> tuple[str, str]:
    """Take `//sub/dir` out of a URL's path."""
    path, query = _split_query(url)
    scheme, mark, rest = path.partition("://")
    base, slashes, subdir = rest.partition("//")
    if scheme == FILE and not base:
        # An absolute path may begin with as many slashes as it likes.
        return url, ""
    if not slashes:
        return url, ""
    clean = posixpath.normpath(subdir)
    if clean == ".." or clean.startswith(("../", "/")):
        raise FetchFailed(f"subdirectory {subdir!r} leads out of the artifact")
    return f"{scheme}{mark}{base}{query}", "" if clean == "." else clean


def _getter(kind: str, scheme: str, text: str) -> str:
    if kind == GIT or (not kind and scheme in ("git", "ssh")):
        if scheme not in ("http", "https", "ssh", "git", "file"):
            raise FetchFailed(f"git cannot get {text!r}; use https:// or ssh://")
        return GIT
    if kind in ("", "http", "https") and scheme in ("http", "https"):
        return HTTP
    if kind in ("", FILE) and scheme == FILE:
        return FILE
    raise FetchFailed(
        f'download not supported for scheme "{kind or scheme}"; this node gets http, https and git sources'
    )


def _archive(wanted: str, path: str) -> str:
    if wanted.lower() in NO_ARCHIVE:
        return ""
    if wanted:
        if wanted not in ARCHIVE_KINDS:
            raise FetchFailed(f"unknown archive type {wanted!r}; it is one of {', '.join(ARCHIVE_KINDS)}")
        return wanted
    return next((kind for kind in ARCHIVE_KINDS if path.endswith(f".{kind}")), "")


def _plain_name(name: str) -> str:
    if "/" in name or name in (".", ".."):
        raise FetchFailed(
            f"filename {name!r} must be a name, not a path; use the destination for directories"
        )
    return name


def _depth(text: str) -> int:
    if not text:
        return 0
    if not (text.isascii() and text.isdigit()):
        raise FetchFailed(f"depth {text!r} must be a number")
    return int(text)


def _not_an_option(name: str, value: str) -> str:
    if value.startswith("-"):
        raise FetchFailed(f"{name} {value!r} cannot begin with a dash")
    return value
