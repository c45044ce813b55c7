"""The qemu driver: a virtual machine from a disk image."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from yurt.agent.drivers.cgroups import CgroupTree, find_cgroups, task_cgroups
from yurt.agent.drivers.config_schema import decode_config
from yurt.agent.drivers.context import DriverContext
from yurt.agent.drivers.driver import (
    UNDETECTED,
    Capabilities,
    DriverError,
    DriverFingerprint,
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
from yurt.agent.drivers.program_version import ProgramVersions
from yurt.agent.drivers.qemu_command import MONITOR, QemuConfig, qemu_arguments
from yurt.agent.drivers.users import find_user
from yurt.agent.launcher import Cgroups, ExitResult, LauncherClient, LaunchSpec, RunningTask
from yurt.observe.logger import get_logger

NAME = "qemu"
PREFIX = "qemu-system-"
MEMORY_MB_MIN, MEMORY_MB_MAX = 128, 4_000_000
MONITOR_LIMIT_S = 5.0
_PROMPT = b"(qemu) "
_DRIVE_INTERFACES = ("ide", "scsi", "sd", "mtd", "floppy", "pflash", "virtio", "none")
logger = get_logger("qemu")


class QemuOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The operator's settings: `plugin "qemu" { config { } }`. Empty lists allow any argument or emulator."""

    image_paths: tuple[str, ...] = ()
    args_allowlist: tuple[str, ...] = ()
    emulators_allowlist: tuple[str, ...] = ()


class QemuDriver:
    """Runs virtual machines through the launcher. Without `cgroups` they have no limits."""

    name = NAME
    capabilities = Capabilities(networks=(NetworkIsolation.HOST, NetworkIsolation.GROUP))

    def __init__(self, launcher: LauncherClient, options: QemuOptions, *, cgroups: CgroupTree | None) -> None:
        self._launcher = launcher
        self._options = options
        self._cgroups = cgroups
        self._versions = ProgramVersions("--version")

    async def fingerprint(self) -> DriverFingerprint:
        found = await asyncio.to_thread(installed_emulators)
        for path in found.values():
            version = qemu_version(await self._versions.ask(path) or "")
            if version:
                healthy = healthy_fingerprint(NAME)
                attributes = {
                    "driver.qemu.version": version,
                    "driver.qemu.emulators": ",".join(found),
                }
                return msgspec.structs.replace(healthy, attributes=healthy.attributes | attributes)
        return UNDETECTED

    def validate_config(self, config: Mapping[str, Any]) -> list[str]:
        return decode_config(config, QemuConfig)[1]

    async def start(self, spec: TaskSpec) -> QemuTask:
        config, problems = decode_config(spec.config, QemuConfig)
        if config is None:
            raise DriverError(config_error_text(problems))
        emulator = PREFIX + config.emulator.removeprefix(PREFIX)
        self._check(spec, config, emulator)
        path = shutil.which(emulator)
        if path is None:
            raise launch_error(f'binary "{emulator}" could not be found')
        image = await asyncio.to_thread(self._image, spec, config.image_path)
        identity = await asyncio.to_thread(find_user, spec.user) if spec.user else None
        cgroups = Cgroups()
        if self._cgroups is not None:
            cgroups = task_cgroups(self._cgroups, spec.alloc_id, spec.task, spec.resources)
        launch_spec = LaunchSpec(
            key=task_key(spec),
            path=path,
            argv=(path, *qemu_arguments(spec, config, image)),
            env=spec.env,
            # Sockets are named from here: their whole paths may be too long.
            cwd=spec.task_dir,
            logs=log_limits(spec),
            identity=identity,
            network_namespace=spec.network_namespace,
            cgroups=cgroups,
        )
        task = await launch(self._launcher, launch_spec)
        return QemuTask(self._launcher, task, spec.task_dir if config.graceful_shutdown else "")

    async def recover(self, state: bytes) -> QemuTask | None:
        try:
            known = msgspec.msgpack.decode(state, type=_State)
        except msgspec.DecodeError:
            return None
        task = await find_launched(self._launcher, known.launched)
        return QemuTask(self._launcher, task, known.monitor_dir) if task else None

    def _check(self, spec: TaskSpec, config: QemuConfig, emulator: str) -> None:
        """Refuse what cannot work, and what the operator does not allow."""
        allowed = [PREFIX + name.removeprefix(PREFIX) for name in self._options.emulators_allowlist]
        flags = [argument for argument in config.args if argument.startswith("-")]
        refused = [flag for flag in flags if flag.partition("=")[0] not in self._options.args_allowlist]
        problem = ""
        if allowed and emulator not in allowed:
            problem = f'emulator "{emulator}" is not allowed; this node allows {", ".join(allowed)}'
        elif self._options.args_allowlist and refused:
            problem = f"arguments are not allowed on this node: {', '.join(refused)}"
        elif config.drive_interface not in _DRIVE_INTERFACES:
            known = ", ".join(_DRIVE_INTERFACES)
            problem = f'unsupported drive_interface "{config.drive_interface}"; it may be {known}'
        elif not MEMORY_MB_MIN <= spec.resources.memory_mb <= MEMORY_MB_MAX:
            problem = (
                f"qemu memory assignment out of bounds: {spec.resources.memory_mb} MB is not between "
                f"{MEMORY_MB_MIN} and {MEMORY_MB_MAX}"
            )
        if problem:
            raise DriverError(problem)

    def _image(self, spec: TaskSpec, image_path: str) -> str:
        """The image's file, which must be the alloc's or in one of the operator's directories. Blocks."""
        path = Path(spec.task_dir, image_path).resolve()
        homes = [Path(spec.task_dir).parent, *map(Path, self._options.image_paths)]
        if not any(path.is_relative_to(home.resolve()) for home in homes):
            raise DriverError(
                f'image_path "{image_path}" is not in the allowed paths: use a file in the task\'s '
                "directory, or ask the operator to list its directory in image_paths"
            )
        if not path.is_file():
            raise DriverError(f'image_path "{image_path}" is not a file')
        return str(path)


