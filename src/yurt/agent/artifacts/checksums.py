"""Whether a file is the one that was meant."""

from __future__ import annotations

import hashlib
import re

import msgspec

from yurt.agent.artifacts.errors import FetchFailed

# What Go calls the type of each hash, which ends the text of a mismatch.
_GO_TYPES = {
    "md5": "*md5.digest",
    "sha1": "*sha1.digest",
    "sha256": "*sha256.Digest",
    "sha512": "*sha512.Digest",
}
_DIGITS = {"md5": 32, "sha1": 40, "sha256": 64, "sha512": 128}
FILE_PREFIX = "file:"
_BSD = re.compile(r"(\w+) \((.+)\) = ([0-9A-Fa-f]+)")
_GNU = re.compile(r"([0-9A-Fa-f]+)(?:\s+[ *]?(.+))?")


class Checksum(msgspec.Struct, frozen=True):
    """What a file must hash to."""

    kind: str
    expected: str


def read_checksum(text: str) -> Checksum:
    """Read `type:hex`, or plain digits whose number tells the type. Raises FetchFailed."""
    kind, colon, digits = text.partition(":")
    if not colon:
        digits = text
        kind = next((name for name, count in _DIGITS.items() if count == len(text)), "")
    if kind not in _DIGITS:
        raise FetchFailed(
            f"invalid checksum {text!r}: write it as type:hex, with one of {', '.join(_DIGITS)}"
        )
    if len(digits) != _DIGITS[kind] or not re.fullmatch("[0-9A-Fa-f]+", digits):
        raise FetchFailed(f"invalid checksum {text!r}: {kind} has {_DIGITS[kind]} hexadecimal digits")
    return Checksum(kind, digits.lower())


def find_checksum(listing: str, filename: str) -> Checksum:
    """Find a file's checksum in a listing as `sha256sum` writes it. Raises FetchFailed."""
    for line in listing.splitlines():
        bsd = _BSD.fullmatch(line.strip())
        if bsd is not None and _same_name(bsd[2], filename):
            return read_checksum(f"{bsd[1].lower()}:{bsd[3]}")
        gnu = _GNU.fullmatch(line.strip())
        if gnu is not None and (gnu[2] is None or _same_name(gnu[2], filename)):
            return read_checksum(gnu[1])
    raise FetchFailed(f"no checksum found for {filename!r} in the checksum file")


def _same_name(listed: str, filename: str) -> bool:
    return listed.removeprefix("./").rpartition("/")[2] == filename


def verify(path: str, checksum: Checksum, *, shown_path: str) -> None:
    """Check a file. Blocks for as long as reading takes. Raises FetchFailed, naming `shown_path`."""
    with open(path, "rb") as file:
        found = hashlib.file_digest(
            file, lambda: hashlib.new(checksum.kind, usedforsecurity=False)
        ).hexdigest()
    if found != checksum.expected:
        raise FetchFailed(
            f"Checksums did not match for {shown_path}.\nExpected: {checksum.expected}\nGot: {found}\n"
            f"{_GO_TYPES[checksum.kind]}"
        )
