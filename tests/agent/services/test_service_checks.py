"""Checks find out what works, restart what does not, and hold up deployments."""

from __future__ import annotations

import asyncio
import functools
import json
import socket
import ssl
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp.web
import msgspec
import pytest

from tests.agent.alloc_harness import RunningAlloc, a_node_context, running
from tests.agent.builders import a_job, a_task, an_alloc
from tests.agent.recorded_lives import (
    RECORDED,
    UPDATE,
    expected_tasks,
    pass_until_over,
    policy,
    service,
    shell,
    shown,
)
from tests.agent.services.service_jobs import a_check, a_port, a_service, check_restart, free_port
from tests.agent.virtual_clock import VirtualClock
from tests.support.certificates import Certificates
from yurt.agent.drivers.raw_exec import RawExecDriver, RawExecOptions
from yurt.agent.launcher import LauncherClient
from yurt.agent.node_context import NodeContext
from yurt.agent.services.addresses import Endpoint
from yurt.agent.services.check_restarts import RestartTimer, first_timer, judge
from yurt.agent.services.check_results import CheckResults
from yurt.agent.services.checks import CheckResult
from yurt.agent.services.probes import probe
from yurt.clock import SystemClock
from yurt.model.client_protocol import ClientAlloc
from yurt.model.job import Job
from yurt.model.service import ServiceCheck
from yurt.model.times import SECOND_NS

RESULTS = json.loads((Path(__file__).parents[2] / "recordings/nomad/client/checks.json").read_text())
Action = Callable[[RunningAlloc, VirtualClock, int], Awaitable[None]]
SERVE = f"exec {sys.executable} -m http.server $NOMAD_PORT_http --bind 127.0.0.1"


# --- recorded lives -----------------------------------------------------------------------------------------


def checked(script: str, check: ServiceCheck) -> Job:
    task = shell(script, restart_policy=policy(3, 1, interval_s=300))
    return service(task, services=(a_service("chk", check),))


async def until_listening(port: int) -> None:
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.01)
        else:
            writer.close()
            return


async def pass_time(clock: VirtualClock, seconds: float) -> None:
    """Let time pass, and real answers come in on the way."""
    for _ in range(round(seconds * 4)):
        await clock.advance(0.25)
        await asyncio.sleep(0.005)


async def pass_until(clock: VirtualClock, condition: Callable[[], bool]) -> None:
    while not condition():
        await pass_time(clock, 0.25)


async def serve(alloc: RunningAlloc, clock: VirtualClock, port: int) -> None:
    await alloc.until_state("t", "running")
    await until_listening(port)
    await pass_until(clock, lambda: alloc.runner.health is not None)


async def just_run(alloc: RunningAlloc, clock: VirtualClock, _port: int) -> None:
    await alloc.until_state("t", "running")
    await pass_time(clock, 15)


async def serve_until_given_up(alloc: RunningAlloc, clock: VirtualClock, port: int) -> None:
    for start in range(1, 5):
        await pass_until(clock, functools.partial(has_started, alloc, start))
        # A server that is told to end while it starts does not end well.
        await until_listening(port)
        await pass_until(clock, functools.partial(has_been_told, alloc, start))
    await pass_until(clock, lambda: alloc.runner.is_over)


def has_started(alloc: RunningAlloc, times: int) -> bool:
    return alloc.state().state == "running" and alloc.state().restarts == times - 1


def has_been_told(alloc: RunningAlloc, times: int) -> bool:
    return alloc.state().restarts == times or alloc.state().state == "dead"


SCENARIOS: dict[str, tuple[Job, Action]] = {
    "check-http-404": (
        checked(SERVE, a_check("http", path="/nope", check_restart=check_restart(3, 3))),
        serve_until_given_up,
    ),
    "check-http-ok": (checked(SERVE, a_check("http")), serve),
    "check-ready": (checked("sleep 300", a_check(on_update="ignore")), just_run),
    "check-tcp-bad": (checked("sleep 300", a_check()), just_run),
    "check-tcp-ok": (checked(SERVE, a_check()), serve),
}


