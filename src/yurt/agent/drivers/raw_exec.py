"""The raw_exec driver: a command on the host, with no isolation but its own process tree."""

from __future__ import annotations

import asyncio
import fnmatch
import os
from collections.abc import Mapping
from typing import Any

import msgspec

from yurt.agent.drivers.cgroups import CgroupTree, find_cgroups, override_cgroups, task_cgroups
from yurt.agent.drivers.commands import find_command
from yurt.agent.drivers.config_schema import decode_config
from yurt.agent.drivers.context import DriverContext, denied_ids
from yurt.agent.drivers.driver import (
    UNDETECTED,
    Capabilities,
    DriverError,
    DriverFingerprint,
    FsIsolation,
    NetworkIsolation,
    TaskSpec,
    config_error_text,
    healthy_fingerprint,
)
from yurt.agent.drivers.launched import (
    LaunchedTask,
    launch,
    launch_error,
    log_limits,
    recover_launched,
    task_key,
)
from yurt.agent.drivers.users import IdRanges, find_user, refuse_denied
from yurt.agent.launcher import Cgroups, Identity, LauncherClient, LaunchSpec

NAME = "raw_exec"


class RawExecOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The operator's settings: `plugin "raw_exec" { config { } }`."""

    enabled: bool = False
    denied_uids: IdRanges = IdRanges()
    denied_gids: IdRanges = IdRanges()
    denied_envvars: tuple[str, ...] = ()


class RawExecConfig(msgspec.Struct, frozen=True, kw_only=True):
    """A task's `config { }`."""

    command: str
    args: tuple[str, ...] = ()
    work_dir: str = ""
    oom_score_adj: int = 0
    cgroup_v2_override: str = ""
    cgroup_v1_override: dict[str, str] = {}
    denied_envvars: tuple[str, ...] = ()


class RawExecDriver:
    """Runs commands through the launcher. Without `cgroups` they have no limits."""

    name = NAME
    capabilities = Capabilities(
        send_signals=True,
        exec=True,
        fs_isolation=FsIsolation.NONE,
        networks=(NetworkIsolation.HOST, NetworkIsolation.GROUP),
    )

    def __init__(
        self, launcher: LauncherClient, options: RawExecOptions, *, cgroups: CgroupTree | None
    ) -> None:
        self._launcher = launcher
        self._options = options
        self._cgroups = cgroups

    async def fingerprint(self) -> DriverFingerprint:
        return healthy_fingerprint(NAME) if self._options.enabled else UNDETECTED

    def validate_config(self, config: Mapping[str, Any]) -> list[str]:
        return decode_config(config, RawExecConfig)[1]

    async def start(self, spec: TaskSpec) -> LaunchedTask:
        config, problems = decode_config(spec.config, RawExecConfig)
        if config is None:
            raise DriverError(config_error_text(problems))
        _check_values(config)
        identity = await self._identity(spec.user)
        path = find_command(
            config.command,
            task_dir=spec.task_dir,
            paths=(spec.env.get("PATH", ""), os.environ.get("PATH", "")),
        )
        if path is None:
            raise launch_error(f'binary "{config.command}" could not be found')
        task = await launch(self._launcher, self._launch_spec(spec, config, path, identity))
        return LaunchedTask(self._launcher, task)

    async def recover(self, state: bytes) -> LaunchedTask | None:
        return await recover_launched(self._launcher, state)

    async def _identity(self, user: str) -> Identity | None:
        """The user to run as, None for the agent's own; refused when the operator denied it."""
        identity = await asyncio.to_thread(find_user, user) if user else None
        effective = identity or Identity(uid=os.geteuid(), gid=os.getegid(), groups=tuple(os.getgroups()))
        refuse_denied(effective, uids=self._options.denied_uids, gids=self._options.denied_gids)
        return identity

    def _task_cgroups(self, spec: TaskSpec, config: RawExecConfig) -> Cgroups:
        if config.cgroup_v2_override or config.cgroup_v1_override:
            return override_cgroups(config.cgroup_v1_override, config.cgroup_v2_override)
        if self._cgroups is None:
            return Cgroups()
        cgroups = task_cgroups(self._cgroups, spec.alloc_id, spec.task, spec.resources)
        # Nomad does not tell that a raw_exec task was out of memory, and jobs are written for its answer.
        return msgspec.structs.replace(cgroups, oom_counter="")

    def _launch_spec(
        self, spec: TaskSpec, config: RawExecConfig, path: str, identity: Identity | None
    ) -> LaunchSpec:
        denied = (*self._options.denied_envvars, *config.denied_envvars)
        return LaunchSpec(
            key=task_key(spec),
            path=path,
            argv=(path, *config.args),
            env={name: value for name, value in spec.env.items() if not _matches(name, denied)},
            cwd=config.work_dir or spec.task_dir,
            logs=log_limits(spec),
            identity=identity,
            oom_score_adj=config.oom_score_adj or None,
            network_namespace=spec.network_namespace,
            cgroups=self._task_cgroups(spec, config),
        )


def _matches(name: str, globs: tuple[str, ...]) -> bool:
    return any(fnmatch.fnmatchcase(name, glob) for glob in globs)


def _check_values(config: RawExecConfig) -> None:
    problem = ""
    if config.work_dir and not os.path.isabs(config.work_dir):
        problem = f'work_dir must be absolute but got relative path "{config.work_dir}"'
    elif config.oom_score_adj < 0:
        problem = "oom_score_adj must not be negative"
    elif config.cgroup_v2_override and config.cgroup_v1_override:
        problem = "only one of cgroup_v1_override and cgroup_v2_override may be set"
    if problem:
        raise DriverError(f"failed driver config validation: {problem}")


class _Plugin(msgspec.Struct, frozen=True, kw_only=True):
    enabled: bool = False
    denied_host_uids: str = ""
    denied_host_gids: str = ""
    denied_envvars: tuple[str, ...] = ()


_TRUE = ("1", "true")


def make(context: DriverContext) -> RawExecDriver:
    """On in dev mode and where the operator asks for it: its tasks can do all that the agent can."""
    plugin = context.plugin(NAME, _Plugin)
    uids, gids = denied_ids(NAME, uids=plugin.denied_host_uids, gids=plugin.denied_host_gids)
    options = RawExecOptions(
        enabled=plugin.enabled or context.dev or context.options.get("driver.raw_exec.enable") in _TRUE,
        denied_uids=uids,
        denied_gids=gids,
        denied_envvars=plugin.denied_envvars,
    )
    cgroups = find_cgroups(parent=context.cgroup_parent) if options.enabled else None
    return RawExecDriver(context.launcher, options, cgroups=cgroups)
