"""Network namespaces of the kernel that outlive the process which made them."""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from yurt.agent.fingerprint.addresses import addresses_by_device

FOLDER = Path("/var/run/netns")
_CLONE_NEWNET = 0x40000000
_MS_BIND, _MNT_DETACH = 4096, 2
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 0x1
_OWN = "/proc/thread-self/ns/net"
_libc = ctypes.CDLL(None, use_errno=True)

ResultT = TypeVar("ResultT")


def namespace_path(name: str) -> str:
    """Where the namespace of an allocation is, or would be; `ip netns` finds it there, too."""
    return str(FOLDER / name)


def make_namespace(path: str) -> None:
    """Make a namespace with its loopback up, held by a mount at `path`. Blocks; raises OSError."""
    FOLDER.mkdir(mode=0o755, parents=True, exist_ok=True)
    os.close(os.open(path, os.O_RDONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o444))
    try:
        _in_thread(lambda: _unshare_and_hold(path))
    except OSError:
        os.unlink(path)
        raise


def remove_namespace(path: str) -> None:
    """Let go of a namespace; it ends with its last process. Nothing happens where there is none. Blocks."""
    _libc.umount2(os.fsencode(path), _MNT_DETACH)
    Path(path).unlink(missing_ok=True)


def has_namespace(path: str) -> bool:
    """Whether a namespace is held at `path`: after a reboot an empty file is left of it."""
    try:
        return bool(path) and os.stat(path).st_dev == os.stat("/proc/self/ns/net").st_dev
    except OSError:
        return False


def addresses_in(path: str) -> set[str]:
    """The addresses of all interfaces in a namespace. Blocks; raises OSError."""
    found = run_in_namespace(path, addresses_by_device)
    return {str(address) for addresses in found.values() for address in addresses}


def run_in_namespace(path: str, work: Callable[[], ResultT]) -> ResultT:
    """Do something inside a namespace; processes that it starts stay there. Blocks; raises OSError."""

    def enter_and_work() -> ResultT:
        _enter(path)
        return work()

    return _in_thread(enter_and_work)


def _unshare_and_hold(path: str) -> None:
    _check(_libc.unshare(_CLONE_NEWNET), path)
    _check(_libc.mount(_OWN.encode(), os.fsencode(path), None, _MS_BIND, None), path)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sH14x", b"lo", 0)
        flags = struct.unpack("16sH14x", fcntl.ioctl(any_socket, _SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", flags | _IFF_UP))


def _enter(path: str) -> None:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        _check(_libc.setns(fd, _CLONE_NEWNET), path)
    finally:
        os.close(fd)


def _in_thread(work: Callable[[], ResultT]) -> ResultT:
    """Do something in a thread that ends with it: a namespace is a thread's, and this one keeps its own."""
    results: list[ResultT] = []
    errors: list[Exception] = []

    def run() -> None:
        try:
            results.append(work())
        except Exception as error:  # noqa: BLE001 - it is raised where the work was asked for
            errors.append(error)

    thread = threading.Thread(target=run, name="namespace")
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]


def _check(result: int, path: str) -> None:
    if result:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), path)
