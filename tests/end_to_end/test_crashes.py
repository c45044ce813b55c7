"""The agent is killed at random moments under load: nothing that was acknowledged is lost."""

from __future__ import annotations

import contextlib
import http.client
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.support.real_agent import Answer, RealAgent, clean_up, send

KILLS = 100
WRITERS = 4


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[RealAgent]:
    agent = RealAgent(tmp_path)
    yield agent
    with contextlib.suppress(Exception):
        agent.kill()
    clean_up(tmp_path)


class _Writers:
    """Threads that register and stop jobs, and remember what was acknowledged."""

    def __init__(self, agent: RealAgent, seed: int) -> None:
        self._agent = agent
        self._rng = Random(seed)
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []
        self._number = 0
        self._lock = threading.Lock()
        # Job id → the index at which its registration was acknowledged; None once its stop was sent.
        self.registered: dict[str, int] = {}
        self.stopped: dict[str, int] = {}
        self.unsure: set[str] = set()

    def start(self) -> None:
        self._stop.clear()
        self._threads = [threading.Thread(target=self._write) for _ in range(WRITERS)]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _write(self) -> None:
        connection = self._agent.connect()
        with contextlib.suppress(OSError, http.client.HTTPException):
            while not self._stop.is_set():
                with self._lock:
                    self._number += 1
                    job_id = f"job-{self._number}"
                answer = send(connection, "PUT", "/v1/jobs", _job(job_id))
                assert answer.status == 200, answer.text
                self.registered[job_id] = answer.json["JobModifyIndex"]
                if self._rng.random() < 0.3:
                    self.unsure.add(job_id)
                    answer = send(connection, "DELETE", f"/v1/job/{job_id}")
                    assert answer.status == 200, answer.text
                    self.stopped[job_id] = answer.json["JobModifyIndex"]
                    self.unsure.discard(job_id)
        connection.close()


def test_acknowledged_writes_survive_a_hundred_kills(agent: RealAgent) -> None:
    rng = Random(20)
    writers = _Writers(agent, seed=21)
    last_index = 0
    agent.start()
    for _ in range(KILLS):
        writers.start()
        time.sleep(rng.uniform(0.01, 0.15))  # the random moment, not something awaited
        agent.kill()
        writers.stop()
        agent.start()
        last_index = _check_grown(agent, last_index)
    _check_acknowledged(agent, writers)


def _check_grown(agent: RealAgent, last_index: int) -> int:
    stats = agent.call("GET", "/v1/agent/self").json["stats"]["raft"]
    assert int(stats["applied_index"]) >= last_index, "indexes only grow"
    assert stats["applied_index"] == stats["last_log_index"]
    return int(stats["applied_index"])


def _check_acknowledged(agent: RealAgent, writers: _Writers) -> None:
    jobs = {job["ID"]: job for job in agent.call("GET", "/v1/jobs").json}
    missing = [job_id for job_id in writers.registered if job_id not in jobs]
    assert not missing, f"acknowledged registrations are gone: {missing[:5]}"
    assert len(writers.registered) > KILLS, "the load was a load"
    for job_id, index in writers.registered.items():
        job = jobs[job_id]
        if job_id in writers.stopped:
            assert job["Stop"], f"the acknowledged stop of {job_id} is gone"
            assert job["JobModifyIndex"] == writers.stopped[job_id]
        elif job_id not in writers.unsure:
            assert not job["Stop"]
            assert job["JobModifyIndex"] == index
    evals = agent.wait_for(
        "/v1/evaluations", lambda evals: all(e["Status"] != "pending" for e in evals), timeout_s=60
    )
    assert {e["JobID"] for e in evals} >= set(writers.registered), "each registration has its evaluation"


def _job(job_id: str) -> dict[str, Any]:
    task = {
        "Name": "t",
        "Driver": "raw_exec",
        "Config": {"command": "/bin/true"},
        "Resources": {"CPU": 1, "MemoryMB": 10},
    }
    group = {"Name": "g", "Count": 0, "Tasks": [task]}
    return {"Job": {"ID": job_id, "Type": "service", "TaskGroups": [group]}}


def test_running_tasks_are_found_again_neither_twice_nor_forgotten(agent: RealAgent, tmp_path: Path) -> None:
    """Tasks write a line when they start; after many kills each has written exactly one, and still runs."""
    rng = Random(5)
    starts = tmp_path / "starts"
    starts.mkdir()
    agent.start()
    expected: list[str] = []
    for round_number in range(10):
        for instance in range(3):
            job_id = f"keep-{round_number}-{instance}"
            if _try(agent, "PUT", "/v1/jobs", _sleeper(job_id, starts)) is not None:
                expected.append(job_id)
        time.sleep(rng.uniform(0.0, 0.1))  # the random moment, not something awaited
        agent.kill()
        agent.start()
    for job_id in expected:
        agent.wait_for(
            f"/v1/job/{job_id}/allocations",
            lambda allocs: len(allocs) == 1 and allocs[0]["ClientStatus"] == "running",
        )
    for job_id in expected:
        lines = (starts / job_id).read_text().splitlines()
        assert len(lines) == 1, f"{job_id} was started {len(lines)} times"
        assert Path(f"/proc/{lines[0]}").exists(), f"the task of {job_id} is gone"


def _try(agent: RealAgent, method: str, path: str, body: object) -> Answer | None:
    try:
        answer = agent.call(method, path, body)
    except (OSError, http.client.HTTPException):
        return None
    return answer if answer.status == 200 else None


def _sleeper(job_id: str, starts: Path) -> dict[str, Any]:
    job = _job(job_id)
    group = job["Job"]["TaskGroups"][0]
    group["Count"] = 1
    script = f"echo $$ >> {starts}/{job_id}; exec sleep 1000"
    group["Tasks"][0]["Config"] = {"command": "/bin/sh", "args": ["-c", script]}
    return job
