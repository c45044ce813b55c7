"""Certificates for tests, made by the commands that users make them with."""

from __future__ import annotations

import ssl
import subprocess
import sys
from pathlib import Path

import msgspec

_YURT = Path(sys.executable).parent / "yurt"


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """A certificate and its key."""

    certificate: Path
    key: Path


class Certificates:
    """An authority in a directory of its own, and what it signs."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._directory = directory
        self.authority = directory / "nomad-agent-ca.pem"
        _yurt(directory, "tls", "ca", "create")

    def make(self, kind: str, *flags: str) -> Pair:
        """Make a certificate of the `kind` server, client or cli."""
        stem = f"global-{kind}-nomad"
        for name in (f"{stem}.pem", f"{stem}-key.pem"):
            (self._directory / name).unlink(missing_ok=True)
        _yurt(self._directory, "tls", "cert", "create", f"-{kind}", *flags)
        return Pair(certificate=self._directory / f"{stem}.pem", key=self._directory / f"{stem}-key.pem")

    def block(self, pair: Pair, more: str = "") -> str:
        """The `tls` block of an agent that uses `pair`."""
        return f"""
tls {{
  http      = true
  rpc       = true
  ca_file   = "{self.authority}"
  cert_file = "{pair.certificate}"
  key_file  = "{pair.key}"
  verify_server_hostname = true
  {more}
}}
"""

    def context(self, pair: Pair | None = None) -> ssl.SSLContext:
        """What a caller that believes the authority connects with, with `pair` if given."""
        context = ssl.create_default_context(cafile=str(self.authority))
        if pair is not None:
            context.load_cert_chain(pair.certificate, pair.key)
        return context


def _yurt(directory: Path, *arguments: str) -> None:
    subprocess.run([str(_YURT), *arguments], cwd=directory, check=True, capture_output=True)
