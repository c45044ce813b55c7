"""Whether the kernel can confine processes to parts of the file system."""

from __future__ import annotations

import ctypes

from yurt.agent.fingerprint.facts import Facts, Probe

_SYS_LANDLOCK_CREATE_RULESET = 444  # the same number on every architecture
_CREATE_RULESET_VERSION = 1


def fingerprint_landlock(_probe: Probe) -> Facts:
    """Ask the kernel for its Landlock version."""
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(_SYS_LANDLOCK_CREATE_RULESET, None, 0, _CREATE_RULESET_VERSION)
    return Facts(attributes={"kernel.landlock": f"v{version}"} if version > 0 else {})
