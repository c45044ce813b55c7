"""Tasks that outlive the agent: a small process starts them, one supervisor each sees them through."""

from yurt.agent.launcher.client import LauncherClient
from yurt.agent.launcher.errors import LauncherUnavailable, LaunchFailed, TaskLost
from yurt.agent.launcher.running import RunningTask
from yurt.agent.launcher.spec import Cgroups, ExitResult, Identity, LaunchSpec, LogLimits, TaskKey

__all__ = [
    "Cgroups",
    "ExitResult",
    "Identity",
    "LaunchFailed",
    "LaunchSpec",
    "LauncherClient",
    "LauncherUnavailable",
    "LogLimits",
    "RunningTask",
    "TaskKey",
    "TaskLost",
]
