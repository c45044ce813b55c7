"""The agent's door to the launcher: start tasks, find them again, end them."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from pathlib import Path

from yurt.agent.launcher.daemon.processes import boot_id
from yurt.agent.launcher.daemon.records import (
    LAUNCHER,
    SOCKET,
    SPARE,
    TASKS,
    VERSION,
    decode_record,
    read_record,
)
from yurt.agent.launcher.errors import LauncherUnavailable, LaunchFailed, TaskLost
from yurt.agent.launcher.leftovers import kill_leftovers
from yurt.agent.launcher.pidfds import open_process, wait_for_end
from yurt.agent.launcher.record import Record, load
from yurt.agent.launcher.running import RunningTask
from yurt.agent.launcher.spec import LaunchSpec, TaskKey

# Below any kernel's limit on connections that wait, so that none is refused for being one too many.
STARTS_AT_ONCE_MAX = 100
START_TRIES_MAX = 3
ANSWER_LIMIT_S = 60.0
PROCESS_END_LIMIT_S = 10.0
_ANSWER_BYTES_MAX = 1 << 16
# The daemon is run outside its package, so that importing it does not import the agent.
_BOOT = "import sys; sys.path.insert(0, sys.argv.pop(1)); from daemon.main import main; main()"


class LauncherClient:
    """Starts tasks through the launcher of one state folder, which is started when it is needed.

    Tasks and launcher outlive this object and its process; another client on the same folder finds them.
    """

    def __init__(self, directory: Path) -> None:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._directory = directory
        self._tasks = directory / TASKS
        # A socket's path is limited to 107 bytes; through this fd it is short wherever the folder lies.
        self._directory_fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._address = f"/proc/self/fd/{self._directory_fd}/{SOCKET}"
        self._boot_id = boot_id()
        self._running: dict[TaskKey, RunningTask] = {}
        self._slots = asyncio.Semaphore(STARTS_AT_ONCE_MAX)
        self._launcher_lock = asyncio.Lock()
        self._launchers_started = 0
        self._version_checked = False

    @property
    def directory(self) -> Path:
        """The state folder, which only the agent's user can see into."""
        return self._directory

    async def prepare(self) -> None:
        """Have a launcher at work before the first task needs one. Raises LauncherUnavailable."""
        await self._replace_old_launcher()
        await self._start_launcher(self._launchers_started)

    async def start(self, spec: LaunchSpec) -> RunningTask:
        """Start the task, or attach to it when its key was started before.

        Safe to call again whenever the outcome of an earlier call is unknown. Raises LaunchFailed when
        the command cannot be run (the key may then be tried again), TaskLost when the key was started
        and its supervisor has since been killed, LauncherUnavailable, and ValueError for a spec with
        NUL bytes.
        """
        request = spec.encode()
        async with self._slots:
            answer = decode_record(await self._ask(request))
        if answer["status"] == "failed":
            raise LaunchFailed(
                step=answer["step"], errno=int(answer["errno"]), reason=answer["reason"], path=spec.path
            )
        task = await self._hold(Record(answer))
        if task is None:
            raise TaskLost(str(spec.key))
        return task

    async def attach(self, key: TaskKey) -> RunningTask | None:
        """The task of `key`, running or ended; None when it was never started or its supervisor is lost.

        In the second case what is left of the task has been killed.
        """
        record = load(self._path(key))
        return await self._hold(record) if record else None

    def keys(self) -> list[TaskKey]:
        """Every key with records here: running, ended and lost ones that nobody forgot yet."""
        records = (load(f"{self._tasks}/{name}") for name in self._names() if not name.startswith(SPARE))
        return [record.key for record in records if record]

    def forget(self, key: TaskKey) -> None:
        """Drop the record of a task that ended; its key could then be started anew."""
        task = self._running.pop(key, None)
        assert task is None or not task.is_running, f"{key} still runs"
        Path(self._path(key)).unlink(missing_ok=True)

    async def shutdown(self, *, kill_tasks: bool) -> None:
        """Let go of everything; with `kill_tasks` end it first: tasks, their records, the launcher."""
        if kill_tasks:
            await self._end_launcher()
            await self._kill_spares()
            async with asyncio.TaskGroup() as group:
                for key in self.keys():
                    group.create_task(self._kill_and_forget(key))
        self.close()

    def close(self) -> None:
        """Let go of all tasks without touching them. Cancel every `wait` first."""
        for task in self._running.values():
            task.close()
        self._running.clear()
        if self._directory_fd >= 0:
            os.close(self._directory_fd)
            self._directory_fd = -1

    # --- tasks -----------------------------------------------------------------------------------

    def _path(self, key: TaskKey) -> str:
        return f"{self._tasks}/{key.record}"

    def _names(self) -> list[str]:
        return os.listdir(self._tasks) if self._tasks.is_dir() else []

    async def _hold(self, record: Record) -> RunningTask | None:
        held = self._running.get(record.key)
        if held is not None:
            return held
        supervisor = None
        if record.exit is None and record.boot_id == self._boot_id:
            supervisor = open_process(*record.supervisor)
        path = self._path(record.key)
        if supervisor is None and (latest := load(path)) is not None:
            record = latest  # it may have ended since the record was read
        if supervisor is None and record.exit is None:
            if record.boot_id == self._boot_id:
                await asyncio.to_thread(kill_leftovers, record)
            return None
        task = self._running[record.key] = RunningTask(record, path, supervisor)
        return task

    async def _kill_and_forget(self, key: TaskKey) -> None:
        task = await self.attach(key)
        if task is not None:
            await task.kill_now()
        self.forget(key)

    async def _kill_spares(self) -> None:
        """Kill supervisors that have not put a task on record, for instance one whose start is under way.

        One that does so just now is killed in the act; its record then leads to what is left of it.
        """
        for name in self._names():
            if name.startswith(SPARE):
                pid, _, ticks = name.removeprefix(SPARE).partition(".")
                await _end(int(pid), int(ticks), signal.SIGKILL)
                (self._tasks / name).unlink(missing_ok=True)

    # --- the launcher ----------------------------------------------------------------------------

    async def _ask(self, request: bytes) -> bytes:
        if not self._version_checked:
            await self._replace_old_launcher()
        for _ in range(START_TRIES_MAX):
            seen = self._launchers_started
            try:
                async with asyncio.timeout(ANSWER_LIMIT_S):
                    answer = await self._exchange(request)
            except TimeoutError:
                raise LauncherUnavailable(
                    f"the launcher in {self._directory} gave no answer within {ANSWER_LIMIT_S:.0f} s"
                ) from None
            except (ConnectionError, FileNotFoundError):
                answer = b""
            if answer:
                return answer
            # No launcher, or it died before it answered: asking again is safe, a key starts once.
            await self._start_launcher(seen)
        raise LauncherUnavailable(
            f"the launcher in {self._directory} died {START_TRIES_MAX} times; see launcher.log there"
        )

    async def _exchange(self, request: bytes) -> bytes:
        loop = asyncio.get_running_loop()
        answer = b""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK) as connection:
            connection.connect(self._address)
            await loop.sock_sendall(connection, request)
            while chunk := await loop.sock_recv(connection, _ANSWER_BYTES_MAX):
                answer += chunk
        return answer

    async def _start_launcher(self, seen: int) -> None:
        """Start a launcher unless another caller did since `seen` was read."""
        async with self._launcher_lock:
            if seen != self._launchers_started:
                return
            log_path = self._directory / "launcher.log"
            log = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            try:
                process = await asyncio.create_subprocess_exec(
                    *(sys.executable, "-I", "-S", "-X", "utf8", "-c", _BOOT),
                    *(str(Path(__file__).parent), str(self._directory)),
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=asyncio.subprocess.DEVNULL,
                    stderr=log,
                )
                status = await process.wait()
            finally:
                os.close(log)
            if status != 0:
                raise LauncherUnavailable(f"the launcher did not start (status {status}); see {log_path}")
            self._launchers_started += 1

    async def _replace_old_launcher(self) -> None:
        async with self._launcher_lock:
            if self._version_checked:
                return
            facts = read_record(str(self._directory / LAUNCHER))
            if facts is not None and facts.get("version") != VERSION:
                await self._end_launcher()
            self._version_checked = True

    async def _end_launcher(self) -> None:
        facts = read_record(str(self._directory / LAUNCHER))
        if facts is None or facts["boot"] != self._boot_id:
            return
        await _end(int(facts["pid"]), int(facts["pid_start"]), signal.SIGTERM)


async def _end(pid: int, ticks: int, number: int) -> None:
    """Signal a process and wait until it has ended."""
    process = open_process(pid, ticks)
    if process is None:
        return
    try:
        signal.pidfd_send_signal(process, number)
        async with asyncio.timeout(PROCESS_END_LIMIT_S):
            await wait_for_end(process)
    except ProcessLookupError:
        pass
    finally:
        os.close(process)
