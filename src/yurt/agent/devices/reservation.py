"""What a task is given so that it can use the devices that are its own."""

from __future__ import annotations

import msgspec

from yurt.agent.drivers.driver import TaskDevice
from yurt.errors import YurtError


class DeviceGone(YurtError):
    """A device that a task was given is not there, or does not work."""


class Reservation(msgspec.Struct, frozen=True, kw_only=True):
    """Variables that name the devices, and the device files of them."""

    env: dict[str, str] = {}
    files: tuple[TaskDevice, ...] = ()
