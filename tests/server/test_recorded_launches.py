"""Recorded launches come out the same: periodic jobs in virtual time, and dispatched ones."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.api.asgi import Reply
from tests.api.v1.served import Served
from tests.scheduler.kinds import recorded_outlines as outlines
from tests.server.running import ScriptedNode, a_server
from tests.server.virtual_time import START_NS, VirtualClock, run_virtual
from yurt.model.client_protocol import ClientAlloc
from yurt.model.node import DriverInfo
from yurt.model.times import SECOND_NS
from yurt.server.server import Server

RECORDINGS = Path(__file__).parents[1] / "recordings/nomad/scheduling"
Recording = dict[str, Any]

# Times of launches are in the children's names: so the clock must be as it was.
RECORDED_START_NS = {"periodic": 1_794_733_488_892_000_000, "dispatch": 1_794_733_511_200_000_000}
END_S = 0.5
START_S = 0.05
# How long after the last step the recording was taken.
SETTLE_S = 0.9
# Recordings were taken a little before the next step: hang was registered just after a launch of quick.
BEFORE_NEXT_S = 0.02
# What is random in an id.
_SUFFIX = re.compile(r"-[0-9a-f]{8}$")


class RecordedClock(VirtualClock):
    """Virtual time that begins when the recording did."""

    def __init__(self, start_ns: int) -> None:
        self._ahead_ns = start_ns - START_NS

    def now_ns(self) -> int:
        return super().now_ns() + self._ahead_ns


def recording_of(name: str) -> Recording:
    recording: Recording = json.loads((RECORDINGS / f"{name}.json").read_text())
    return recording


async def work(node: ScriptedNode) -> None:
    """Behave as the recorded clients did: `quick` jobs end soon, others run."""
    async with asyncio.TaskGroup() as tasks:
        while True:
            for alloc in await node.look(wait_s=60):
                if alloc.desired_status == "run":
                    tasks.create_task(live(node, alloc))


async def live(node: ScriptedNode, alloc: ClientAlloc) -> None:
    await asyncio.sleep(START_S)
    await node.report(alloc.id, "running")
    if alloc.job.id.startswith("quick"):
        await asyncio.sleep(END_S)
        await node.report(alloc.id, "complete")


@contextlib.asynccontextmanager
async def at_work(server: Server) -> AsyncIterator[None]:
    mock_driver = {"mock_driver": DriverInfo(detected=True, healthy=True)}
    node = ScriptedNode(server, drivers=mock_driver, attributes={"driver.mock_driver": "1"})
    await node.join()
    async with node.beating(), asyncio.TaskGroup() as tasks:
        working = tasks.create_task(work(node))
        yield
        working.cancel()


async def call(served: Served, step: Recording) -> Reply | None:
    request = step.get("Request") or {}
    if "Job" in request:
        return await served.call("PUT", "/v1/jobs", request)
    return await served.call(request["Method"], request["Path"], request["Body"])


def plain_ids(value: Any) -> Any:
    """A value without what is random in ids, and without indexes."""
    if isinstance(value, dict):
        kept = {name: one for name, one in value.items() if not name.endswith("Index")}
        return {name: plain_ids(one) for name, one in kept.items()}
    if isinstance(value, list):
        return [plain_ids(one) for one in value]
    if isinstance(value, str) and re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", value):
        return "id"
    return _SUFFIX.sub("-random", value) if isinstance(value, str) else value


def children(job_ids: list[str]) -> list[str]:
    return sorted(plain_ids(job_id) for job_id in job_ids)


async def play(name: str) -> None:
    recording = recording_of(name)
    steps = recording["Steps"]
    async with a_server(clock=RecordedClock(RECORDED_START_NS[name])) as server:
        served = Served(server)
        recorded = outlines.Recorded()
        async with at_work(server):
            for number, step in enumerate(steps):
                loop = asyncio.get_running_loop()
                await asyncio.sleep(max(0.0, step["At"] - loop.time()))
                reply = await call(served, step)
                where = f"step {number}, {step['Do']}"
                assert reply is not None, where
                if isinstance(step["Response"], str):
                    assert (reply.status >= 400, reply.text.strip()) == (True, step["Response"]), where
                elif isinstance(step["Response"], dict):
                    answered = plain_ids(reply.json)
                    for field, value in plain_ids(step["Response"]).items():
                        assert answered.get(field) == value, f"{where}: {field}"
                recorded.take(step.get("After") or {})
                ends = steps[number + 1]["At"] if number + 1 < len(steps) else step["At"] + SETTLE_S
                await asyncio.sleep(max(0.0, ends - BEFORE_NEXT_S - loop.time()))
                state = server.state
                ours = children([job.id for job in state.jobs])
                assert ours == children([job["ID"] for job in recorded.all("Jobs")]), where
                assert outlines.job_outline(state) == recorded.jobs(), where
                assert outlines.eval_outline(state) == recorded.evals(), where
                assert outlines.alloc_outline(state, names=False) == recorded.allocs(names=False), where


@pytest.mark.parametrize("name", ["periodic", "dispatch"])
def test_recorded_launches(name: str) -> None:
    run_virtual(play(name))


def test_the_clock_of_a_recording_is_where_its_launches_were() -> None:
    (first,) = [
        job["ID"]
        for job in recording_of("periodic")["Steps"][0]["After"]["Jobs"]
        if "/periodic-" in job["ID"]
    ]
    launched = int(first.rpartition("-")[2]) * SECOND_NS
    assert RECORDED_START_NS["periodic"] < launched < RECORDED_START_NS["periodic"] + 5 * SECOND_NS
