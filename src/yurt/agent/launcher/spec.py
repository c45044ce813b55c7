"""What can be asked of the launcher: one command, its surroundings, where its output goes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import msgspec

from yurt.agent.launcher.daemon.logs import FILE_BYTES_MIN
from yurt.agent.launcher.daemon.records import encode_request


class TaskKey(msgspec.Struct, frozen=True):
    """Names one start of one task; the launcher starts a key at most once."""

    alloc_id: str
    task: str
    attempt: int

    def __post_init__(self) -> None:
        for part in (self.alloc_id, self.task):
            if not part or set(part) & {"/", "\n", "\0"}:
                raise ValueError(f"{part!r} cannot name a task or alloc: it is used in the names of files")

    @property
    def record(self) -> str:
        """File name of the key's record; safe whatever the task is called."""
        digest = hashlib.blake2b(f"{self.alloc_id}\0{self.task}".encode(), digest_size=12)
        return f"{digest.hexdigest()}.{self.attempt}"

    def __str__(self) -> str:
        return f"{self.alloc_id}/{self.task}/{self.attempt}"


class LogLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Output goes to `<directory>/<task>.stdout.<N>` and `.stderr.<N>`, of which the newest stay."""

    directory: str
    files_max: int
    file_bytes_max: int

    def __post_init__(self) -> None:
        if self.files_max < 1:
            raise ValueError(f"log files_max is {self.files_max}; keep at least 1 file")
        if self.file_bytes_max < FILE_BYTES_MIN:
            raise ValueError(f"log file_bytes_max is {self.file_bytes_max}; the least is {FILE_BYTES_MIN}")


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """The user a task runs as, by number."""

    uid: int
    gid: int
    groups: tuple[int, ...] = ()


class Cgroups(msgspec.Struct, frozen=True, kw_only=True):
    """Control groups of a task, of either version.

    The supervisor makes `make`, writes `write` (file to value) in order, lets the task join `join`, and
    removes `make` when all is over. `home` are the groups of version 1 that it is in itself, of the
    hierarchies of `join`: where they are known, it can start a task faster. `oom_counter` is a file with
    an `oom_kill N` line.
    """

    make: tuple[str, ...] = ()
    write: tuple[tuple[str, str], ...] = ()
    join: tuple[str, ...] = ()
    home: tuple[str, ...] = ()
    oom_counter: str = ""


class LaunchSpec(msgspec.Struct, frozen=True, kw_only=True):
    """One command to run under a supervisor.

    `path` is the file to execute and `argv` all arguments, the first being the name it is called by.
    Without `logs` output is thrown away, unless `stdio` names what to open as standard input, output and
    error, or `terminal` a terminal that is all three and controls the command's session. Without
    `identity` the command runs as the agent's user.
    `rlimits` are (RLIMIT number, soft, hard). Mounts at `hidden_mounts` are taken away from the command
    and all it starts. With a `pid_file` the command only starts the task, as a container runtime does: it
    writes the task's pid there, ends with status 0, and the supervisor takes the task over. A `builtin`
    names something the launcher can do itself with `argv`; `path` and `env` then mean nothing.
    """

    key: TaskKey
    path: str
    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str = "/"
    logs: LogLimits | None = None
    stdio: tuple[str, ...] = ()
    terminal: str = ""
    identity: Identity | None = None
    umask: int = 0o022
    rlimits: tuple[tuple[int, int, int], ...] = ()
    oom_score_adj: int | None = None
    network_namespace: str = ""
    hidden_mounts: tuple[str, ...] = ()
    pid_file: str = ""
    builtin: str = ""
    cgroups: Cgroups = Cgroups()

    def encode(self) -> bytes:
        """The request as the supervisor reads it; raises ValueError for what no process can be given."""
        cgroups = self.cgroups
        fields = [
            ("record", self.key.record),
            ("alloc", self.key.alloc_id),
            ("task", self.key.task),
            ("attempt", str(self.key.attempt)),
            ("path", self.path),
            *(("arg", value) for value in self.argv),
            ("cwd", self.cwd),
            ("umask", str(self.umask)),
            *(("rlimit", f"{kind}={soft}:{hard}") for kind, soft, hard in self.rlimits),
            *(("hidden_mount", path) for path in self.hidden_mounts),
            *(("stdio", path) for path in self.stdio),
            *(("cgroup_make", path) for path in cgroups.make),
            *(("cgroup_write", f"{path}={value}") for path, value in cgroups.write),
            *(("cgroup_join", path) for path in cgroups.join),
            *(("cgroup_home", path) for path in cgroups.home),
        ]
        for name in ("network_namespace", "terminal", "pid_file", "builtin"):
            if value := getattr(self, name):
                fields.append((name, value))
        if cgroups.oom_counter:
            fields.append(("oom_counter", cgroups.oom_counter))
        if self.oom_score_adj is not None:
            fields.append(("oom_score_adj", str(self.oom_score_adj)))
        if self.logs is not None:
            fields.append(("log_directory", self.logs.directory))
            fields.append(("log_files_max", str(self.logs.files_max)))
            fields.append(("log_bytes_max", str(self.logs.file_bytes_max)))
        if self.identity is not None:
            fields.append(("uid", str(self.identity.uid)))
            fields.append(("gid", str(self.identity.gid)))
            fields.extend(("group", str(group)) for group in self.identity.groups)
        return encode_request(fields, [f"{name}={value}" for name, value in self.env.items()])


class ExitResult(msgspec.Struct, frozen=True, kw_only=True):
    """How a task ended: `exit_code` is 128 + `signal` when a signal ended it.

    `error` is not empty when the end itself could not be observed.
    """

    exit_code: int = 0
    signal: int = 0
    oom_killed: bool = False
    error: str = ""
    ended_ns: int = 0

    @property
    def is_success(self) -> bool:
        return self.exit_code == 0 and self.signal == 0 and not self.error
