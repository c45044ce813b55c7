"""An image whose only program waits for ever, made here so that no registry is needed for it.

A container of it holds a network namespace for others. The program is a few instructions long, which is
easier to carry along than to fetch.
"""

from __future__ import annotations

import io
import platform
import struct
import tarfile
from collections.abc import AsyncIterator

REPOSITORY, TAG = "yurt-pause", "1"
NAME = f"{REPOSITORY}:{TAG}"
_PROGRAM = "pause"
# For each machine: its number in ELF files, and `for (;;) wait for a signal` in its instructions.
_MACHINES = {
    # mov eax, 34 (pause); syscall; jmp back
    "x86_64": (62, bytes.fromhex("b8220000000f05ebf7")),
    # mov x0..x3, #0; mov x8, #73 (ppoll); svc #0; b back
    "aarch64": (
        183,
        bytes.fromhex("000080d2010080d2020080d2030080d2280980d2010000d4faffff17"),
    ),
}
ENTRYPOINT = f'ENTRYPOINT ["/{_PROGRAM}"]'
_BASE = 0x400000
_ELF_HEADER, _PROGRAM_HEADER = "<16sHHIQQQIHHHHHH", "<IIQQQQQQ"
_HEADERS_BYTES = struct.calcsize(_ELF_HEADER) + struct.calcsize(_PROGRAM_HEADER)


def is_possible() -> bool:
    """Whether the program is known for this machine."""
    return platform.machine() in _MACHINES


async def chunks() -> AsyncIterator[bytes]:
    """The image's files as a tar archive."""
    yield archive(platform.machine())


def archive(machine: str) -> bytes:
    """A root file system with nothing but the program for `machine`, which must be a known one."""
    program = _elf(*_MACHINES[machine])
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as files:
        entry = tarfile.TarInfo(_PROGRAM)
        entry.size, entry.mode = len(program), 0o555
        files.addfile(entry, io.BytesIO(program))
    return buffer.getvalue()


def _elf(machine: int, code: bytes) -> bytes:
    """A program of one segment that begins with its headers and runs `code`."""
    size = _HEADERS_BYTES + len(code)
    # 64 bit, little-endian, version 1; then: executable file, entry point, where the headers are.
    identity = b"\x7fELF" + bytes((2, 1, 1)) + bytes(9)
    header = struct.pack(
        _ELF_HEADER,
        *(identity, 2, machine, 1, _BASE + _HEADERS_BYTES, struct.calcsize(_ELF_HEADER), 0, 0),
        *(struct.calcsize(_ELF_HEADER), struct.calcsize(_PROGRAM_HEADER), 1, 0, 0, 0),
    )
    readable_executable = 5
    segment = struct.pack(_PROGRAM_HEADER, 1, readable_executable, 0, _BASE, _BASE, size, size, 0x1000)
    return header + segment + code
