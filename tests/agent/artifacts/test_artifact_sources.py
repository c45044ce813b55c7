"""Sources and checksums are read as job files write them."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from yurt.agent.artifacts.checksums import Checksum, find_checksum, read_checksum, verify
from yurt.agent.artifacts.errors import FetchFailed
from yurt.agent.artifacts.sources import Source, read_source


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("https://h/x.tar.gz", {}, Source(getter="http", url="https://h/x.tar.gz", archive="tar.gz")),
        ("http://h/x.txt?a=1&b=", {}, Source(getter="http", url="http://h/x.txt?a=1&b=")),
        ("http://h/x", {"archive": "zip"}, Source(getter="http", url="http://h/x", archive="zip")),
        ("http://h/x.zip", {"archive": "false"}, Source(getter="http", url="http://h/x.zip")),
        (
            "http://h/x.zip//sub/dir?checksum=md5:1",
            {"filename": "y"},
            Source(
                getter="http",
                url="http://h/x.zip",
                archive="zip",
                subdir="sub/dir",
                checksum="md5:1",
                filename="y",
            ),
        ),
        (
            "git::https://h/r.git?ref=v1&depth=2",
            {},
            Source(getter="git", url="https://h/r.git", ref="v1", depth=2),
        ),
        (
            "git::ssh://git@h/r.git",
            {"sshkey": "k"},
            Source(getter="git", url="ssh://git@h/r.git", ssh_key="k"),
        ),
        ("git@github.com:org/repo.git", {}, Source(getter="git", url="ssh://git@github.com/org/repo.git")),
        (
            "github.com/org/repo",
            {"ref": "x"},
            Source(getter="git", url="https://github.com/org/repo.git", ref="x"),
        ),
        ("gitlab.com/o/r.git//a", {}, Source(getter="git", url="https://gitlab.com/o/r.git", subdir="a")),
        (
            "bitbucket.org/o/r/a/b",
            {},
            Source(getter="git", url="https://bitbucket.org/o/r.git", subdir="a/b"),
        ),
        ("/srv/x.txt", {}, Source(getter="file", url="file:///srv/x.txt")),
    ],
)
def test_sources(text: str, options: dict[str, str], expected: Source) -> None:
    assert read_source(text, options) == expected


@pytest.mark.parametrize(
    ("text", "options", "problem"),
    [
        ("s3::https://s3.amazonaws.com/b/k", {}, 'scheme "s3"'),
        ("bucket.s3.amazonaws.com/k", {}, 'scheme "s3"'),
        ("hg::https://h/r", {}, 'scheme "hg"'),
        ("ftp://h/x", {}, 'scheme "ftp"'),
        ("x.txt", {}, "no source"),
        ("git::ext::sh -c id", {}, "no source|git cannot"),
        ("https://h/x//../../y", {}, "leads out"),
        ("https://h/x", {"archive": "rar"}, "unknown archive type"),
        ("https://h/x", {"filename": "../y"}, "must be a name"),
        ("github.com/o/r", {"ref": "--upload-pack=x"}, "cannot begin with a dash"),
        ("github.com/o/r", {"depth": "x"}, "must be a number"),
    ],
)
def test_bad_sources(text: str, options: dict[str, str], problem: str) -> None:
    with pytest.raises(FetchFailed, match=problem):
        read_source(text, options)


@pytest.mark.parametrize(
    ("url", "name"),
    [("http://h/a/b.txt", "b.txt"), ("http://h/a%20b?x=/y", "a b"), ("http://h/", ""), ("http://h", "")],
)
def test_names_of_files(url: str, name: str) -> None:
    assert read_source(url, {}).name == name


def test_checksums(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"hello")
    for kind in ("md5", "sha1", "sha256", "sha512"):
        digits = hashlib.new(kind, b"hello").hexdigest()
        assert read_checksum(digits.upper()) == read_checksum(f"{kind}:{digits}") == Checksum(kind, digits)
        verify(str(path), Checksum(kind, digits), shown_path="f")
        with pytest.raises(FetchFailed, match=r"Checksums did not match for shown\.\nExpected: 00"):
            verify(str(path), Checksum(kind, "00"), shown_path="shown")


@pytest.mark.parametrize("text", ["sha256:zz", "sha3:00", "md5:" + "g" * 32, "", "abc"])
def test_bad_checksums(text: str) -> None:
    with pytest.raises(FetchFailed, match="invalid checksum"):
        read_checksum(text)


def test_checksums_in_listings() -> None:
    one, two = "0" * 64, "1" * 64
    listing = f"{one}  other.txt\n{two} *./dir/f.txt\nSHA256 (bsd.txt) = {one}\n"

    assert find_checksum(listing, "f.txt") == Checksum("sha256", two)
    assert find_checksum(listing, "bsd.txt") == Checksum("sha256", one)
    assert find_checksum(f"{one}\n", "whatever") == Checksum("sha256", one)
    with pytest.raises(FetchFailed, match="no checksum found"):
        find_checksum(listing, "none.txt")
