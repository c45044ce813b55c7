"""Many tasks leave no processes, files or descriptors, and the launcher stays small."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import msgspec

from tests.agent.launcher.real_tasks import ShellTask
from yurt.agent import launcher as package
from yurt.agent.launcher import LauncherClient
from yurt.agent.launcher.daemon.main import SPARES
from yurt.agent.launcher.daemon.records import SPARE

TASKS = 200


async def test_short_tasks_leave_nothing_behind(
    launcher: LauncherClient, shell: ShellTask, tmp_path: Path
) -> None:
    await (await launcher.start(shell("true", task="first"))).wait()
    fds = len(os.listdir("/proc/self/fd"))
    script = msgspec.structs.replace(shell("true"), logs=None)

    async def run(attempt: int) -> int:
        key = msgspec.structs.replace(script.key, attempt=attempt)
        task = await launcher.start(msgspec.structs.replace(script, key=key))
        result = await task.wait()
        launcher.forget(key)
        return result.exit_code

    codes = await asyncio.gather(*(run(attempt) for attempt in range(TASKS)))

    assert codes == [0] * TASKS
    assert len(os.listdir("/proc/self/fd")) == fds
    names = [path.name for path in (tmp_path / "launcher" / "tasks").iterdir()]
    assert [name for name in names if not name.startswith(SPARE)] == [shell("true", task="first").key.record]
    # A supervisor gives its record the name of its key at once, so a name per spare is all there may be.
    assert len(names) <= 1 + SPARES + 1
    assert (tmp_path / "launcher" / "launcher.log").read_text() == ""


def test_the_daemon_imports_little() -> None:
    code = "import sys; sys.path.insert(0, sys.argv[1]); import daemon.main; print(*sys.modules)"
    command = [sys.executable, "-I", "-S", "-c", code, str(Path(package.__file__).parent)]

    modules = set(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())

    heavy = {"asyncio", "dataclasses", "inspect", "json", "logging", "pathlib", "re", "subprocess", "typing"}
    assert not modules & heavy
    assert not [name for name in modules if name.startswith(("yurt", "msgspec"))]