class _State(msgspec.Struct, frozen=True, kw_only=True):
    launched: bytes
    monitor_dir: str


class QemuTask(LaunchedTask):
    """A `TaskHandle` of a virtual machine; with a `monitor_dir`, it is shut down like a real one."""

    def __init__(self, launcher: LauncherClient, task: RunningTask, monitor_dir: str) -> None:
        super().__init__(launcher, task)
        self._monitor_dir = monitor_dir
        self.state = msgspec.msgpack.encode(_State(launched=self.state, monitor_dir=monitor_dir))

    async def kill(self, signal: str, timeout_s: float) -> ExitResult:
        """Press the power button and wait; a machine without one gets the signal."""
        if self._monitor_dir and await _power_down(self._monitor_dir):
            try:
                async with asyncio.timeout(timeout_s):
                    return await self.wait()
            except TimeoutError:
                return await self._task.kill_now()
        return await super().kill(signal, timeout_s)


async def _power_down(directory: str) -> bool:
    """Tell the machine's monitor to power down; False when it cannot be told."""
    try:
        # Through the directory's descriptor: a socket's whole path may be too long to connect to.
        fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            async with asyncio.timeout(MONITOR_LIMIT_S):
                reader, writer = await asyncio.open_unix_connection(f"/proc/self/fd/{fd}/{MONITOR}")
                try:
                    await reader.readuntil(_PROMPT)
                    writer.write(b"system_powerdown\n")
                    await reader.readuntil(_PROMPT)
                finally:
                    writer.close()
        finally:
            os.close(fd)
    except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
        logger.warning("qemu.power_down_failed", directory=directory, error=str(error))
        return False
    return True


def installed_emulators(search_path: str | None = None) -> dict[str, str]:
    """Every emulator on the PATH, by the architecture it emulates. Blocks."""
    found: dict[str, str] = {}
    for directory in (search_path or os.environ.get("PATH", os.defpath)).split(os.pathsep):
        for name in _names(directory):
            path = f"{directory}/{name}"
            if name.startswith(PREFIX) and os.access(path, os.X_OK):
                found.setdefault(name.removeprefix(PREFIX), path)
    return dict(sorted(found.items()))


def _names(directory: str) -> Iterable[str]:
    try:
        return os.listdir(directory)
    except OSError:
        return ()


def qemu_version(told: str) -> str:
    """The version in `QEMU emulator version 7.2.22 (…)`; empty when there is none."""
    words = told.split()
    if "version" not in words[:-1]:
        return ""
    return words[words.index("version") + 1].strip("()")


def make(context: DriverContext) -> QemuDriver:
    """On wherever an emulator is installed."""
    options = context.plugin(NAME, QemuOptions)
    return QemuDriver(context.launcher, options, cgroups=find_cgroups(parent=context.cgroup_parent))
