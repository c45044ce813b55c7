"""Getting images: from a registry with and without credentials, from an archive, and not at all."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.agent.drivers.docker_daemon import IMAGE, DockerDaemon
from tests.agent.drivers.fake_registry import FakeRegistry
from yurt.agent.drivers import DriverError
from yurt.agent.drivers.config_schema import Seconds
from yurt.agent.drivers.docker.answers import Progress, ProgressDetail
from yurt.agent.drivers.docker.config import AuthConfig, DockerConfig
from yurt.agent.drivers.docker.credentials import CredentialsUnavailable, find_credentials
from yurt.agent.drivers.docker.engine import EngineError
from yurt.agent.drivers.docker.image_names import DOCKER_HUB, ImageName, parse_image_name
from yurt.agent.drivers.docker.images import Images
from yurt.agent.drivers.docker.options import AuthOptions, DockerOptions
from yurt.agent.drivers.docker.pull_progress import PullProgress
from yurt.clock import SystemClock

with_docker = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("dockerd") is None, reason="wants root, and dockerd installed"
)
LOGIN = AuthConfig(username="ann", password="s3cret")


@pytest.mark.parametrize(
    ("text", "expected", "registry", "moves"),
    [
        ("redis", ImageName("redis", "latest"), DOCKER_HUB, True),
        ("redis:7", ImageName("redis", "7"), DOCKER_HUB, False),
        ("https://quay.io/a/b:1", ImageName("quay.io/a/b", "1"), "quay.io", False),
        ("localhost/x", ImageName("localhost/x", "latest"), "localhost", True),
        ("127.0.0.1:5000/x", ImageName("127.0.0.1:5000/x", "latest"), "127.0.0.1:5000", True),
        ("a/b@sha256:12", ImageName("a/b", "", "sha256:12"), DOCKER_HUB, False),
        ("a/b:1@sha256:12", ImageName("a/b", "", "sha256:12"), DOCKER_HUB, False),
    ],
)
def test_names_are_taken_apart(text: str, expected: ImageName, registry: str, moves: bool) -> None:
    name = parse_image_name(text)

    assert (name, name.registry, name.moves) == (expected, registry, moves)


def test_progress_is_added_up() -> None:
    mib = 1 << 20
    progress = PullProgress()
    for told in (
        Progress(id="1", status="Pulling from library/redis"),
        Progress(
            id="a", status="Downloading", progress_detail=ProgressDetail(current=3 * mib, total=9 * mib)
        ),
        Progress(id="b", status="Downloading", progress_detail=ProgressDetail(current=mib, total=2 * mib)),
        Progress(id="b", status="Pull complete"),
        Progress(id="c", status="Already exists"),
        Progress(status="Digest: x"),
    ):
        progress.note(told)

    assert str(progress) == "Pulled 2/3 layers (5 MiB of 11 MiB)"


# --- credentials ------------------------------------------------------------------------------------

QUAY = parse_image_name("quay.io/a:1")


@pytest.fixture
def helper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A credential helper `tests` that prints its file `answer` and ends with the code in `code`."""
    program = tmp_path / "docker-credential-tests"
    program.write_text(
        f'#!/bin/sh\nread registry; echo "$1 $registry" > {tmp_path}/asked; cat {tmp_path}/answer\n'
        f"exit $(cat {tmp_path}/code)\n"
    )
    program.chmod(0o755)
    (tmp_path / "code").write_text("0")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return tmp_path


def client_file(tmp_path: Path, content: object) -> AuthOptions:
    (tmp_path / "config.json").write_text(json.dumps(content))
    return AuthOptions(config=str(tmp_path / "config.json"))


async def test_without_any_source_a_pull_is_anonymous() -> None:
    assert await find_credentials(QUAY, AuthConfig(), AuthOptions()) is None


async def test_the_jobs_own_come_first(tmp_path: Path) -> None:
    found = await find_credentials(QUAY, LOGIN, AuthOptions(config="/no/such/file"))

    assert found is not None
    told = json.loads(base64.urlsafe_b64decode(found.header()["X-Registry-Auth"]))
    assert (told["username"], told["password"], told["serveraddress"]) == ("ann", "s3cret", "quay.io")


