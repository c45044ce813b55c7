"""A Docker daemon of the tests' own, without network or registry, and images for it."""

from __future__ import annotations

import io
import shutil
import signal
import subprocess
import tarfile
import time
from collections.abc import AsyncIterator
from pathlib import Path

from yurt.agent.drivers.docker.answers import Container, ListedContainer
from yurt.agent.drivers.docker.engine import Engine, EngineError

IMAGE = "busybox:1"
START_LIMIT_S = 60.0
_POLL_S = 0.05
_COMMANDS = "cat echo env false head id ls mkdir nc printf pwd readlink seq sh sleep stat touch true wc"


class DockerDaemon:
    """`dockerd` with all it keeps in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.endpoint = f"unix://{folder}/docker.sock"
        self.engine = Engine(self.endpoint)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, *, live_restore: bool = True) -> None:
        """Start it, and wait until it answers."""
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    *("dockerd", "--iptables=false", "--ip6tables=false", "--bridge=none"),
                    *("--data-root", str(self.folder / "data"), "--exec-root", str(self.folder / "exec")),
                    *("--pidfile", str(self.folder / "pid"), "-H", self.endpoint),
                    f"--live-restore={str(live_restore).lower()}",
                ],
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        deadline = time.monotonic() + START_LIMIT_S
        while not _answers(self.folder / "docker.sock"):
            assert self._process.poll() is None, (self.folder / "log").read_text()[-2000:]
            assert time.monotonic() < deadline, "dockerd does not answer"
            time.sleep(_POLL_S)

    def stop(self, *, number: int = signal.SIGTERM) -> None:
        """End it, and wait until it has."""
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait(START_LIMIT_S)
            self._process = None

    def remove(self) -> None:
        """End it, and leave nothing on the machine. Its containers must be gone."""
        self.stop()
        for mounted in reversed(Path("/proc/self/mounts").read_text().splitlines()):
            path = mounted.split()[1]
            if path.startswith(f"{self.folder}/"):
                subprocess.run(["umount", path], check=True)
        shutil.rmtree(self.folder)

    async def add_image(self, name: str, *changes: str) -> None:
        """Make an image of busybox."""
        repository, _, tag = name.partition(":")
        stream = self.engine.stream(
            "/images/create",
            data=_once(busybox_root()),
            fromSrc="-",
            repo=repository,
            tag=tag,
            changes="\n".join(changes),
        )
        async for line in stream:
            assert b"error" not in line, line

    async def container(self, container_id: str) -> Container | None:
        """What the daemon knows of a container."""
        try:
            return await self.engine.get(f"/containers/{container_id}/json", Container)
        except EngineError:
            return None

    async def containers(self) -> list[str]:
        """The ids of all containers."""
        listed = await self.engine.get("/containers/json", list[ListedContainer], all="true")
        return [container.id for container in listed]


def busybox_root(mark: str = "") -> bytes:
    """A root file system as a tar archive; a `mark` makes it another one."""
    program = shutil.which("busybox")
    assert program is not None, "install busybox-static"
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for folder in ("bin", "etc", "tmp"):
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o777
            archive.addfile(entry)
        mark_file = tarfile.TarInfo(f"etc/mark{mark}")
        archive.addfile(mark_file)
        archive.add(Path(program).resolve(), "bin/busybox")
        for name in _COMMANDS.split():
            link = tarfile.TarInfo(f"bin/{name}")
            link.type, link.linkname = tarfile.SYMTYPE, "busybox"
            archive.addfile(link)
    return buffer.getvalue()


async def _once(data: bytes) -> AsyncIterator[bytes]:
    yield data


def _answers(path: Path) -> bool:
    command = ["curl", "-sf", "--unix-socket", str(path), "http://docker/_ping"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0
