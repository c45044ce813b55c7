"""Task drivers: the ways of running a task, behind one small interface."""

from yurt.agent.drivers.context import BadPluginConfig, DriverContext, DriverFactory
from yurt.agent.drivers.driver import (
    Announce,
    Capabilities,
    Driver,
    DriverError,
    DriverFingerprint,
    DriverNetwork,
    FsIsolation,
    NetworkIsolation,
    TaskDevice,
    TaskHandle,
    TaskMount,
    TaskOwner,
    TaskPort,
    TaskResources,
    TaskSpec,
    config_error_text,
)
from yurt.agent.drivers.registry import load_drivers
from yurt.agent.launcher import ExitResult

__all__ = [
    "Announce",
    "BadPluginConfig",
    "Capabilities",
    "Driver",
    "DriverContext",
    "DriverError",
    "DriverFactory",
    "DriverFingerprint",
    "DriverNetwork",
    "ExitResult",
    "FsIsolation",
    "NetworkIsolation",
    "TaskDevice",
    "TaskHandle",
    "TaskMount",
    "TaskOwner",
    "TaskPort",
    "TaskResources",
    "TaskSpec",
    "config_error_text",
    "load_drivers",
]
