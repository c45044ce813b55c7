"""Identities reach tasks as variables and files, and are renewed before they expire."""

from __future__ import annotations

import os
import pwd
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agent.alloc_harness import a_node_context, running
from tests.agent.builders import a_job, a_task, an_alloc
from tests.agent.virtual_clock import VirtualClock
from yurt.agent.node_context import NodeContext
from yurt.errors import YurtError
from yurt.model.client_protocol import IdentityWanted, SignedIdentity
from yurt.model.identity import WorkloadIdentity
from yurt.model.task import Task
from yurt.model.times import MINUTE_NS

TTL = 10 * MINUTE_NS


class Signer:
    """Signs everything, numbered; each token lives for ten minutes."""

    def __init__(self, clock: VirtualClock) -> None:
        self._clock = clock
        self.calls: list[tuple[IdentityWanted, ...]] = []
        self.fails = False

    async def sign(self, wanted: tuple[IdentityWanted, ...]) -> tuple[SignedIdentity | None, ...]:
        self.calls.append(wanted)
        if self.fails:
            raise YurtError("no server answered")
        now = self._clock.now_ns()
        return tuple(
            SignedIdentity(token=f"{one.identity}-{len(self.calls)}", issued=now, expires=now + TTL)
            for one in wanted
        )


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def signer(clock: VirtualClock) -> Signer:
    return Signer(clock)


@pytest.fixture
def node(tmp_path: Path, clock: VirtualClock, signer: Signer) -> Iterator[NodeContext]:
    context = a_node_context(tmp_path, clock)
    context.identities = signer
    yield context
    context.dirs.remove_spares()


def a_tokened_task(*identities: WorkloadIdentity, default: WorkloadIdentity | None = None) -> Task:
    return a_task(
        config={"run_for": "1000h"},
        identity=default or WorkloadIdentity(name="default"),
        identities=identities or None,
    )


async def test_a_task_that_wants_no_token_costs_no_signature(node: NodeContext, signer: Signer) -> None:
    async with running(an_alloc(a_job(a_tokened_task())), node) as run:
        await run.until_state("t", "running")
        assert signer.calls == []


async def test_tokens_come_in_one_call_as_variables_and_files(node: NodeContext, signer: Signer) -> None:
    task = a_tokened_task(
        WorkloadIdentity(name="cloud", env=True, file=True),
        WorkloadIdentity(name="elsewhere", file=True, filepath="local/deep/token"),
        default=WorkloadIdentity(name="default", env=True, file=True),
    )
    alloc = an_alloc(a_job(task))
    async with running(alloc, node) as run:
        await run.until_state("t", "running")
        assert [[one.identity for one in call] for call in signer.calls] == [
            ["default", "cloud", "elsewhere"]
        ]
        env = run.runner.tasks["t"].env().variables
        assert (env["NOMAD_TOKEN"], env["NOMAD_TOKEN_cloud"]) == ("default-1", "cloud-1")
        assert env["YURT_TOKEN"] == "default-1"
        assert "NOMAD_TOKEN_elsewhere" not in env
        directory = Path(node.dirs.task_dir(alloc.id, "t").path)
        assert env["NOMAD_UNIX_ADDR"] == f"unix://{directory}/secrets/api.sock"
        assert (directory / "secrets/nomad_token").read_text() == "default-1"
        assert (directory / "secrets/nomad_cloud.jwt").read_text() == "cloud-1"
        assert (directory / "local/deep/token").read_text() == "elsewhere-1"
        assert stat.S_IMODE((directory / "secrets/nomad_token").stat().st_mode) == 0o644


async def test_a_token_is_for_the_user_of_the_task(node: NodeContext) -> None:
    task = a_tokened_task(default=WorkloadIdentity(name="default", file=True))
    user = pwd.getpwuid(os.geteuid()).pw_name
    alloc = an_alloc(a_job(a_task(config=task.config, identity=task.identity, user=user)))
    async with running(alloc, node) as run:
        await run.until_state("t", "running")
        path = Path(node.dirs.task_dir(alloc.id, "t").secrets) / "nomad_token"
        assert (stat.S_IMODE(path.stat().st_mode), path.owner()) == (0o600, user)


@pytest.mark.parametrize(
    ("mode", "event"),
    [
        ("noop", None),
        (
            "restart",
            "Restart Signaled: Identity[cloud]: new identity token acquired",
        ),
        (
            "signal",
            "Signaling: Identity[cloud]: new identity token acquired",
        ),
    ],
)
async def test_tokens_are_renewed_at_half_of_their_life(
    node: NodeContext, signer: Signer, clock: VirtualClock, mode: str, event: str | None
) -> None:
    signal = "SIGHUP" if mode == "signal" else ""
    task = a_tokened_task(
        WorkloadIdentity(name="cloud", file=True, env=True, ttl=TTL, change_mode=mode, change_signal=signal)
    )
    alloc = an_alloc(a_job(task))
    async with running(alloc, node) as run:
        await run.until_state("t", "running")
        await clock.advance(295)
        assert len(signer.calls) == 1
        await clock.advance(60)
        assert len(signer.calls) == 2
        path = Path(node.dirs.task_dir(alloc.id, "t").secrets) / "nomad_cloud.jwt"
        assert path.read_text() == "cloud-2"
        assert run.runner.tasks["t"].env().variables["NOMAD_TOKEN_cloud"] == "cloud-2"
        if event is not None:
            assert event in run.events()
        else:
            assert run.kinds() == ["Received", "Task Setup", "Started"]


async def test_servers_that_are_away_are_asked_again(
    node: NodeContext, signer: Signer, clock: VirtualClock
) -> None:
    task = a_tokened_task(WorkloadIdentity(name="cloud", file=True, ttl=TTL))
    alloc = an_alloc(a_job(task))
    async with running(alloc, node) as run:
        await run.until_state("t", "running")
        signer.fails = True
        await clock.advance(400)
        assert len(signer.calls) > 2
        signer.fails = False
        await clock.advance(400)
        path = Path(node.dirs.task_dir(alloc.id, "t").secrets) / "nomad_cloud.jwt"
        assert path.read_text() == f"cloud-{len(signer.calls)}"
        assert run.state().state == "running"
