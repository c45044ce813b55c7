"""Run a command in a container whose root is the task's directory."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from yurt.agent.drivers.cgroups import CgroupTree, find_cgroups
from yurt.agent.drivers.context import DriverContext
from yurt.agent.drivers.driver import DriverError, TaskMount, TaskSpec
from yurt.agent.drivers.exec.bundle import Container, device_file, oci_config
from yurt.agent.drivers.exec.groups import container_groups
from yurt.agent.drivers.exec.inside import Entry, run_inside
from yurt.agent.drivers.exec.inside_session import open_inside
from yurt.agent.drivers.exec.options import HOST, PRIVATE, IsolationOptions, isolation_options
from yurt.agent.drivers.exec.root import Bind, find_in_root, plan_root
from yurt.agent.drivers.exec.runtime import Bundle, Runtime, find_runtime
from yurt.agent.drivers.launched import (
    LaunchedTask,
    decode_state,
    find_launched,
    launch,
    launch_error,
    log_limits,
    task_key,
)
from yurt.agent.drivers.linux_capabilities import host_capabilities, task_capabilities
from yurt.agent.drivers.local_session import LocalSession
from yurt.agent.drivers.session import SessionRequest
from yurt.agent.drivers.users import find_user, login_variables, refuse_denied
from yurt.agent.launcher import Identity, LauncherClient, LaunchFailed, LaunchSpec, RunningTask, TaskKey

DEFAULT_USER = "nobody"
_CONTAINERS = "containers"
# From here on a mount can be made read-only with all that is mounted below it.
_KERNEL_WITH_SETATTR = (5, 12)


class IsolatedCommand(msgspec.Struct, frozen=True, kw_only=True):
    """What to run: `command` is looked for in the task's root; empty modes are the operator's default."""

    command: str
    args: tuple[str, ...] = ()
    pid_mode: str = ""
    ipc_mode: str = ""
    cap_add: tuple[str, ...] = ()
    cap_drop: tuple[str, ...] = ()
    work_dir: str = ""


class Isolation:
    """Runs commands in containers through the launcher."""

    def __init__(self, launcher: LauncherClient, options: IsolationOptions, cgroups: CgroupTree) -> None:
        self._launcher = launcher
        self._options = options
        self._cgroups = cgroups
        self._bundles = launcher.directory / _CONTAINERS
        self._supported = host_capabilities()
        self._has_setattr = _kernel_version() >= _KERNEL_WITH_SETATTR
        self._swept = asyncio.Lock()
        self._is_swept = False

    async def start(self, spec: TaskSpec, command: IsolatedCommand) -> IsolatedTask:
        """Start a command, or attach to it when this start was made before. Raises DriverError."""
        _check(command)
        runtime = find_runtime()
        if runtime is None:
            raise launch_error("neither crun nor runc is installed on this node; install one of them")
        async with self._swept:
            if not self._is_swept:
                await asyncio.to_thread(_sweep, self._bundles, self._launcher.keys())
                self._is_swept = True
        bundle = self._bundle(task_key(spec))
        try:
            launch_spec = await asyncio.to_thread(self._prepare, spec, command, runtime, bundle)
        except OSError as error:
            raise launch_error(f"failed to prepare the task's root: {error}", recoverable=True) from error
        try:
            task = await launch(self._launcher, launch_spec)
        except DriverError as error:
            cause = error.__cause__
            if isinstance(cause, LaunchFailed) and cause.step == "starter":
                reason = bundle.failure() or cause.reason
                bundle.remove()
                raise launch_error(f"unable to start container process: {reason}") from cause
            raise
        return IsolatedTask(self._launcher, task, bundle)

    async def recover(self, state: bytes) -> IsolatedTask | None:
        """The task of a handle's `state`, running or ended; None when it is lost."""
        key = decode_state(state)
        if key is None:
            return None
        task = await find_launched(self._launcher, state)
        if task is None:
            await asyncio.to_thread(self._bundle(key).remove)
            return None
        return IsolatedTask(self._launcher, task, self._bundle(key))

    def _bundle(self, key: TaskKey) -> Bundle:
        return Bundle(f"{self._bundles}/{key.record}")

    def _prepare(
        self, spec: TaskSpec, command: IsolatedCommand, runtime: Runtime, bundle: Bundle
    ) -> LaunchSpec:
        """Put everything in place for the runtime. Blocks; raises DriverError and OSError."""
        identity = self._identity(spec.user)
        shared = (TaskMount(source=spec.shared_dir, target="/alloc"),) if spec.shared_dir else ()
        mounts = (*shared, *spec.mounts)
        binds = plan_root(
            spec.task_dir,
            self._options.chroot_env,
            mount_points=tuple(mount.target for mount in mounts),
            hidden=str(Path(spec.task_dir).parent.parent),
        )
        mounted = [Bind(mount.source, mount.target) for mount in mounts]
        path = find_in_root(command.command, spec.task_dir, [*binds, *mounted])
        if path is None:
            raise launch_error(f"file {command.command} not found under path {spec.task_dir}")
        devices = tuple(device_file(device) for device in spec.devices)
        groups = container_groups(
            self._cgroups,
            runtime,
            spec,
            pids_max=self._options.pids_limit,
            device_rules=[device.rule for device in devices],
        )
        options = self._options
        container = Container(
            root=spec.task_dir,
            args=(path, *command.args),
            env={**spec.env, **login_variables(identity.uid)},
            work_dir=command.work_dir or "/",
            identity=identity,
            capabilities=self._capabilities(command, identity),
            binds=tuple(binds),
            mounts=mounts,
            own_pids=(command.pid_mode or options.default_pid_mode) == PRIVATE,
            own_ipc=(command.ipc_mode or options.default_ipc_mode) == PRIVATE,
            network_namespace=spec.network_namespace,
            hostname=spec.hostname,
            devices=devices,
            cgroups_path=groups.path,
            cpus=groups.cpus,
            binds_recursively_readonly=self._has_setattr,
        )
        bundle.write(oci_config(container))
        entry = Entry(
            runtime=runtime,
            manages_cgroups=bool(groups.path),
            join=groups.cgroups.join,
            hidden=groups.hidden,
        )
        entry.save(bundle)
        key = task_key(spec)
        argv = bundle.run_arguments(
            runtime,
            key.record,
            manages_cgroups=entry.manages_cgroups,
            pivots_root=not options.no_pivot_root,
        )
        return LaunchSpec(
            key=key,
            path=runtime.path,
            argv=argv,
            env={"PATH": os.environ.get("PATH", os.defpath)},
            cwd=bundle.path,
            logs=log_limits(spec),
            hidden_mounts=groups.hidden,
            pid_file=bundle.pid_file,
            cgroups=groups.cgroups,
        )

    def _identity(self, user: str) -> Identity:
        identity = find_user(user or DEFAULT_USER)
        if not user:
            # Nomad's exec tasks are in root's group unless they name a user, and files are made for that.
            identity = Identity(uid=identity.uid, gid=0)
        refuse_denied(identity, uids=self._options.denied_uids, gids=self._options.denied_gids)
        return identity

    def _capabilities(self, command: IsolatedCommand, identity: Identity) -> frozenset[str]:
        if identity.uid == 0:
            return self._supported
        return task_capabilities(
            allowed=self._options.allow_caps,
            add=command.cap_add,
            drop=command.cap_drop,
            supported=self._supported,
        )


