"""What can go wrong between the agent and the launcher."""

from __future__ import annotations

from yurt.errors import YurtError


class LauncherUnavailable(YurtError):
    """No launcher answers and none could be started."""


class LaunchFailed(YurtError):
    """The task was not started: `step` failed with `errno` (0 when it was no system call) and `reason`."""

    def __init__(self, *, step: str, errno: int, reason: str, path: str) -> None:
        super().__init__(f"cannot start {path}: {step}: {reason}")
        self.step = step
        self.errno = errno
        self.reason = reason


class TaskLost(YurtError):
    """The key was started before, but its supervisor is gone without having recorded an end."""

    def __init__(self, key: str) -> None:
        super().__init__(f"task {key} was lost: its supervisor was killed; start it under a new attempt")
