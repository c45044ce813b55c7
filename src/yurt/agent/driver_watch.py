"""Which drivers a node has, and how they are."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import msgspec

from yurt.agent.drivers import Driver
from yurt.clock import Clock
from yurt.model.node import DriverInfo
from yurt.model.times import time_text
from yurt.observe.logger import get_logger

FINGERPRINT_TIMEOUT_S = 10.0

logger = get_logger("agent")


async def fingerprint_drivers(drivers: Mapping[str, Driver], clock: Clock) -> dict[str, DriverInfo]:
    """Ask all drivers at once; one that fails or hangs is there, but not healthy."""
    answers = await asyncio.gather(*(_ask(driver) for driver in drivers.values()))
    asked_at = time_text(clock.now_ns())
    return {
        name: msgspec.structs.replace(answer, update_time=asked_at)
        for name, answer in zip(drivers, answers, strict=True)
    }


def has_changed(before: Mapping[str, DriverInfo], after: Mapping[str, DriverInfo]) -> bool:
    """Whether the drivers differ in more than the time they were asked."""
    return _timeless(before) != _timeless(after)


def _timeless(infos: Mapping[str, DriverInfo]) -> dict[str, DriverInfo]:
    return {name: msgspec.structs.replace(info, update_time=None) for name, info in infos.items()}


async def _ask(driver: Driver) -> DriverInfo:
    try:
        async with asyncio.timeout(FINGERPRINT_TIMEOUT_S):
            answer = await driver.fingerprint()
    except TimeoutError:
        return DriverInfo(attributes={}, health_description="the driver does not answer")
    except Exception as error:  # noqa: BLE001 - one driver's failure must not cost the node the others
        logger.warning("driver.fingerprint_failed", driver=driver.name, error=str(error))
        return DriverInfo(attributes={}, health_description=str(error))
    return DriverInfo(
        attributes=answer.attributes,
        detected=answer.detected,
        healthy=answer.healthy,
        health_description=answer.description,
    )