class IsolatedTask(LaunchedTask):
    """A `TaskHandle` of a container's first process."""

    has_groups = True

    def __init__(self, launcher: LauncherClient, task: RunningTask, bundle: Bundle) -> None:
        super().__init__(launcher, task)
        self._bundle = bundle

    async def run_command(self, command: str, args: Sequence[str], *, timeout_s: float) -> int:
        """Run another command beside the task, in its world; returns its exit code. Raises DriverError."""
        argv = (command, *args)
        return await run_inside(self._launcher, self._task.key, self._bundle, argv, timeout_s=timeout_s)

    async def open_session(self, request: SessionRequest) -> LocalSession:
        """Run another command in the container, with its streams open. Raises DriverError."""
        return await open_inside(self._launcher, self._task.key, self._bundle, request)

    async def destroy(self) -> None:
        await super().destroy()
        await asyncio.to_thread(self._bundle.remove)


def make_isolation(context: DriverContext, driver: str) -> Isolation | None:
    """What runs a driver's commands; None where the machine cannot isolate them. Raises BadPluginConfig."""
    options = isolation_options(context, driver)
    cgroups = find_cgroups(parent=context.cgroup_parent)
    return Isolation(context.launcher, options, cgroups) if cgroups else None


def _check(command: IsolatedCommand) -> None:
    problem = ""
    for name, mode in (("pid_mode", command.pid_mode), ("ipc_mode", command.ipc_mode)):
        if mode not in ("", PRIVATE, HOST):
            problem = f'{name} must be "{PRIVATE}" or "{HOST}", got "{mode}"'
    if command.work_dir and not os.path.isabs(command.work_dir):
        problem = f'work_dir must be absolute but got relative path "{command.work_dir}"'
    if problem:
        raise DriverError(f"failed driver config validation: {problem}")


def _sweep(bundles: Path, keys: list[TaskKey]) -> None:
    """Remove what an agent that was killed had no time to."""
    known = {key.record for key in keys}
    for path in bundles.iterdir() if bundles.is_dir() else ():
        if path.name not in known:
            Bundle(str(path)).remove()


def _kernel_version() -> tuple[int, int]:
    major, minor = os.uname().release.split(".")[:2]
    return int(major), int("".join(digit for digit in minor if digit.isdigit()) or 0)
