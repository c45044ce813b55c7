"""All drivers of an agent: the built-in ones, and those that installed packages offer."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Mapping
from typing import Any

import msgspec

from yurt.agent.drivers import docker, java, mock, qemu, raw_exec
from yurt.agent.drivers import exec as exec_driver
from yurt.agent.drivers.context import DriverContext, DriverFactory
from yurt.agent.drivers.driver import Driver
from yurt.observe.logger import get_logger

ENTRY_POINT_GROUP = "yurt.drivers"
logger = get_logger("drivers")


def load_drivers(
    context: DriverContext, plugin_configs: Mapping[str, Mapping[str, Any]]
) -> dict[str, Driver]:
    """Make every driver that the client's options allow, by name.

    A package whose driver cannot be loaded is passed over; bad settings raise BadPluginConfig.
    """
    factories = dict(BUILT_INS)
    for entry_point in importlib.metadata.entry_points(group=ENTRY_POINT_GROUP):
        if entry_point.name in factories:
            logger.warning("driver.name_taken", driver=entry_point.name, package=entry_point.value)
            continue
        try:
            factories[entry_point.name] = entry_point.load()
        except Exception as error:  # noqa: BLE001 - whatever a package raises, the others still run tasks
            logger.warning("driver.load_failed", driver=entry_point.name, error=str(error))
    return {
        name: factory(msgspec.structs.replace(context, config=plugin_configs.get(name)))
        for name, factory in factories.items()
        if _is_allowed(name, context.options)
    }


def _is_allowed(name: str, options: Mapping[str, str]) -> bool:
    allowed = _names(options, "driver.allowlist", "driver.whitelist")
    denied = _names(options, "driver.denylist", "driver.blacklist")
    return (not allowed or name in allowed) and name not in denied


def _names(options: Mapping[str, str], *keys: str) -> set[str]:
    text = next((options[key] for key in keys if options.get(key)), "")
    return {name.strip() for name in text.split(",") if name.strip()}


BUILT_INS: dict[str, DriverFactory] = {
    raw_exec.NAME: raw_exec.make,
    exec_driver.NAME: exec_driver.make,
    docker.NAME: docker.make,
    java.NAME: java.make,
    qemu.NAME: qemu.make,
    mock.NAME: mock.make,
}