async def test_those_in_the_clients_file_are_found(tmp_path: Path) -> None:
    auth = base64.b64encode(b"bob:pass:word").decode()
    options = client_file(tmp_path, {"auths": {"quay.io": {"auth": auth}}})

    found = await find_credentials(QUAY, AuthConfig(), options)

    assert found is not None
    assert (found.username, found.password) == ("bob", "pass:word")
    assert await find_credentials(parse_image_name("other.io/a:1"), AuthConfig(), options) is None


@pytest.mark.parametrize(
    "content", [{"credHelpers": {"quay.io": "tests"}}, {"credsStore": "tests"}], ids=["own", "for all"]
)
async def test_the_file_may_name_a_helper(helper: Path, content: dict[str, Any]) -> None:
    (helper / "answer").write_text('{"Username": "carl", "Secret": "x"}')

    found = await find_credentials(QUAY, AuthConfig(), client_file(helper, content))

    assert found is not None
    assert (found.username, found.password) == ("carl", "x")
    assert (helper / "asked").read_text() == "get quay.io\n"


async def test_a_helper_may_give_a_token(helper: Path) -> None:
    (helper / "answer").write_text('{"Username": "<token>", "Secret": "t"}')

    found = await find_credentials(QUAY, AuthConfig(), AuthOptions(helper="tests"))

    assert found is not None
    assert (found.username, found.identity_token) == ("", "t")


async def test_a_helper_that_knows_nothing_makes_the_pull_anonymous(helper: Path) -> None:
    (helper / "answer").write_text("credentials not found in native keychain")
    (helper / "code").write_text("1")

    assert await find_credentials(QUAY, AuthConfig(), AuthOptions(helper="tests")) is None


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (AuthOptions(config="/no/such/file"), "cannot read credentials from /no/such/file"),
        (AuthOptions(helper="nosuch"), "cannot run docker-credential-nosuch"),
    ],
)
async def test_a_source_that_cannot_be_asked_is_named(options: AuthOptions, said: str) -> None:
    with pytest.raises(CredentialsUnavailable, match=said):
        await find_credentials(QUAY, AuthConfig(), options)


@pytest.mark.parametrize(
    ("answer", "code", "said"),
    [("locked", "1", "docker-credential-tests failed: locked"), ("nonsense", "0", "cannot be read")],
)
async def test_a_helper_that_fails_is_named(helper: Path, answer: str, code: str, said: str) -> None:
    (helper / "answer").write_text(answer)
    (helper / "code").write_text(code)

    with pytest.raises(CredentialsUnavailable, match=said):
        await find_credentials(QUAY, AuthConfig(), AuthOptions(helper="tests"))


# --- pulls ------------------------------------------------------------------------------------------


@pytest.fixture
async def registry() -> AsyncIterator[FakeRegistry]:
    async with FakeRegistry().running() as registry:
        yield registry


class Puller:
    """Gets the registry's image, and notes what is announced."""

    def __init__(self, daemon: DockerDaemon, registry: FakeRegistry, **options: Any) -> None:
        self.told: list[tuple[str, dict[str, str]]] = []
        self._registry = registry
        self._images = Images(
            daemon.engine, DockerOptions(endpoint=daemon.endpoint, **options), SystemClock()
        )

    async def get(self, tag: str = "1", **config: Any) -> str:
        image = f"{self._registry.address}/tool:{tag}"
        return await self._images.provide(
            DockerConfig(image=image, **config),
            local_dir="",
            announce=lambda *message: self.told.append(message),
        )


@with_docker
async def test_an_image_is_pulled_once(clean: DockerDaemon, registry: FakeRegistry) -> None:
    puller = Puller(clean, registry)

    pulled = await puller.get()
    again = await puller.get()

    assert pulled == again
    assert pulled.startswith("sha256:")
    assert registry.pulls == 1
    assert puller.told == [("Downloading image", {"image": f"{registry.address}/tool:1"})]


@with_docker
@pytest.mark.parametrize(
    ("tag", "config"), [("latest", {}), ("1", {"force_pull": True})], ids=["the latest", "forced"]
)
async def test_some_are_pulled_each_time(
    clean: DockerDaemon, registry: FakeRegistry, tag: str, config: dict[str, Any]
) -> None:
    puller = Puller(clean, registry)

    await puller.get(tag, **config)
    await puller.get(tag, **config)

    assert len(puller.told) == 2


@with_docker
async def test_of_many_that_want_an_image_one_pulls(clean: DockerDaemon, registry: FakeRegistry) -> None:
    puller = Puller(clean, registry)

    ids = await asyncio.gather(*(puller.get() for _ in range(5)))

    assert len(set(ids)) == 1
    assert len(puller.told) == 1


