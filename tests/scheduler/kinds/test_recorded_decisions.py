"""Recorded scenarios come out the same: what is placed, stopped, kept, deployed, and how that is told."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.scheduler.kinds import recorded_outlines as outlines
from tests.scheduler.kinds.recorded_cluster import START, RecordedCluster, Recording
from yurt.model.alloc import Allocation
from yurt.model.deployment import Deployment
from yurt.model.times import SECOND_NS

RECORDINGS = Path(__file__).parents[2] / "recordings/nomad/scheduling"

# Which instances sit on a node that dies or drains is up to placing.
NAMES_VARY = {
    "node-down",
    "stop-on-client-after",
    "canary-node-down",
    "disconnect-reconnect",
    "drain-migrate",
    "system-infeasible",
}
# How long after its last step a recording was taken.
SETTLE_DEFAULT_S = 8.0
SETTLE_S = {
    "node-down": 0.3,
    "system-infeasible": 0.6,
    "auto-revert-failed-task": 20.0,
    "reschedule-penalty": 12.0,
}

# What depends on moments that the recordings do not tell, by scenario.
EVALS, DEPLOYMENTS, JOBS = "evaluations", "deployments", "jobs"
NOT_COMPARED = {
    # Whether promotion or the look at healthy canaries comes first.
    "auto-promote": {EVALS},
    # How many attempts fail before the node that came back is ready; and a health that is told twice.
    "disconnect-replaced": {EVALS, DEPLOYMENTS},
    # One job's allocation failed there before its registration was through.
    "reschedule-delays": {EVALS},
    # Whether a drain that is forced marks allocations once or twice.
    "sticky-disk": {EVALS},
    # Whether capacity or health comes first.
    "blocked-unblock": {EVALS, DEPLOYMENTS, JOBS},
    "node-attribute-change": {EVALS},
    # Whether a node's or its class's waiting evaluations come first.
    "system-new-node": {EVALS},
}

SCENARIOS = [
    "rolling-update",
    "canary-promote",
    "canary-node-down",
    "auto-promote",
    "auto-revert-failed-task",
    "deployment-pause",
    "progress-deadline",
    "node-down",
    "disconnect-reconnect",
    "disconnect-replaced",
    "stop-on-client-after",
    "reschedule-delays",
    "reschedule-no-placement",
    "reschedule-penalty",
    "alloc-stop",
    "batch-rerun",
    "system-update",
    "system-infeasible",
    "drain-migrate",
    "job-names",
    "revert-versions",
    "sticky-disk",
    "blocked-unblock",
    "node-attribute-change",
    "system-new-node",
]


def is_refusal(response: Any) -> bool:
    """Whether the servers did not do what was asked."""
    return isinstance(response, str) or (isinstance(response, dict) and "Refused" in response)


class Replay:
    """One recording, played step by step."""

    def __init__(self, name: str, *, settle_s: float = SETTLE_DEFAULT_S) -> None:
        self.name = name
        self._settle_s = SETTLE_S.get(name, settle_s)
        self.recording: Recording = json.loads((RECORDINGS / f"{name}.json").read_text())
        self.cluster = RecordedCluster(self.recording)
        self.recorded = outlines.Recorded()
        self._twins: dict[str, str] = {}

    def play(self, number: int) -> None:
        """Play one step, up to the moment its outcome was recorded."""
        steps = self.recording["Steps"]
        step = steps[number]
        self.cluster.run_until(START + int(step["At"] * SECOND_NS))
        self._do(step)
        self.recorded.take(step.get("After") or {})
        self.cluster.run_until(START + int(self._ends(number) * SECOND_NS))

    def _ends(self, number: int) -> float:
        """When the outcome of a step was recorded."""
        steps = self.recording["Steps"]
        if number + 1 < len(steps):
            following = steps[number + 1]
            waited = re.fullmatch(r"after (\d+) s", following["Do"])
            return float(following["At"]) - (int(waited[1]) if waited else 0)
        if re.fullmatch(r"after \d+ s", steps[number]["Do"]):
            return float(steps[number]["At"])
        return float(steps[number]["At"]) + self._settle_s

    def _do(self, step: Recording) -> None:
        request: Any = step.get("Request")
        cluster = self.cluster
        match step["Do"], request:
            case (("plan job" | "plan job refused"), _):
                return
            case _, {"Method": method, "Path": path}:
                if not is_refusal(step.get("Response")):
                    self._call(method, path, request.get("Body") or {})
            case "register job", {"Job": job}:
                if not is_refusal(step["Response"]):
                    cluster.register_job(job)
            case "nodes stop heartbeating", {"Nodes": names}:
                cluster.fall_silent([self._twin(name) for name in names])
            case "nodes come back", {"Nodes": names}:
                cluster.come_back([self._twin(name) for name in names])
            case "register nodes", list(nodes):
                cluster.register_nodes(nodes)
            case "register three jobs", list(jobs):
                for job in jobs:
                    cluster.register_job(job)

    def _call(self, method: str, path: str, body: Recording) -> None:
        cluster = self.cluster
        where, _, query = path.partition("?")
        match [method, *where.removeprefix("/v1/").split("/")]:
            case ["DELETE", "job", job_id]:
                cluster.stop_job(job_id, purge="purge=true" in query)
            case ["PUT", "operator", "scheduler", "configuration"]:
                cluster.configure(body)
            case ["PUT", "job", job_id, "evaluate"]:
                cluster.evaluate(job_id)
            case ["PUT", "job", job_id, "revert"]:
                cluster.revert(job_id, body["JobVersion"])
            case ["PUT", "job", job_id, "periodic", "force"]:
                cluster.force_periodic(job_id)
            case ["PUT", "allocation", alloc_id, "stop"]:
                cluster.stop_alloc(self._alloc(alloc_id), reschedule="reschedule=true" in query)
            case ["PUT", "deployment", "promote", deployment_id]:
                cluster.promote(self._deployment(deployment_id))
            case ["PUT", "deployment", "pause", deployment_id]:
                cluster.pause(self._deployment(deployment_id), pause=body["Pause"])
            case ["PUT", "node", node_id, "eligibility"]:
                cluster.set_eligibility(node_id, body["Eligibility"])
            case ["PUT", "node", node_id, "drain"]:
                cluster.drain(node_id, body["DrainSpec"], mark_eligible=body.get("MarkEligible", False))

    def _twin(self, name: str) -> str:
        """Our node that stands for a recorded one: of nodes alike, chance has filled either first."""
        if name not in self._twins:
            here: dict[str, Counter[tuple[str, int]]] = {
                node.name: Counter() for node in self.cluster.state.nodes
            }
            for alloc in self.cluster.state.allocs:
                if alloc.desired_status == "run":
                    here[alloc.node_name][alloc.task_group, alloc.job.version] += 1
            there = self.recorded.work_on(name)
            alike = [ours for ours, work in here.items() if work == there]
            self._twins[name] = name if name in alike or not alike else alike[0]
        return self._twins[name]

    def _alloc(self, recorded_id: str) -> Allocation:
        """Our allocation that stands for a recorded one."""
        one = self.recorded.get("Allocations", recorded_id)
        same = [
            alloc
            for alloc in self.cluster.state.allocs
            if (alloc.name, alloc.desired_status) == (one["Name"], one["DesiredStatus"])
        ]
        return next((a for a in same if a.node_id == one["NodeID"]), same[0])

    def _deployment(self, recorded_id: str) -> Deployment:
        one = self.recorded.get("Deployments", recorded_id)
        return next(
            deployment
            for deployment in self.cluster.state.deployments
            if (deployment.job_id, deployment.job_version) == (one["JobID"], one["JobVersion"])
        )


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_recorded_scenario_comes_out_the_same(name: str) -> None:
    replay = Replay(name)
    names = name not in NAMES_VARY
    left_out = NOT_COMPARED.get(name, set())
    for number, step in enumerate(replay.recording["Steps"]):
        replay.play(number)
        if step["Do"] == "progress":
            continue  # taken in the middle of things
        where = f"after step {number}, {step['Do']}"
        state, recorded = replay.cluster.state, replay.recorded
        assert outlines.alloc_outline(state, names=names) == recorded.allocs(names=names), where
        if DEPLOYMENTS not in left_out:
            assert outlines.deployment_outline(state) == recorded.deployments(), where
        if EVALS not in left_out:
            assert outlines.eval_outline(state) == recorded.evals(), where
        if JOBS not in left_out:
            assert outlines.job_outline(state) == recorded.jobs(), where