@pytest.fixture
async def launcher(tmp_path: Path) -> AsyncIterator[LauncherClient]:
    client = LauncherClient(tmp_path / "launcher")
    yield client
    await client.shutdown(kill_tasks=True)


@pytest.mark.parametrize("name", SCENARIOS)
async def test_recorded_scenario(name: str, tmp_path: Path, launcher: LauncherClient) -> None:
    job, act = SCENARIOS[name]
    job = msgspec.structs.replace(job, name=name)
    recorded = RECORDED[name]
    clock = VirtualClock()
    raw_exec = RawExecDriver(launcher, RawExecOptions(enabled=True), cgroups=None)
    node = a_node_context(tmp_path, clock, drivers={"raw_exec": raw_exec})
    port = a_port()
    alloc = an_alloc(job, ports=(port,), deployment_id="d", name=f"{name}.g[0]")

    async with running(alloc, node) as run:
        await act(run, clock, port.value)
        seen = {task: shown(state) for task, state in run.runner.states.items()}
        status, health, results = run.status, run.runner.health, run.runner.checks
        run.runner.stop()
        await asyncio.wait_for(pass_until_over(run, clock), 60)

    assert seen == expected_tasks(recorded)
    assert status == (recorded["ClientStatus"], recorded["ClientDescription"])
    assert health is recorded.get("Healthy")
    assert as_recorded(results, port.value) == RESULTS[name]


def as_recorded(results: dict[str, CheckResult] | None, port: int) -> Any:
    if results is None:
        return None
    (check_id,) = results
    found = json.loads(msgspec.json.encode(results[check_id]))
    assert found["ID"] == check_id
    assert len(check_id) == 64
    return found | {
        "ID": "<sha256 hex>",
        "Timestamp": "<unix seconds>",
        "Output": found["Output"].replace(str(port), "<port>"),
    }


# --- asking -------------------------------------------------------------------------------------------------


@pytest.fixture
async def server() -> AsyncIterator[tuple[Endpoint, list[dict[str, str]]]]:
    """A web server that does what its paths say, and the headers it was asked with."""
    asked: list[dict[str, str]] = []

    async def answer(request: aiohttp.web.Request) -> aiohttp.web.StreamResponse:
        asked.append(dict(request.headers) | {"method": request.method, "body": await request.text()})
        match request.path:
            case "/redirect":
                raise aiohttp.web.HTTPFound("/")
            case "/large":
                return aiohttp.web.Response(status=500, text="x" * 10_000)
            case "/slow":
                await asyncio.Event().wait()
            case "/created":
                return aiohttp.web.Response(status=201, text="made")
        return aiohttp.web.Response(text="hello")

    app = aiohttp.web.Application()
    app.router.add_route("*", "/{tail:.*}", answer)
    runner = aiohttp.web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = aiohttp.web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    yield Endpoint("127.0.0.1", port), asked
    await runner.cleanup()


Server = tuple[Endpoint, list[dict[str, str]]]


@pytest.mark.parametrize(
    ("path", "status", "code", "output"),
    [
        ("/", "success", 200, "nomad: http ok"),
        ("/created", "success", 201, "made"),
        ("/redirect", "success", 200, "nomad: http ok"),
        ("/large", "failure", 500, "x" * 3072),
    ],
)
async def test_http_checks(server: Server, path: str, status: str, code: int, output: str) -> None:
    result = await probe(a_check("http", path=path), server[0], SystemClock())

    assert (result.status, result.status_code, result.output) == (status, code, output)


async def test_http_checks_ask_as_they_are_told(server: Server) -> None:
    place, asked = server
    header = {"Host": ("example.com",), "X-Two": ("a", "b")}
    await probe(a_check("http", method="POST", body="data", header=header), place, SystemClock())
    await probe(a_check("http", header={"User-Agent": ("mine",)}), place, SystemClock())

    assert (asked[0]["Host"], asked[0]["method"], asked[0]["body"]) == ("example.com", "POST", "data")
    assert asked[0]["User-Agent"].startswith("yurt/")
    assert asked[1]["User-Agent"] == "mine"


