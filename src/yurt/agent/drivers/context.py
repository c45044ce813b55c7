"""What a driver is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import msgspec

from yurt.agent.drivers.config_schema import decode_config
from yurt.agent.drivers.driver import Driver
from yurt.agent.drivers.users import IdRanges, parse_id_ranges
from yurt.agent.launcher import LauncherClient
from yurt.clock import Clock
from yurt.errors import YurtError

PluginT = TypeVar("PluginT", bound=msgspec.Struct)


class BadPluginConfig(YurtError):
    """The operator's settings of a driver cannot be used; the agent must not start with them."""

    def __init__(self, driver: str, problems: Iterable[str]) -> None:
        super().__init__(f'plugin "{driver}": config: {" ".join(problems)} Correct it and start again.')
        self.driver = driver


class DriverContext(msgspec.Struct, frozen=True, kw_only=True):
    """What a driver is made of.

    `config` is the operator's `plugin "<name>" { config { } }`, None without such a block; `options` are
    the client's. `cgroup_parent` and `chroot_env` empty are the defaults.
    """

    launcher: LauncherClient
    clock: Clock
    config: Mapping[str, Any] | None = None
    options: Mapping[str, str] = {}
    cgroup_parent: str = ""
    chroot_env: Mapping[str, str] = {}
    dev: bool = False

    def plugin(self, driver: str, into: type[PluginT]) -> PluginT:
        """The operator's settings as a Struct; raises BadPluginConfig."""
        plugin, problems = decode_config(self.config or {}, into)
        if plugin is None:
            raise BadPluginConfig(driver, problems)
        return plugin


def denied_ids(driver: str, *, uids: str, gids: str) -> tuple[IdRanges, IdRanges]:
    """Read the settings about users that tasks must not run as; raises BadPluginConfig."""
    try:
        return parse_id_ranges(uids), parse_id_ranges(gids)
    except ValueError as error:
        raise BadPluginConfig(driver, [f"denied ids: {error}."]) from error


DriverFactory = Callable[[DriverContext], Driver]
"""What an entry point of the group `yurt.drivers` names. Raises BadPluginConfig."""
