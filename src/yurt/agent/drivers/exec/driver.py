"""The exec driver: a command in a container whose root is the task's directory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from yurt.agent.drivers.config_schema import decode_config
from yurt.agent.drivers.context import DriverContext
from yurt.agent.drivers.driver import (
    Capabilities,
    DriverError,
    DriverFingerprint,
    FsIsolation,
    NetworkIsolation,
    TaskSpec,
    config_error_text,
    healthy_fingerprint,
)
from yurt.agent.drivers.exec.isolation import IsolatedCommand, IsolatedTask, Isolation, make_isolation
from yurt.agent.drivers.exec.runtime import find_runtime

NAME = "exec"
NO_CGROUPS = "isolating tasks wants root on a machine whose control groups can be written"
NO_RUNTIME = "isolating tasks wants an OCI runtime; install crun or runc"


class ExecConfig(msgspec.Struct, frozen=True, kw_only=True):
    """A task's `config { }`."""

    command: str
    args: tuple[str, ...] = ()
    pid_mode: str = ""
    ipc_mode: str = ""
    cap_add: tuple[str, ...] = ()
    cap_drop: tuple[str, ...] = ()
    work_dir: str = ""


class ExecDriver:
    """Runs isolated commands; without an `isolation`, none."""

    name = NAME
    capabilities = Capabilities(
        send_signals=True,
        exec=True,
        host_volumes=True,
        fs_isolation=FsIsolation.CHROOT,
        networks=(NetworkIsolation.HOST, NetworkIsolation.GROUP),
    )

    def __init__(self, isolation: Isolation | None) -> None:
        self._isolation = isolation

    async def fingerprint(self) -> DriverFingerprint:
        reason = missing(self._isolation)
        if reason:
            return DriverFingerprint(detected=False, healthy=False, description=reason)
        return healthy_fingerprint(NAME)

    def validate_config(self, config: Mapping[str, Any]) -> list[str]:
        return decode_config(config, ExecConfig)[1]

    async def start(self, spec: TaskSpec) -> IsolatedTask:
        config, problems = decode_config(spec.config, ExecConfig)
        if config is None:
            raise DriverError(config_error_text(problems))
        if self._isolation is None:
            raise DriverError(NO_CGROUPS)
        return await self._isolation.start(spec, IsolatedCommand(**msgspec.structs.asdict(config)))

    async def recover(self, state: bytes) -> IsolatedTask | None:
        return await self._isolation.recover(state) if self._isolation else None


def make(context: DriverContext) -> ExecDriver:
    """On wherever the machine can isolate commands."""
    return ExecDriver(make_isolation(context, NAME))


def missing(isolation: Isolation | None) -> str:
    """What keeps commands from being isolated on this machine; empty when nothing does."""
    if isolation is None:
        return NO_CGROUPS
    return "" if find_runtime() else NO_RUNTIME
