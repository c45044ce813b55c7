"""Tasks find what was fetched for them, or hear why it was not."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.agent.alloc_harness import RunningAlloc, a_node_context, running
from tests.agent.artifacts.archives import a_tar, a_zip, file
from tests.agent.artifacts.web import FileServer, a_file_server
from tests.agent.builders import ALLOC_ID, a_job, a_task, an_alloc
from tests.agent.recorded_lives import RECORDED, batch, expected_tasks, policy, shell, shown
from tests.agent.services.service_jobs import free_port
from tests.agent.virtual_clock import VirtualClock
from yurt.agent.drivers.raw_exec import RawExecDriver, RawExecOptions
from yurt.agent.launcher import LauncherClient
from yurt.agent.node_context import NodeContext
from yurt.agent.settings import ArtifactSettings
from yurt.model.task_parts import RestartPolicy, TaskArtifact
from yurt.model.times import SECOND_NS
from yurt.model.wire import AllocID

HELLO = b"hello\n"


@pytest.fixture
async def web() -> AsyncIterator[FileServer]:
    async with a_file_server() as server:
        server.files |= {"/file.txt": HELLO, "/a.tgz": a_tar(file("file.txt", HELLO), mode="w:gz")}
        yield server


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
async def node(tmp_path: Path, clock: VirtualClock) -> NodeContext:
    return a_node_context(tmp_path, clock)


def an_artifact(source: str, **changes: Any) -> TaskArtifact:
    return msgspec.structs.replace(TaskArtifact(getter_source=source), **changes)


# --- recorded lives -----------------------------------------------------------------------------------------


@pytest.fixture
async def launcher(tmp_path: Path) -> AsyncIterator[LauncherClient]:
    client = LauncherClient(tmp_path / "launcher")
    yield client
    await client.shutdown(kill_tasks=True)


RECORDED_URL = "http://127.0.0.1:8000"
SCENARIOS: dict[str, tuple[tuple[TaskArtifact, ...], str, RestartPolicy]] = {
    "artifact-404": ((an_artifact(f"{RECORDED_URL}/none.txt"),), "true", policy(1, 1)),
    "artifact-bad-checksum": (
        (
            an_artifact(
                f"{RECORDED_URL}/file.txt",
                getter_options={"checksum": f"sha256:{hashlib.sha256(b'test').hexdigest()}"},
            ),
        ),
        "true",
        policy(0, 0),
    ),
    "artifact-ok": (
        (
            an_artifact(f"{RECORDED_URL}/file.txt"),
            an_artifact(f"{RECORDED_URL}/a.tgz", relative_dest="local/un"),
            an_artifact(f"{RECORDED_URL}/file.txt", relative_dest="local/renamed", getter_mode="file"),
        ),
        "cmp local/file.txt local/un/file.txt && cmp local/file.txt local/renamed",
        policy(0, 0),
    ),
    "artifact-refused": ((an_artifact("http://127.0.0.1:9/none.txt"),), "true", policy(0, 0)),
}


@pytest.mark.parametrize("name", SCENARIOS)
async def test_recorded_scenario(
    name: str, tmp_path: Path, launcher: LauncherClient, web: FileServer, clock: VirtualClock
) -> None:
    artifacts, script, restarts = SCENARIOS[name]
    offered = tuple(
        msgspec.structs.replace(each, getter_source=each.getter_source.replace(RECORDED_URL, web.url))
        for each in artifacts
    )
    recorded = RECORDED[name]
    raw_exec = RawExecDriver(launcher, RawExecOptions(enabled=True), cgroups=None)
    node = a_node_context(tmp_path, clock, drivers={"raw_exec": raw_exec})
    alloc = an_alloc(batch(shell(script, artifacts=offered, restart_policy=restarts)))

    async with running(alloc, node) as run:
        while not run.runner.is_over:
            await clock.advance(0.1)
            await asyncio.sleep(0.005)
        seen = json.dumps({task: shown(state) for task, state in run.runner.states.items()})

    for found, recorded_text in (
        (web.url, RECORDED_URL),
        (str(node.dirs.path(alloc.id).parent), "<alloc_dir>"),
        (alloc.id, "<alloc id>"),
    ):
        seen = seen.replace(found, recorded_text)
    assert json.loads(seen) == expected_tasks(recorded)
    assert run.status == (recorded["ClientStatus"], recorded["ClientDescription"])


# --- what recordings do not show ----------------------------------------------------------------------------


async def fetched(node: NodeContext, *artifacts: TaskArtifact, **task: Any) -> RunningAlloc:
    """Run a task with artifacts until it runs or is dead; its files stay."""
    made = a_task(config={"run_for": "1h"}, artifacts=artifacts, **task)
    run = RunningAlloc(an_alloc(a_job(made)), node, None)
    going = asyncio.create_task(run.runner.run())
    await run.until(lambda: run.state().state in ("running", "dead"))
    going.cancel()
    await asyncio.wait({going})
    return run


@pytest.fixture(autouse=True)
def unmount(node: NodeContext) -> Any:
    yield
    node.dirs.destroy(AllocID(ALLOC_ID))


def files(node: NodeContext, below: str = "local") -> dict[str, bytes]:
    root = node.dirs.path(AllocID(ALLOC_ID)) / "t" / below
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def problem(run: RunningAlloc) -> str:
    found = [event.download_error for event in run.state().events or () if event.download_error]
    return found[-1] if found else ""


async def test_options(node: NodeContext, web: FileServer) -> None:
    web.files |= {"/x": a_zip(a=b"1"), "/b.zip": b"not unpacked"}
    await fetched(
        node,
        an_artifact(f"{web.url}/x", getter_options={"archive": "zip"}),
        an_artifact(f"{web.url}/b.zip", getter_options={"archive": "false"}),
        an_artifact(f"{web.url}/file.txt", getter_options={"filename": "named"}),
        an_artifact(f"{web.url}/to/file.txt", relative_dest="${NOMAD_TASK_DIR}/redirected"),
        an_artifact(f"{web.url}/a.tgz", relative_dest="local/one", getter_mode="file"),
    )

    assert files(node) == {
        "a": b"1",
        "b.zip": b"not unpacked",
        "named": HELLO,
        "redirected/file.txt": HELLO,
        "one": HELLO,
    }


async def test_headers_and_interpolation(node: NodeContext, web: FileServer) -> None:
    artifact = an_artifact(
        f"{web.url}/${{NOMAD_META_name}}.txt", getter_headers={"X-Task": "${NOMAD_TASK_NAME}"}
    )
    await fetched(node, artifact, meta={"name": "file"})

    assert web.asked == ["/file.txt"]
    assert web.headers[0]["X-Task"] == "t"
    assert web.headers[0]["Accept-Encoding"] == "identity"


async def test_a_part_of_an_archive(node: NodeContext, web: FileServer) -> None:
    web.files["/p.tar"] = a_tar(file("top"), file("sub/dir/x", b"x"))
    await fetched(node, an_artifact(f"{web.url}/p.tar//sub/dir"))
    assert files(node) == {"x": b"x"}

    run = await fetched(node, an_artifact(f"{web.url}/p.tar//none"))
    assert "has no directory 'none'" in problem(run)


async def test_checksums(node: NodeContext, web: FileServer) -> None:
    digits = hashlib.sha512(HELLO).hexdigest()
    web.files["/SUMS"] = f"{digits}  file.txt\n".encode()
    good = (
        an_artifact(f"{web.url}/file.txt?checksum=sha512:{digits}"),
        an_artifact(f"{web.url}/file.txt", getter_options={"checksum": f"file:{web.url}/SUMS"}),
        an_artifact(f"{web.url}/file.txt", getter_options={"checksum": hashlib.md5(HELLO).hexdigest()}),
    )
    await fetched(node, *good)
    assert files(node) == {"file.txt": HELLO}


@pytest.mark.parametrize(
    ("path", "changes", "expected"),
    [
        ("/file.txt", {"getter_mode": "dir"}, "mode dir needs an archive"),
        ("/two.tar", {"getter_mode": "file"}, "needs a single file"),
        ("/evil.tar", {}, "leads out of the archive"),
        ("/loop", {}, "stopped after 10 redirects"),
        ("/", {}, "bad response code: 404"),
        ("/file.txt", {"relative_dest": "../../../x"}, "escapes the alloc directory"),
        ("/file.txt", {"getter_options": {"checksum": "sha256:xyz"}}, "invalid checksum"),
    ],
)
async def test_what_cannot_be_fetched(
    node: NodeContext, web: FileServer, path: str, changes: dict[str, Any], expected: str
) -> None:
    web.files |= {"/two.tar": a_tar(file("a"), file("b")), "/evil.tar": a_tar(file("../../x"))}
    run = await fetched(node, an_artifact(f"{web.url}{path}", **changes))

    assert expected in problem(run)
    assert run.state().failed
    assert files(node) == {}
    assert [
        path.name for path in node.dirs.path(AllocID(ALLOC_ID)).iterdir() if "artifact" in path.name
    ] == []


async def test_links_lead_no_artifact_out_of_the_allocation(
    node: NodeContext, web: FileServer, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    node.dirs.create(AllocID(ALLOC_ID), {"t": 0})
    (node.dirs.path(AllocID(ALLOC_ID)) / "t/local/link").symlink_to(outside)
    run = await fetched(node, an_artifact(f"{web.url}/a.tgz", relative_dest="local/link"))

    assert "escapes" in problem(run)
    assert list(outside.iterdir()) == []


async def test_limits(node: NodeContext, web: FileServer, clock: VirtualClock) -> None:
    limits = ArtifactSettings(http_max_bytes=5, unpacked_bytes_max=3, http_read_timeout_s=2.0)
    node.settings = msgspec.structs.replace(node.settings, artifact=limits)
    assert "more than 5 bytes" in problem(await fetched(node, an_artifact(f"{web.url}/file.txt")))

    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    silent = await asyncio.start_server(say_nothing, "127.0.0.1", 0)
    async with silent:
        port = silent.sockets[0].getsockname()[1]
        going = asyncio.create_task(fetched(node, an_artifact(f"http://127.0.0.1:{port}/x")))
        while not going.done():
            await clock.advance(0.5)
            await asyncio.sleep(0.01)
        assert "not fetched within 2 s" in problem(going.result())


async def test_what_was_fetched_is_not_fetched_again(
    node: NodeContext, web: FileServer, clock: VirtualClock
) -> None:
    restarts = RestartPolicy(attempts=5, interval=3600 * SECOND_NS, delay=SECOND_NS, mode="fail")
    artifacts = (an_artifact(f"{web.url}/file.txt"), an_artifact(f"{web.url}/late.txt"))
    task = a_task(config={"run_for": "1h"}, artifacts=artifacts, restart_policy=restarts)
    async with running(an_alloc(a_job(task, type="service")), node) as run:
        await run.until(lambda: "Failed Artifact Download" in run.kinds())
        web.files["/late.txt"] = b"late"
        while run.state().state != "running":
            await clock.advance(0.5)
            await asyncio.sleep(0.005)
        run.runner.restart_task("t")
        await run.until(lambda: run.kinds().count("Started") == 2)

    assert sorted(set(web.asked)) == ["/file.txt", "/late.txt"]
    assert web.asked.count("/file.txt") == 1
    assert run.kinds().count("Downloading Artifacts") == 2


async def test_a_killed_task_fetches_no_further(node: NodeContext) -> None:
    asked, stopped = asyncio.Event(), asyncio.Event()

    async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.set()
        await reader.read()
        stopped.set()
        writer.close()

    server = await asyncio.start_server(hang, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        task = a_task(artifacts=(an_artifact(f"http://127.0.0.1:{port}/x"),))
        async with running(an_alloc(a_job(task)), node) as run:
            await asked.wait()
            run.runner.stop()
            await run.until_over()
        await stopped.wait()

    assert run.kinds()[-1] == "Killing"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
async def test_the_tasks_user_can_own_what_was_fetched(node: NodeContext, web: FileServer) -> None:
    artifact = an_artifact(f"{web.url}/a.tgz", relative_dest="local/un", chown=True)
    await fetched(node, artifact, an_artifact(f"{web.url}/file.txt"), user="nobody")

    root = node.dirs.path(AllocID(ALLOC_ID)) / "t/local"
    assert (root / "un/file.txt").owner() == (root / "un").owner() == "nobody"
    assert (root / "file.txt").owner() == "root"


# --- this machine's files, and repositories -----------------------------------------------------------------


async def test_files_of_the_machine_are_offered_only_where_that_is_allowed(
    node: NodeContext, tmp_path: Path
) -> None:
    offered = tmp_path / "offered"
    offered.mkdir()
    (offered / "f").write_bytes(HELLO)
    (offered / "out").symlink_to("/etc/passwd")
    (tmp_path / "secret").write_bytes(HELLO)
    assert "not offered" in problem(await fetched(node, an_artifact(f"file://{offered}/f")))

    node.settings = msgspec.structs.replace(
        node.settings, artifact=ArtifactSettings(file_roots=(str(offered),))
    )
    await fetched(node, an_artifact(f"file://{offered}/f"))
    assert files(node) == {"f": HELLO}
    for path in ("out", "../secret"):
        assert "not offered" in problem(await fetched(node, an_artifact(f"file://{offered}/{path}")))


def git(repository: Path, *args: str) -> str:
    config = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main")
    made = subprocess.run(
        ["git", *config, *args], cwd=repository, check=True, capture_output=True, text=True, timeout=60
    )
    return made.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository: `v1` has one file, and main another content of it and a second one."""
    made = tmp_path / "repository"
    made.mkdir()
    git(made, "init", "--quiet")
    (made / "f").write_text("one")
    (made / "sub").mkdir()
    (made / "sub/g").write_text("g")
    git(made, "add", ".")
    git(made, "commit", "--quiet", "-m", "one")
    git(made, "tag", "v1")
    (made / "f").write_text("two")
    git(made, "commit", "--quiet", "-am", "two")
    return made


