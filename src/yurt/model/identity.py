"""Workload identities: who a task is, to other systems."""

from __future__ import annotations

from yurt.model.wire import Nanoseconds, Wire

DEFAULT_IDENTITY_NAME = "default"
DEFAULT_IDENTITY_AUDIENCE = "nomadproject.io"


class WorkloadIdentity(Wire, frozen=True, kw_only=True):
    """A signed token a task or service gets."""

    name: str = ""
    audience: tuple[str, ...] | None = None
    change_mode: str = ""
    change_signal: str = ""
    env: bool = False
    file: bool = False
    filepath: str = ""
    service_name: str = ""
    ttl: Nanoseconds = 0
    extra_claims: tuple[str, ...] | None = None
