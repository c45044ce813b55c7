"""What a task driver is: the interface every way of running tasks fulfils."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Protocol

import msgspec

from yurt.agent.launcher import ExitResult
from yurt.errors import YurtError
from yurt.model.multi_error import multi_error_text


class DriverError(YurtError):
    """A driver could not do what was asked; the text is shown to users as it is.

    `recoverable` says whether another start may succeed, so that the restart policy applies.
    """

    def __init__(self, message: str, *, recoverable: bool = False) -> None:
        super().__init__(message)
        self.recoverable = recoverable


class FsIsolation(StrEnum):
    """What of the host's files a task sees."""

    NONE = "none"
    CHROOT = "chroot"
    IMAGE = "image"


class NetworkIsolation(StrEnum):
    """A network a task can be put in: the host's, its group's, or one of its own."""

    HOST = "host"
    GROUP = "group"
    TASK = "task"


class Capabilities(msgspec.Struct, frozen=True, kw_only=True):
    """What a driver can do beyond running tasks."""

    send_signals: bool = False
    exec: bool = False
    host_volumes: bool = False
    fs_isolation: FsIsolation = FsIsolation.NONE
    networks: tuple[NetworkIsolation, ...] = (NetworkIsolation.HOST,)


class DriverFingerprint(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a driver is there and works; `attributes` become those of the node's driver entry."""

    detected: bool
    healthy: bool
    description: str = ""
    attributes: dict[str, str] = {}


UNDETECTED = DriverFingerprint(detected=False, healthy=False)


def healthy_fingerprint(name: str) -> DriverFingerprint:
    """The answer of driver `name` when it is there and has nothing more to say."""
    return DriverFingerprint(
        detected=True, healthy=True, description="Healthy", attributes={f"driver.{name}": "true"}
    )


class TaskResources(msgspec.Struct, frozen=True, kw_only=True):
    """What a task may use. `memory_max_mb` 0 means no more than `memory_mb`, -1 no limit at all.

    `node_cpu_shares` is what the whole node has.
    """

    cpu_shares: int = 0
    node_cpu_shares: int = 0
    memory_mb: int = 0
    memory_max_mb: int = 0
    cores: tuple[int, ...] = ()


class TaskMount(msgspec.Struct, frozen=True, kw_only=True):
    """A file or directory of the host that a task with a root of its own sees at `target`."""

    source: str
    target: str
    readonly: bool = False


class TaskDevice(msgspec.Struct, frozen=True, kw_only=True):
    """A device file of the host that a task with a root of its own may use, at the same path."""

    path: str
    permissions: str = "rw"


class TaskPort(msgspec.Struct, frozen=True, kw_only=True):
    """A port of the task's group: on the host, and in the task's own network (0: the same number)."""

    label: str
    host_ip: str
    host_port: int
    to: int = 0


class TaskOwner(msgspec.Struct, frozen=True, kw_only=True):
    """Whose task it is and where it runs, as drivers may label it."""

    job_id: str = ""
    job_name: str = ""
    parent_job_id: str = ""
    group: str = ""
    namespace: str = ""
    node_id: str = ""
    node_name: str = ""


Announce = Callable[[str, dict[str, str]], None]
"""Tells the task's owner a driver's message with its details; it becomes a task event."""


def _announce_nothing(_message: str, _details: dict[str, str]) -> None:
    """Nobody wants to hear it."""


class TaskSpec(msgspec.Struct, frozen=True, kw_only=True):
    """One start of one task, with everything resolved: no expression is left in `config` or `env`.

    `attempt` is a new number for each start of the task in its alloc; a start that is repeated with the
    same number finds the task already running. `user` empty is the driver's own choice. `shared_dir` is
    the alloc's directory for all its tasks. `network_namespace` is a path, empty for the host's; with one,
    `network_address` is what the task has there and `hostname` its name, either may be empty.
    `network_folder` is for files about the network that no task can change. Without a `log_dir` output is
    thrown away.
    """

    alloc_id: str
    task: str
    attempt: int
    config: dict[str, Any]
    env: Mapping[str, str]
    task_dir: str
    shared_dir: str = ""
    user: str = ""
    log_dir: str = ""
    log_files_max: int = 10
    log_file_mb_max: int = 10
    resources: TaskResources = TaskResources()
    network_namespace: str = ""
    network_address: str = ""
    network_folder: str = ""
    hostname: str = ""
    mounts: tuple[TaskMount, ...] = ()
    ports: tuple[TaskPort, ...] = ()
    devices: tuple[TaskDevice, ...] = ()
    owner: TaskOwner = TaskOwner()
    announce: Announce = _announce_nothing


class DriverNetwork(msgspec.Struct, frozen=True, kw_only=True):
    """An address that a driver gave a task, and the ports it has there by label."""

    ip: str = ""
    port_map: dict[str, int] = {}
    auto_advertise: bool = False


class TaskHandle(Protocol):
    """A started task. Dropping the handle leaves the task alone."""

    @property
    def state(self) -> bytes:
        """What `Driver.recover` needs to find the task again; never changes."""

    @property
    def network(self) -> DriverNetwork | None:
        """The address the driver gave the task, if it gave one."""

    async def wait(self) -> ExitResult:
        """Wait for the end; any number of callers may."""

    async def kill(self, signal: str, timeout_s: float) -> ExitResult:
        """Ask the task to end with a signal, and end it by force when the time has passed."""

    async def signal(self, signal: str) -> None:
        """Send a signal by name. Raises DriverError."""

    async def destroy(self) -> None:
        """End the task if it still runs, and drop what the driver keeps of it: `recover` finds it no more.

        Call it once the exit has been stored.
        """


class Driver(Protocol):
    """A way of running tasks."""

    @property
    def name(self) -> str:
        """What job files call it."""

    @property
    def capabilities(self) -> Capabilities:
        """What it can do."""

    async def fingerprint(self) -> DriverFingerprint:
        """Look whether it works on this machine."""

    def validate_config(self, config: Mapping[str, Any]) -> list[str]:
        """The problems of a task's config, to be told with `config_error_text`; none when it can be used."""

    async def start(self, spec: TaskSpec) -> TaskHandle:
        """Start a task, or attach to it when this very start was made before. Raises DriverError."""

    async def recover(self, state: bytes) -> TaskHandle | None:
        """The task of a handle's `state`, running or ended; None when it is lost."""


def config_error_text(problems: list[str]) -> str:
    """The text of a failed validation, for problems of a config's expressions and its values alike."""
    return multi_error_text(["failed to parse config: ", *problems])