async def test_checks_take_no_longer_than_they_may(server: Server) -> None:
    clock = VirtualClock()
    asking = asyncio.create_task(probe(a_check("http", path="/slow"), server[0], clock))
    await clock.advance(1)
    result = await asking

    assert result.status == "failure"
    assert result.output == f'Get "http://127.0.0.1:{server[0].port}/slow": context deadline exceeded'


async def test_nobody_listens() -> None:
    place = Endpoint("127.0.0.1", free_port())
    refused = f"dial tcp 127.0.0.1:{place.port}: connect: connection refused"

    assert (await probe(a_check(), place, SystemClock())).output == refused
    http = await probe(a_check("http"), place, SystemClock())
    assert http.output == f'Get "http://127.0.0.1:{place.port}/": {refused}'


@asynccontextmanager
async def speaking(words: bytes) -> AsyncIterator[Endpoint]:
    """A server that says the same to everybody."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(words)
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    async with server:
        yield Endpoint("127.0.0.1", server.sockets[0].getsockname()[1])


@pytest.mark.parametrize(
    ("words", "protocol", "reason"),
    [
        (b"SSH-2.0\r\n", "http", "net/http: HTTP/1.x transport connection broken: malformed HTTP response"),
        (b"", "http", "EOF"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "https", "http: server gave HTTP response to HTTPS client"),
    ],
)
async def test_what_is_no_http_fails(words: bytes, protocol: str, reason: str) -> None:
    async with speaking(words) as place:
        result = await probe(a_check("http", protocol=protocol), place, SystemClock())
        assert (await probe(a_check(), place, SystemClock())).status == "success"

    assert result.status == "failure"
    assert result.output == f'Get "{protocol}://127.0.0.1:{place.port}/": {reason}'


async def test_a_certificate_of_nobody_known_fails_unless_skipped(tmp_path: Path) -> None:
    pair = Certificates(tmp_path).make("server")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(pair.certificate, pair.key)

    async def answer(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context)
    async with server:
        place = Endpoint("127.0.0.1", server.sockets[0].getsockname()[1])
        strict = await probe(a_check("http", protocol="https"), place, SystemClock())
        lax = await probe(a_check("http", protocol="https", tls_skip_verify=True), place, SystemClock())

    reason = "tls: failed to verify certificate: x509: certificate signed by unknown authority"
    assert strict.output == f'Get "https://127.0.0.1:{place.port}/": {reason}'
    assert lax.output == "nomad: http ok"


async def test_an_answer_in_pieces_is_kept_whole() -> None:
    async def answer(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 500 No\r\nContent-Length: 4\r\n\r\nab")
        await writer.drain()
        await asyncio.sleep(0)
        writer.write(b"cd")
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        place = Endpoint("127.0.0.1", server.sockets[0].getsockname()[1])
        result = await probe(a_check("http"), place, SystemClock())

    assert (result.status_code, result.output) == (500, "abcd")


# --- what comes of it ---------------------------------------------------------------------------------------


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
async def node(tmp_path: Path, clock: VirtualClock) -> NodeContext:
    return a_node_context(tmp_path, clock)


def an_alloc_with_check(check: ServiceCheck, port: int, *, of_task: bool = False) -> ClientAlloc:
    services = (a_service("chk", check),)
    task = a_task(
        config={"run_for": "1000h"},
        services=services if of_task else None,
        restart_policy=policy(5, 1, interval_s=900),
    )
    group: dict[str, object] = {"update": UPDATE, "services": None if of_task else services}
    return an_alloc(
        a_job(task, type="service", group=group), ports=(a_port("http", port),), deployment_id="d"
    )


@pytest.mark.parametrize("of_task", [False, True])
async def test_a_deployment_waits_for_checks(node: NodeContext, clock: VirtualClock, of_task: bool) -> None:
    port = free_port()
    async with running(an_alloc_with_check(a_check(), port, of_task=of_task), node) as run:
        await run.until_state("t", "running")
        await pass_time(clock, 20)
        assert run.runner.health is None
        with socket.create_server(("127.0.0.1", port)):
            await pass_time(clock, 5)
            assert run.runner.health is None
            await pass_time(clock, 10)
            assert run.runner.health is True


async def test_checks_that_never_pass_fail_the_deployment(node: NodeContext, clock: VirtualClock) -> None:
    async with running(an_alloc_with_check(a_check(), free_port()), node) as run:
        await run.until_state("t", "running")
        await pass_until(clock, lambda: run.runner.health is not None)

        assert run.runner.health is False
        assert run.events()[-1] == "Alloc Unhealthy: Services not healthy by deadline"


async def test_results_begin_with_waiting(node: NodeContext, clock: VirtualClock) -> None:
    async with running(an_alloc_with_check(a_check(), free_port()), node) as run:
        await run.until_state("t", "running")
        (first,) = (run.runner.checks or {}).values()
        assert (first.status, first.output) == ("pending", "nomad: waiting to run")
        await pass_time(clock, 0.75)
        assert run.runner.checks == {first.id: first}
        await pass_time(clock, 0.5)
        (second,) = (run.runner.checks or {}).values()
        assert second.status == "failure"


async def test_an_unchanged_check_keeps_its_result_over_an_update(
    node: NodeContext, clock: VirtualClock
) -> None:
    alloc = an_alloc_with_check(a_check(), free_port())
    async with running(alloc, node) as run:
        await run.until_state("t", "running")
        await pass_time(clock, 1.5)
        before = run.runner.checks
        run.runner.update(msgspec.structs.replace(alloc, alloc_modify_index=9))
        assert run.runner.checks == before

        changed = msgspec.structs.replace(
            alloc.job.task_groups[0], services=(a_service("chk", a_check(name="other")),)
        )
        job = msgspec.structs.replace(alloc.job, task_groups=(changed,))
        run.runner.update(msgspec.structs.replace(alloc, job=job))
        assert [result.check for result in (run.runner.checks or {}).values()] == ["other"]


async def test_a_failing_check_restarts_its_task_only(node: NodeContext, clock: VirtualClock) -> None:
    check = a_check(check_restart=check_restart(2, 1))
    failing = a_task(
        "failing",
        config={"run_for": "1000h"},
        services=(a_service("chk", check),),
        restart_policy=policy(5, 1),
    )
    other = a_task("other", config={"run_for": "1000h"})
    alloc = an_alloc(a_job(failing, other, type="service"), ports=(a_port(),))
    async with running(alloc, node) as run:
        await run.until_state("failing", "running")
        await pass_until(clock, lambda: run.state("failing").restarts == 2)

        assert run.state("other").restarts == 0


RESTARTING = a_check(check_restart=check_restart(3, 3))


@pytest.mark.parametrize(
    ("statuses", "restarts_at"),
    [
        pytest.param(["failure"] * 16, [7, 14], id="as recorded: grace, then two intervals"),
        pytest.param(["pending"] * 8, [7], id="waiting is failing"),
        pytest.param(["success"] * 20, [], id="all is well"),
        pytest.param([*["failure"] * 6, "success", *["failure"] * 4], [], id="one success starts over"),
        pytest.param([*["failure"] * 6, "success", *["failure"] * 5], [11], id="and then it counts again"),
    ],
)
def test_when_a_failing_check_restarts(statuses: list[str], restarts_at: list[int]) -> None:
    timer: RestartTimer = first_timer(RESTARTING, 0)
    found = []
    for second, status in enumerate(statuses):
        timer, must_restart = judge(RESTARTING, timer, status, now=second * SECOND_NS)
        if must_restart:
            found.append(second)

    assert found == restarts_at


def test_results_tell_since_when_all_is_well() -> None:
    news: list[None] = []
    results = CheckResults(VirtualClock(start_s=5), lambda: news.append(None))
    assert results.passing_since == 0

    def put(name: str, status: str, mode: str = "healthiness") -> int | None:
        results.put(CheckResult(id=name, mode=mode, status=status))
        return results.passing_since

    assert put("a", "pending") is None
    assert put("b", "success") is None
    assert put("a", "success") == 5 * SECOND_NS
    assert put("ready", "pending", "readiness") is None
    assert put("ready", "failure", "readiness") == 5 * SECOND_NS
    assert put("a", "failure") is None
    results.retain(["b"])
    assert results.passing_since == 5 * SECOND_NS
    assert len(news) == 6
