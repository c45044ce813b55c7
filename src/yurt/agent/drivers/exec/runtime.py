"""The OCI runtime of the machine: which one, how it is called, what it says when it fails."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import msgspec

from yurt.agent.drivers.session import TERMINAL_KIND

_SEARCH_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# The first that is there is used: crun starts a container in a third of the time.
_NAMES = ("crun", "runc")
_LOG_BYTES_MAX = 1 << 16


class Runtime(msgspec.Struct, frozen=True):
    """An installed runtime."""

    name: str
    path: str

    @property
    def needs_cgroups(self) -> bool:
        """Whether it insists on putting containers into groups by itself."""
        return self.name != "crun"

    @property
    def hands_out_terminals(self) -> bool:
        """Whether it gives away the terminal of a command that it waits for.

        The other one copies between that terminal and its own, and tells of a new size, which crun does not.
        """
        return self.name == "crun"


def find_runtime() -> Runtime | None:
    """The runtime to use; None when none is installed."""
    search_path = f"{os.environ.get('PATH', '')}:{_SEARCH_PATH}"
    for name in _NAMES:
        if path := shutil.which(name, path=search_path):
            return Runtime(name, path)
    return None


class Bundle(msgspec.Struct, frozen=True):
    """The folder of one container: its description, and what the runtime keeps of it."""

    path: str

    @property
    def pid_file(self) -> str:
        return f"{self.path}/pid"

    def write(self, config: bytes) -> None:
        """Make the folder; a failure's text of an earlier try goes."""
        os.makedirs(self.path, mode=0o700, exist_ok=True)
        Path(self._log).unlink(missing_ok=True)
        _write_private(self._config, config)

    def run_arguments(
        self, runtime: Runtime, container_id: str, *, manages_cgroups: bool, pivots_root: bool
    ) -> tuple[str, ...]:
        """The command line that starts the container and ends as soon as it runs."""
        arguments = self._arguments(runtime, manages_cgroups=manages_cgroups)
        arguments += ["run", "--detach", "--pid-file", self.pid_file, "--bundle", self.path]
        if not pivots_root:
            arguments.append("--no-pivot")
        return (*arguments, container_id)

    def exec_arguments(
        self,
        runtime: Runtime,
        container_id: str,
        entered: str,
        *,
        manages_cgroups: bool,
        console_socket: str = "",
    ) -> tuple[str, ...]:
        """The command line that runs another command in the container, and ends with it.

        The file `<entered>.json` describes its process; `<entered>` gets its pid, `<entered>.log` what the
        runtime complains about, and the socket the other side of its terminal.
        """
        arguments = self._arguments(runtime, manages_cgroups=manages_cgroups, log=f"{entered}.log")
        arguments += ["exec", "--process", f"{entered}.json", "--pid-file", entered]
        if console_socket:
            arguments += ["--console-socket", console_socket]
        return (*arguments, container_id)

    def describe_process(self, argv: Sequence[str], path: str, *, tty: bool = False) -> None:
        """Write the description of a process like the container's first, but with `argv`. Blocks."""
        process = msgspec.json.decode(Path(self._config).read_bytes())["process"]
        if tty:
            process["env"] = [f"TERM={TERMINAL_KIND}", *process["env"]]
        process |= {"args": argv, "terminal": tty}
        _write_private(path, msgspec.json.encode(process))

    def _arguments(self, runtime: Runtime, *, manages_cgroups: bool, log: str = "") -> list[str]:
        arguments = [runtime.path, "--root", f"{self.path}/state", "--log", log or self._log]
        arguments += ["--log-format", "json"]
        return arguments if manages_cgroups else [*arguments, "--cgroup-manager", "disabled"]

    def failure(self) -> str:
        """What the runtime last complained about; empty when it did not."""
        return last_complaint(self._log)

    def remove(self) -> None:
        """Delete all that is kept of a container that has ended."""
        shutil.rmtree(self.path, ignore_errors=True)

    @property
    def _config(self) -> str:
        return f"{self.path}/config.json"

    @property
    def _log(self) -> str:
        return f"{self.path}/log"


def last_complaint(log: str) -> str:
    """What a runtime last wrote to its log as an error; empty when it wrote none. Blocks."""
    try:
        lines = Path(log).read_bytes()[-_LOG_BYTES_MAX:].splitlines()
    except OSError:
        return ""
    for line in reversed(lines):
        try:
            said = msgspec.json.decode(line, type=_LogLine)
        except msgspec.DecodeError:
            continue
        if said.level in ("error", "fatal"):
            return said.msg
    return ""


def _write_private(path: str, content: bytes) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        os.write(fd, content)
    finally:
        os.close(fd)


class _LogLine(msgspec.Struct):
    msg: str = ""
    level: str = ""
