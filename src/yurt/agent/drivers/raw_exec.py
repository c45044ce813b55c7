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
    find_launched,
    launch,
    launch_error,
    log_limits,
    task_key,
)
from yurt.agent.drivers.local_session import LocalSession, launch_with_streams, session_error, session_key
from yurt.agent.drivers.session import SessionRequest, session_env
from yurt.agent.drivers.users import IdRanges, find_user, refuse_denied
from yurt.agent.launcher import Cgroups, Identity, LauncherClient, LaunchSpec, RunningTask

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


class RawExecState(msgspec.Struct, frozen=True, kw_only=True):
    """What a handle keeps: which process it is, and how others get where it is."""

    alloc_id: str
    task: str
    attempt: int
    cwd: str = ""
    identity: Identity | None = None
    network_namespace: str = ""
    cgroups: tuple[str, ...] = ()
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

    async def start(self, spec: TaskSpec) -> RawExecTask:
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
        launch_spec = self._launch_spec(spec, config, path, identity)
        task = await launch(self._launcher, launch_spec)
        state = RawExecState(
            alloc_id=spec.alloc_id,
            task=spec.task,
            attempt=spec.attempt,
            cwd=launch_spec.cwd,
            identity=identity,
            network_namespace=spec.network_namespace,
            cgroups=launch_spec.cgroups.join,
            denied_envvars=(*self._options.denied_envvars, *config.denied_envvars),
        )
        return RawExecTask(self._launcher, task, state)

    async def recover(self, state: bytes) -> RawExecTask | None:
        task = await find_launched(self._launcher, state)
        if task is None:
            return None
        return RawExecTask(self._launcher, task, msgspec.msgpack.decode(state, type=RawExecState))

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
            env=_allowed(spec.env, denied),
            cwd=config.work_dir or spec.task_dir,
            logs=log_limits(spec),
            identity=identity,
            oom_score_adj=config.oom_score_adj or None,
            network_namespace=spec.network_namespace,
            cgroups=self._task_cgroups(spec, config),
        )


class RawExecTask(LaunchedTask):
    """A `TaskHandle` of a process on the host."""

    def __init__(self, launcher: LauncherClient, task: RunningTask, state: RawExecState) -> None:
        super().__init__(launcher, task)
        self.state = msgspec.msgpack.encode(state)
        self._facts = state

    async def open_session(self, request: SessionRequest) -> LocalSession:
        """Run another command beside the task, as its user and within its limits. Raises DriverError."""
        facts = self._facts
        paths = (request.env.get("PATH", ""), os.environ.get("PATH", ""))
        name = request.argv[0]
        path = find_command(name, task_dir=request.task_dir, paths=paths)
        if path is None and "/" not in name:
            raise session_error(
                f'failed to start command: exec: "{name}": executable file not found in $PATH'
            )
        spec = LaunchSpec(
            key=session_key(self._task.key),
            path=path or name,
            argv=request.argv,
            env=session_env(request, _allowed(request.env, facts.denied_envvars)),
            cwd=facts.cwd or request.task_dir,
            identity=facts.identity,
            network_namespace=facts.network_namespace,
            cgroups=Cgroups(join=facts.cgroups),
        )
        task, streams = await launch_with_streams(self._launcher, spec, tty=request.tty)
        return LocalSession(self._launcher, task, streams)


def _allowed(env: Mapping[str, str], denied: tuple[str, ...]) -> Mapping[str, str]:
    """The variables whose names match none of the patterns."""
    if not denied:
        return env
    return {
        name: value
        for name, value in env.items()
        if not any(fnmatch.fnmatchcase(name, glob) for glob in denied)
    }


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
