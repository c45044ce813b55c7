"""What the operator decides about containers."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from yurt.agent.drivers.context import BadPluginConfig, DriverContext, denied_ids
from yurt.agent.drivers.exec.groups import pids_limit_default
from yurt.agent.drivers.exec.root import DEFAULT_CHROOT_ENV
from yurt.agent.drivers.linux_capabilities import DEFAULTS
from yurt.agent.drivers.users import IdRanges

HOST, PRIVATE = "host", "private"


class IsolationOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The operator's settings; `pids_limit` 0 is no limit."""

    no_pivot_root: bool = False
    default_pid_mode: str = PRIVATE
    default_ipc_mode: str = PRIVATE
    allow_caps: tuple[str, ...] = tuple(sorted(DEFAULTS))
    denied_uids: IdRanges = IdRanges()
    denied_gids: IdRanges = IdRanges()
    pids_limit: int = 0
    chroot_env: Mapping[str, str] = DEFAULT_CHROOT_ENV


class _Plugin(msgspec.Struct, frozen=True, kw_only=True):
    no_pivot_root: bool = False
    default_pid_mode: str = PRIVATE
    default_ipc_mode: str = PRIVATE
    allow_caps: tuple[str, ...] = tuple(sorted(DEFAULTS))
    denied_host_uids: str = ""
    denied_host_gids: str = ""
    pids_limit: int = -1


def isolation_options(context: DriverContext, driver: str) -> IsolationOptions:
    """Read the plugin block of exec or java. Raises BadPluginConfig."""
    plugin = context.plugin(driver, _Plugin)
    uids, gids = denied_ids(driver, uids=plugin.denied_host_uids, gids=plugin.denied_host_gids)
    for name in ("default_pid_mode", "default_ipc_mode"):
        mode = getattr(plugin, name)
        if mode not in (PRIVATE, HOST):
            raise BadPluginConfig(driver, [f'{name} must be "{PRIVATE}" or "{HOST}", got "{mode}".'])
    return IsolationOptions(
        no_pivot_root=plugin.no_pivot_root,
        default_pid_mode=plugin.default_pid_mode,
        default_ipc_mode=plugin.default_ipc_mode,
        allow_caps=plugin.allow_caps,
        denied_uids=uids,
        denied_gids=gids,
        pids_limit=pids_limit_default() if plugin.pids_limit < 0 else plugin.pids_limit,
        chroot_env=context.chroot_env or DEFAULT_CHROOT_ENV,
    )
