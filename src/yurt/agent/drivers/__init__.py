"""Task drivers: the ways of running a task, behind one small interface."""

from yurt.agent.drivers.driver import (
    Capabilities,
    Driver,
    DriverError,
    DriverFingerprint,
    DriverNetwork,
    FsIsolation,
    NetworkIsolation,
    TaskHandle,
    TaskResources,
    TaskSpec,
    config_error_text,
)
from yurt.agent.drivers.registry import BadPluginConfig, DriverContext, DriverFactory, load_drivers
from yurt.agent.launcher import ExitResult

__all__ = [
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
    "TaskHandle",
    "TaskResources",
    "TaskSpec",
    "config_error_text",
    "load_drivers",
]
