"""All drivers of an agent: the built-in ones, and those that installed packages offer."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from yurt.agent.drivers import mock, raw_exec
from yurt.agent.drivers.cgroups import find_cgroups
from yurt.agent.drivers.config_schema import decode_config
from yurt.agent.drivers.driver import Driver, FsIsolation
from yurt.agent.drivers.users import parse_id_ranges
from yurt.agent.launcher import LauncherClient
from yurt.clock import Clock
from yurt.errors import YurtError
from yurt.observe.logger import get_logger

ENTRY_POINT_GROUP = "yurt.drivers"
logger = get_logger("drivers")


class BadPluginConfig(YurtError):
    """The operator's settings of a driver cannot be used; the agent must not start with them."""

    def __init__(self, driver: str, problems: Iterable[str]) -> None:
        super().__init__(f'plugin "{driver}": config: {" ".join(problems)} Correct it and start again.')
        self.driver = driver


class DriverContext(msgspec.Struct, frozen=True, kw_only=True):
    """What a driver is made of.

    `config` is the operator's `plugin "<name>" { config { } }`, None without such a block; `options` are
    the client's. `cgroup_parent` empty is the default.
    """

    launcher: LauncherClient
    clock: Clock
    config: Mapping[str, Any] | None = None
    options: Mapping[str, str] = {}
    cgroup_parent: str = ""
    dev: bool = False


DriverFactory = Callable[[DriverContext], Driver]
"""What an entry point of the group names. Raises BadPluginConfig for settings it cannot use."""


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


class _RawExecPlugin(msgspec.Struct, frozen=True, kw_only=True):
    enabled: bool = False
    denied_host_uids: str = ""
    denied_host_gids: str = ""
    denied_envvars: tuple[str, ...] = ()


def _make_raw_exec(context: DriverContext) -> Driver:
    plugin, problems = decode_config(context.config or {}, _RawExecPlugin)
    if plugin is None:
        raise BadPluginConfig(raw_exec.NAME, problems)
    try:
        options = raw_exec.RawExecOptions(
            enabled=plugin.enabled or context.dev or context.options.get("driver.raw_exec.enable") in _TRUE,
            denied_uids=parse_id_ranges(plugin.denied_host_uids),
            denied_gids=parse_id_ranges(plugin.denied_host_gids),
            denied_envvars=plugin.denied_envvars,
        )
    except ValueError as error:
        raise BadPluginConfig(raw_exec.NAME, [f"denied ids: {error}."]) from error
    cgroups = find_cgroups(parent=context.cgroup_parent) if options.enabled else None
    return raw_exec.RawExecDriver(context.launcher, options, cgroups=cgroups)


_TRUE = ("1", "true")


class _MockPlugin(msgspec.Struct, frozen=True, kw_only=True):
    fs_isolation: str = FsIsolation.NONE
    shutdown_periodic_after: int = 0
    shutdown_periodic_duration: int = 0


def _make_mock(context: DriverContext) -> Driver:
    """On in dev mode and where the operator asks for it by a plugin block: elsewhere it is in the way."""
    plugin, problems = decode_config(context.config or {}, _MockPlugin)
    if plugin is None:
        raise BadPluginConfig(mock.NAME, problems)
    kinds = [kind.value for kind in FsIsolation]
    if plugin.fs_isolation not in kinds:
        raise BadPluginConfig(mock.NAME, [f"fs_isolation must be one of {', '.join(kinds)}."])
    return mock.MockDriver(
        context.clock,
        mock.MockOptions(
            enabled=context.dev or context.config is not None,
            fs_isolation=FsIsolation(plugin.fs_isolation),
            shutdown_periodic_after=plugin.shutdown_periodic_after,
            shutdown_periodic_duration=plugin.shutdown_periodic_duration,
        ),
    )


BUILT_INS: dict[str, DriverFactory] = {raw_exec.NAME: _make_raw_exec, mock.NAME: _make_mock}