@pytest.fixture
def git_node(node: NodeContext, repository: Path) -> NodeContext:
    node.settings = msgspec.structs.replace(
        node.settings, artifact=ArtifactSettings(file_roots=(str(repository),))
    )
    return node


def without_git(found: dict[str, bytes]) -> dict[str, bytes]:
    return {name: content for name, content in found.items() if not name.startswith(".git/")}


async def test_repositories(git_node: NodeContext, repository: Path) -> None:
    first = git(repository, "rev-parse", "v1")
    for number, options in enumerate(({}, {"ref": "v1"}, {"ref": first}, {"ref": "main", "depth": "1"})):
        artifact = an_artifact(
            f"git::file://{repository}", getter_options=options, relative_dest=f"local/{number}"
        )
        run = await fetched(git_node, artifact)
        assert problem(run) == ""
        expected = b"one" if options.get("ref") in ("v1", first) else b"two"
        assert without_git(files(git_node, f"local/{number}")) == {"f": expected, "sub/g": b"g"}


async def test_a_part_of_a_repository(git_node: NodeContext, repository: Path) -> None:
    await fetched(git_node, an_artifact(f"git::file://{repository}//sub"))

    assert files(git_node) == {"g": b"g"}


async def test_a_repository_over_http(node: NodeContext, repository: Path, web: FileServer) -> None:
    git(repository, "update-server-info")
    for path in (repository / ".git").rglob("*"):
        if path.is_file():
            web.files[f"/r.git/{path.relative_to(repository / '.git')}"] = path.read_bytes()
    run = await fetched(node, an_artifact(f"git::{web.url}/r.git", getter_options={"ref": "main"}))

    assert problem(run) == ""
    assert without_git(files(node)) == {"f": b"two", "sub/g": b"g"}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"getter_options": {"ref": "none"}}, "git exited with"),
        ({"getter_mode": "file"}, "mode file cannot hold a repository"),
        ({"getter_options": {"sshkey": "%"}}, "sshkey is not base64"),
    ],
)
async def test_repositories_that_cannot_be_had(
    git_node: NodeContext, repository: Path, changes: dict[str, Any], expected: str
) -> None:
    run = await fetched(git_node, an_artifact(f"git::file://{repository}", **changes))

    assert expected in problem(run)


async def test_repositories_of_the_machine_are_not_offered(node: NodeContext, repository: Path) -> None:
    assert "not offered" in problem(await fetched(node, an_artifact(f"git::file://{repository}")))
    refused = await fetched(node, an_artifact(f"git::http://127.0.0.1:{free_port()}/r.git"))
    assert "git exited with 128" in problem(refused)


async def test_a_repository_with_a_link_that_leads_out_is_refused(
    git_node: NodeContext, repository: Path
) -> None:
    (repository / "out").symlink_to("/etc/passwd")
    git(repository, "add", "out")
    git(repository, "commit", "--quiet", "-m", "out")

    assert "leads out of the artifact" in problem(
        await fetched(git_node, an_artifact(f"git::file://{repository}"))
    )
