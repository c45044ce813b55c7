"""The processor architecture."""

from __future__ import annotations

import platform

from yurt.agent.fingerprint.facts import Facts, Probe

# uname's names to the ones job files compare with.
_ARCHITECTURES = {
    "x86_64": "amd64",
    "aarch64": "arm64",
    "i386": "386",
    "i686": "386",
    "armv6l": "arm",
    "armv7l": "arm",
    "ppc64le": "ppc64le",
    "riscv64": "riscv64",
    "s390x": "s390x",
}


def fingerprint_arch(_probe: Probe) -> Facts:
    """Name the architecture as Go does."""
    machine = platform.machine()
    return Facts(attributes={"cpu.arch": _ARCHITECTURES.get(machine, machine)})