@with_docker
async def test_an_image_the_registry_does_not_know_fails_for_good(
    clean: DockerDaemon, registry: FakeRegistry
) -> None:
    with pytest.raises(DriverError, match="manifest unknown") as raised:
        await Puller(clean, registry).get("unknown")

    assert not raised.value.recoverable


@with_docker
async def test_credentials_open_a_registry(clean: DockerDaemon) -> None:
    async with FakeRegistry(login="ann:s3cret").running() as registry:
        puller = Puller(clean, registry)

        with pytest.raises(DriverError, match="no basic auth credentials") as raised:
            await puller.get()
        assert raised.value.recoverable
        assert await puller.get(auth=LOGIN)


@with_docker
async def test_a_pull_goes_on_without_credentials_only_when_told(
    clean: DockerDaemon, registry: FakeRegistry
) -> None:
    puller = Puller(clean, registry, auth=AuthOptions(config="/no/such/file"))

    with pytest.raises(DriverError, match="Failed to find docker auth"):
        await puller.get()
    assert await puller.get(auth_soft_fail=True)


@with_docker
@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"pull_activity_timeout": Seconds(0.2)}, "no progress for 0 s"),
        ({"image_pull_timeout": Seconds(0.2)}, "longer than image_pull_timeout"),
    ],
)
async def test_a_pull_that_hangs_is_given_up(
    clean: DockerDaemon, registry: FakeRegistry, options: dict[str, Any], said: str
) -> None:
    registry.blob_gate.clear()

    with pytest.raises(DriverError, match=said) as raised:
        await Puller(clean, registry, **options).get("hanging")

    assert raised.value.recoverable


# --- archives ---------------------------------------------------------------------------------------


@with_docker
async def test_an_image_is_loaded_from_an_archive(clean: DockerDaemon, tmp_path: Path) -> None:
    await clean.add_image("saved:1", "LABEL a=b")
    async with clean.engine._request("GET", "/images/saved:1/get", {}) as answer:
        (tmp_path / "image.tar").write_bytes(await answer.read())
    await clean.engine.delete("/images/saved:1", force="true")
    images = Images(clean.engine, DockerOptions(endpoint=clean.endpoint), SystemClock())

    async def load(archive: str, image: str = "saved:1") -> str:
        config = DockerConfig(image=image, load=archive)
        return await images.provide(config, local_dir=str(tmp_path), announce=lambda *_: None)

    assert (await load("image.tar")).startswith("sha256:")
    with pytest.raises(DriverError, match="it is not in the archive"):
        await load("image.tar", "other:1")
    (tmp_path / "broken.tar").write_text("no archive")
    with pytest.raises(DriverError, match="Failed to load image from"):
        await load("broken.tar")


@pytest.mark.parametrize("archive", ["none.tar", "../secret.tar", "link.tar"])
async def test_only_the_tasks_own_archives_are_loaded(tmp_path: Path, archive: str) -> None:
    (tmp_path / "local").mkdir()
    (tmp_path / "secret.tar").touch()
    (tmp_path / "local/link.tar").symlink_to(tmp_path / "secret.tar")
    images = Images(DockerDaemon(tmp_path).engine, DockerOptions(), SystemClock())

    with pytest.raises(DriverError, match="there is no such file in the task's local"):
        await images.provide(
            DockerConfig(image=IMAGE, load=archive),
            local_dir=str(tmp_path / "local"),
            announce=lambda *_: None,
        )


@with_docker
async def test_an_image_in_use_by_others_is_kept(clean: DockerDaemon) -> None:
    clock = SystemClock()
    images = Images(clean.engine, DockerOptions(endpoint=clean.endpoint), clock)
    image_id = await images.provide(DockerConfig(image=IMAGE), local_dir="", announce=lambda *_: None)
    body = {"Image": IMAGE, "Cmd": ["sleep", "1000"], "HostConfig": {"NetworkMode": "none"}}
    await clean.engine.post("/containers/create", body=body, name="stranger")
    await clean.engine.post("/containers/stranger/start")
    images.use(image_id, "mine")
    images.release(image_id, "mine")
    images._unused_since[image_id] = clock.monotonic() - 1000

    await images.remove_unused()

    try:
        assert await images._find(parse_image_name(IMAGE)) == image_id
    except EngineError:
        pytest.fail("the image was removed under a running container")
