"""Control groups as the supervisor sees them: folders to make, values to write, a count to read."""

import os

from .request import Request


def make(request: Request) -> None:
    """Make the task's own groups and write their limits, in the order given."""
    for directory in request.texts("cgroup_make"):
        os.makedirs(directory, exist_ok=True)
    for path, value in request.pairs("cgroup_write"):
        fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.write(fd, value.encode())
        except OSError as error:
            raise OSError(error.errno, error.strerror, path) from error
        finally:
            os.close(fd)


def kill(request: Request) -> None:
    """Kill all that is in the task's own groups at once, where the kernel offers that."""
    for directory in request.texts("cgroup_make"):
        try:
            fd = os.open(f"{directory}/cgroup.kill", os.O_WRONLY | os.O_CLOEXEC)
        except OSError:  # version 1, or a kernel before 5.14
            continue
        try:
            os.write(fd, b"1")
        finally:
            os.close(fd)


def was_oom_killed(request: Request) -> bool:
    """Whether the kernel killed a process of the group for its memory; False where that is not kept."""
    path = request.text("oom_counter")
    if not path:
        return False
    try:
        with open(path, encoding="ascii") as file:
            counts = dict(line.split(" ", 1) for line in file if " " in line)
    except OSError:
        return False
    return int(counts.get("oom_kill", "0")) > 0


def remove(request: Request) -> None:
    """Remove the task's own groups; one that still holds a process stays."""
    for directory in reversed(request.texts("cgroup_make")):
        try:
            os.rmdir(directory)
        except OSError:
            continue
