"""The java driver: a Java program, isolated like a command of the exec driver where the agent is root."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Mapping
from typing import Any

import msgspec

from yurt.agent.drivers.commands import find_command
from yurt.agent.drivers.config_schema import decode_config
from yurt.agent.drivers.context import DriverContext
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
from yurt.agent.drivers.exec import IsolatedCommand, Isolation, make_isolation, missing
from yurt.agent.drivers.launched import (
    LaunchedTask,
    launch,
    launch_error,
    log_limits,
    recover_launched,
    task_key,
)
from yurt.agent.drivers.program_version import ProgramVersions
from yurt.agent.drivers.users import find_user
from yurt.agent.launcher import LauncherClient, LaunchSpec

NAME = "java"
JAVA = "java"


class JavaConfig(msgspec.Struct, frozen=True, kw_only=True):
    """A task's `config { }`."""

    jar_path: str = ""
    class_name: str = msgspec.field(name="class", default="")
    class_path: str = ""
    jvm_options: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    pid_mode: str = ""
    ipc_mode: str = ""
    cap_add: tuple[str, ...] = ()
    cap_drop: tuple[str, ...] = ()
    work_dir: str = ""


class JavaDriver:
    """Runs Java programs; without an `isolation`, as the agent's user on the host's files."""

    name = NAME

    def __init__(self, launcher: LauncherClient, isolation: Isolation | None) -> None:
        self._launcher = launcher
        self._isolation = isolation
        self._versions = ProgramVersions("-version")

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(
            host_volumes=self._isolation is not None,
            fs_isolation=FsIsolation.CHROOT if self._isolation else FsIsolation.NONE,
            networks=(NetworkIsolation.HOST, NetworkIsolation.GROUP),
        )

    async def fingerprint(self) -> DriverFingerprint:
        path = shutil.which(JAVA)
        if path is None:
            return UNDETECTED
        if self._isolation is not None and (reason := missing(self._isolation)):
            return DriverFingerprint(detected=False, healthy=False, description=reason)
        told = await self._versions.ask(path)
        if told is None:
            return DriverFingerprint(detected=False, healthy=False, description=f"{path} -version fails")
        found = healthy_fingerprint(NAME)
        return msgspec.structs.replace(found, attributes=found.attributes | java_attributes(told))

    def validate_config(self, config: Mapping[str, Any]) -> list[str]:
        return decode_config(config, JavaConfig)[1]

    async def start(self, spec: TaskSpec) -> LaunchedTask:
        config, problems = decode_config(spec.config, JavaConfig)
        if config is None:
            raise DriverError(config_error_text(problems))
        if not config.jar_path and not config.class_name:
            raise DriverError("jar_path or class must be specified")
        if self._isolation is None:
            return await self._start_plainly(spec, config)
        command = IsolatedCommand(
            command=JAVA,
            args=java_arguments(config),
            pid_mode=config.pid_mode,
            ipc_mode=config.ipc_mode,
            cap_add=config.cap_add,
            cap_drop=config.cap_drop,
            work_dir=config.work_dir,
        )
        return await self._isolation.start(spec, command)

    async def recover(self, state: bytes) -> LaunchedTask | None:
        if self._isolation is not None:
            return await self._isolation.recover(state)
        return await recover_launched(self._launcher, state)

    async def _start_plainly(self, spec: TaskSpec, config: JavaConfig) -> LaunchedTask:
        paths = (spec.env.get("PATH", ""), os.environ.get("PATH", ""))
        path = find_command(JAVA, task_dir=spec.task_dir, paths=paths)
        if path is None:
            raise launch_error(f'binary "{JAVA}" could not be found')
        identity = await asyncio.to_thread(find_user, spec.user) if spec.user else None
        launch_spec = LaunchSpec(
            key=task_key(spec),
            path=path,
            argv=(path, *java_arguments(config)),
            env=spec.env,
            cwd=config.work_dir or spec.task_dir,
            logs=log_limits(spec),
            identity=identity,
            network_namespace=spec.network_namespace,
        )
        return LaunchedTask(self._launcher, await launch(self._launcher, launch_spec))


def java_arguments(config: JavaConfig) -> tuple[str, ...]:
    """What follows `java` on its command line."""
    arguments = [*config.jvm_options]
    if config.class_path:
        arguments += ["-cp", config.class_path]
    arguments += ["-jar", config.jar_path] if config.jar_path else [config.class_name]
    return (*arguments, *config.args)


def java_attributes(told: str) -> dict[str, str]:
    """Version, runtime and VM from what `java -version` says in three lines."""
    lines = [line.strip() for line in told.splitlines() if line.strip()]
    # Options from the environment are told before all else.
    lines = [line for line in lines if not line.startswith("Picked up ")]
    version, runtime, machine, *_ = [*lines, "", "", ""]
    quoted = version.split('"')
    attributes = {
        "driver.java.version": quoted[1] if len(quoted) > 2 else "",
        "driver.java.runtime": runtime,
        "driver.java.vm": machine,
    }
    return {name: value for name, value in attributes.items() if value}


def make(context: DriverContext) -> JavaDriver:
    """On wherever there is a Java."""
    return JavaDriver(context.launcher, make_isolation(context, NAME))
