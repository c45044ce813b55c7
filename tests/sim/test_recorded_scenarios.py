"""Recorded scenarios, played over HTTP on a server whose nodes are simulated, come out as they did."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.scheduler.kinds import recorded_outlines as outlines
from tests.scheduler.kinds.test_recorded_decisions import NAMES_VARY
from tests.support.real_agent import RealAgent, running_agent

YURT = Path(sys.executable).parent / "yurt"
RECORDINGS = Path(__file__).parents[1] / "recordings/nomad/scheduling"

# As those of the recorded server.
HEARTBEATS = """
server {
  min_heartbeat_ttl = "2s"
  heartbeat_grace   = "1s"
}
"""
PATIENCE_S = 30.0
_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")

Json = dict[str, Any]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RealAgent]:
    with running_agent(tmp_path, client=False, more_config=HEARTBEATS) as agent:
        yield agent


class Play:
    """One scenario on one server; each node has a process of its own, which can be halted."""

    def __init__(self, server: RealAgent, name: str, folder: Path) -> None:
        self._server = server
        self._folder = folder
        self._has_names = name not in NAMES_VARY
        self.recording: Json = json.loads((RECORDINGS / f"{name}.json").read_text())
        self.recorded = outlines.Recorded()
        self._nodes: dict[str, subprocess.Popen[bytes]] = {}

    def begin(self) -> None:
        for node in self.recording["Nodes"]:
            file = self._folder / f"{node['Name']}.json"
            file.write_text(
                json.dumps({"Nodes": [node], "ClientBehaviour": self.recording["ClientBehaviour"]})
            )
            address = f"http://127.0.0.1:{self._server.http_port}"
            command = [str(YURT), "node", "simulate", "-address", address, "-file", str(file)]
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
            self._nodes[node["Name"]] = process
        self._server.wait_for("/v1/nodes", lambda found: len(found) == len(self._nodes))

    def end(self) -> None:
        for process in self._nodes.values():
            process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait()

    def do(self, step: Json) -> None:
        request: Any = step.get("Request")
        match step["Do"], request:
            case "register job", {"Job": _}:
                self._server.call("PUT", "/v1/jobs", request)
            case "nodes stop heartbeating", {"Nodes": names}:
                for name in names:
                    self._nodes[name].send_signal(signal.SIGSTOP)
            case "nodes come back", {"Nodes": names}:
                for name in names:
                    self._nodes[name].send_signal(signal.SIGCONT)
            case _, {"Method": method, "Path": path}:
                body = json.loads(_ID.sub(self._ours, json.dumps(request.get("Body"))))
                self._server.call(method, _ID.sub(self._ours, path), body)

    def wait_until_alike(self, where: str, *, is_last: bool) -> None:
        """Wait until what was recorded is here, and nothing else: allocations; at last, all there is.

        Meanwhile evaluations and deployments may have been recorded on their way.
        """
        try:
            self._server.wait_for("/v1/evaluations", lambda _: not self._difference(is_last), PATIENCE_S)
        except TimeoutError:
            pytest.fail(f"{where}:\n" + "\n".join(self._difference(is_last)))

    def _difference(self, is_last: bool) -> list[str]:
        allocs = [self._get(f"/v1/allocation/{one['ID']}") for one in self._get("/v1/allocations")]
        for one in allocs:
            one["JobVersion"] = one["Job"]["Version"]
        allocs_here = Counter(outlines._recorded_alloc(a, names=self._has_names) for a in allocs)
        pairs = [(allocs_here, self.recorded.allocs(names=self._has_names))]
        if is_last:
            pairs += self._evals_and_deployments()
        return [
            *(f"- {text}" for here, there in pairs for text in there - here),
            *(f"+ {text}" for here, there in pairs for text in here - there),
        ]

    def _evals_and_deployments(self) -> list[tuple[Counter[str], Counter[str]]]:
        evals = [self._get(f"/v1/evaluation/{one['ID']}") for one in self._get("/v1/evaluations")]
        deployments = self._get("/v1/deployments")
        return [
            (Counter(map(outlines._recorded_eval, evals)), self.recorded.evals()),
            (Counter(map(outlines._recorded_deployment, deployments)), self.recorded.deployments()),
        ]

    def _get(self, path: str) -> Any:
        return self._server.call("GET", path).json

    def _ours(self, found: re.Match[str]) -> str:
        """Our object that stands for a recorded one."""
        for kind, path in (("Allocations", "/v1/allocations"), ("Deployments", "/v1/deployments")):
            known = [one for one in self.recorded.all(kind) if one["ID"] == found[0]]
            for ours in self._get(path) if known else ():
                keys = ("Name", "NodeID", "DesiredStatus") if "Name" in ours else ("JobID", "JobVersion")
                if all(ours[key] == known[0][key] for key in keys):
                    return str(ours["ID"])
        return found[0]


@pytest.mark.parametrize("name", ["batch-rerun", "canary-promote", "disconnect-reconnect"])
def test_a_scenario_comes_out_as_recorded(server: RealAgent, name: str, tmp_path: Path) -> None:
    play = Play(server, name, tmp_path)
    try:
        play.begin()
        steps = play.recording["Steps"]
        for number, step in enumerate(steps):
            play.do(step)
            play.recorded.take(step.get("After") or {})
            # What a dry run or a look in the middle of things shows is compared elsewhere.
            if step["Do"] not in ("progress", "plan job"):
                is_last = number == len(steps) - 1
                play.wait_until_alike(f"step {number}, {step['Do']}", is_last=is_last)
    finally:
        play.end()
