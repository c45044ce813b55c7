"""Playing a recorded conversation against a real agent."""

from __future__ import annotations

import http.client
import json
import re
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from tests.api.recordings.normalise import TRIMMED, UUID, Ids, differences
from tests.support.real_agent import RealAgent

FOLDER = Path(__file__).parents[2] / "recordings" / "nomad" / "http"
NODE_ID = "1c8fee40-8ab3-3c24-3822-75b303380128"
SETTLE_TIMEOUT_S = 30.0
STREAM_WAIT_S = 10.0
SWITCHING = 101
# How long a read is made again that shows an earlier state than the recording, taken once all had settled.
READ_AGAIN_S = 3.0
# Deployments that must be healthy for longer are not waited for, as when they were recorded.
HEALTHY_TIME_WAITED_FOR = 3_000_000_000
# Headers that the recordings show.
HEADERS = (
    "X-Nomad-Index",
    "X-Nomad-KnownLeader",
    "X-Nomad-LastContact",
    "X-Nomad-NextToken",
    "Content-Type",
    "Content-Encoding",
    "Cache-Control",
    "Location",
    "Access-Control-Allow-Origin",
    "Access-Control-Allow-Methods",
    "Access-Control-Allow-Headers",
    "Access-Control-Allow-Credentials",
    "Content-Security-Policy",
    "X-Content-Type-Options",
)
_INDEX_HEADERS = ("X-Nomad-Index", "X-Nomad-NextToken")
_CUT_TEXT = re.compile(r"… \(trimmed, (\d+) characters\)$")
_PICKED = re.compile(r"/v1/service/.*[?&](choose|per_page)=")
_SAME_AS = re.compile(r'same as in step "(.*?)( \(request\))?"')


class Reply(msgspec.Struct, frozen=True):
    """What the agent answered."""

    status: int
    headers: dict[str, str]
    body: bytes


class Scenario:
    """A recorded conversation."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.steps: list[dict[str, Any]] = json.loads((FOLDER / f"{name}.json").read_text())["steps"]

    def step(self, name: str) -> dict[str, Any]:
        """The step of that name."""
        return next(step for step in self.steps if step["step"] == name)

    def job(self, job_id: str) -> dict[str, Any]:
        """A job as some step shows it, whole, in the form that it is stored in."""
        for found in _dicts(step["response"].get("body") for step in self.steps):
            if found.get("ID") == job_id and "TaskGroups" in found and "Payload" in found:
                job: dict[str, Any] = self.whole(found)
                return job
        raise LookupError(f"{self.name} shows no job {job_id}")

    def sent_job(self, step: str) -> dict[str, Any]:
        """The job that a step's request carries."""
        job: dict[str, Any] = self.whole(self.step(step)["request"]["body"]["Job"])
        return job

    def whole(self, value: Any, key: str = "") -> Any:
        """A value with its cut parts put back."""
        if isinstance(value, dict):
            if TRIMMED in value:
                return self._source(value[TRIMMED], key)
            return {name: self.whole(item, name) for name, item in value.items()}
        if isinstance(value, str) and (cut := _CUT_TEXT.search(value)) is not None:
            return value[0] * int(cut[1])
        if isinstance(value, list):
            if len(value) == 1 and isinstance(value[0], dict) and TRIMMED in value[0]:
                return self._source(value[0][TRIMMED], key)
            return [self.whole(item, key) for item in value]
        return value

    def _source(self, text: str, key: str) -> Any:
        same_as = _SAME_AS.search(text)
        assert same_as is not None, text
        side = "request" if same_as[2] else "response"
        for found in _dicts([self.step(same_as[1])[side].get("body")]):
            if key in found:
                return self.whole(found[key], key)
        raise LookupError(f"no {key} in {same_as[1]}")


class Player:
    """Plays conversations against one agent, each on an empty cluster."""

    def __init__(self, agent: RealAgent, *, token: str = "") -> None:
        self._agent = agent
        # What calls that were not recorded carry.
        self._headers = {"X-Nomad-Token": token} if token else {}
        self.ids = Ids()
        self.scenario = Scenario("empty_lists")
        self._indexes: dict[str, str] = {}
        self._mark = 0

    def begin(self, scenario: Scenario) -> None:
        """Start over with an empty cluster and no known ids."""
        self.clear()
        self.scenario = scenario
        self.ids = Ids()
        self._indexes = {}
        (node,) = self.get("/v1/nodes")
        self.ids.bind(NODE_ID, node["ID"])

    def clear(self) -> None:
        """Empty the cluster: no jobs, and nothing that belonged to them."""
        self.set_scheduler({"PreemptionConfig": {"SystemSchedulerEnabled": True}})
        for node in self.get("/v1/nodes"):
            if node["SchedulingEligibility"] != "eligible":
                self.send("PUT", f"/v1/node/{node['ID']}/drain", {"MarkEligible": True})
        for job in self.get("/v1/jobs?namespace=*"):
            path = f"/v1/job/{quote(job['ID'], safe='')}?purge=true&namespace={job['Namespace']}"
            self.send("DELETE", path)
        self._wait("an empty cluster", self._is_empty)
        for variable in self.get("/v1/vars?namespace=*"):
            path = f"/v1/var/{variable['Path']}?namespace={variable['Namespace']}"
            if variable["Lock"]:
                self.send("PUT", f"{path}&lock-release", {"Lock": variable["Lock"]})
            self.send("DELETE", path)
        for namespace in self.get("/v1/namespaces"):
            if namespace["Name"] != "default":
                self.send("DELETE", f"/v1/namespace/{namespace['Name']}")
        for pool in self.get("/v1/node/pools"):
            if pool["Name"] not in ("all", "default"):
                self.send("DELETE", f"/v1/node/pool/{pool['Name']}")
        self.send("PUT", "/v1/client/gc")

    def set_scheduler(self, configuration: dict[str, Any]) -> None:
        """Replace how the cluster schedules."""
        self.send("PUT", "/v1/operator/scheduler/configuration", configuration)

    def play(
        self,
        step: dict[str, Any],
        correct: Callable[[dict[str, Any]], None] | None = None,
        *,
        is_waited_for: bool = True,
    ) -> list[str]:
        """Make one recorded call; say how the answer differs."""
        request, recorded = step["request"], step["response"]
        path = self._path(request["path"])
        body = self._body(request.get("body"))
        if correct is not None:
            correct(body)
        if recorded["status"] == SWITCHING:
            told = self._converse(path, request["body"])
            unlike = differences(recorded["body"], told, self.ids, "body")
            return [f"{step['step']}: {one}" for one in unlike]
        if "first_line" in (recorded.get("body") or ()):
            return [f"{step['step']}: {one}" for one in self._follow(path, recorded)]
        reply, found = self._asked(request, path, body, recorded)
        if request["method"] in ("PUT", "POST", "DELETE") and reply.status == 200:
            if is_waited_for:
                self.settle()
            else:
                self._wait("evaluations done", self._are_evaluations_done)
        return [f"{step['step']}: {one}" for one in found]

    def _asked(
        self, request: dict[str, Any], path: str, body: Any, recorded: dict[str, Any]
    ) -> tuple[Reply, list[str]]:
        """Make a call; a read that still shows work under way is made again until that is done."""
        end = time.monotonic() + READ_AGAIN_S
        while True:
            known = self.ids.copy()
            headers = json.loads(self.ids.in_text(json.dumps(request.get("headers") or {})))
            reply = self._raw(request["method"], path, body, headers)
            # Which instances of a service are picked depends on their ids, and these are random.
            ids = Ids() if _PICKED.search(path) else self.ids
            found = list(self._compare(recorded, reply, ids))
            is_under_way = any("Status" in one or "State" in one for one in found)
            if request["method"] != "GET" or not is_under_way or time.monotonic() > end:
                return reply, found
            self.ids = known
            time.sleep(0.05)

    # --- what happens between recorded calls ------------------------------------------------------

    def get(self, path: str) -> Any:
        """Read JSON."""
        reply = self._raw("GET", path, None, self._headers)
        assert reply.status == 200, (path, reply)
        return json.loads(reply.body)

    def send(self, method: str, path: str, body: Any = None) -> Any:
        """Make a call that was not recorded."""
        reply = self._raw(method, path, body, self._headers)
        return json.loads(reply.body) if reply.headers.get("content-type") == "application/json" else None

    def bind_alloc(self, recorded: str, job_id: str) -> None:
        """Say that a recorded id stands for the only allocation of a job."""
        (alloc,) = self.get(f"/v1/job/{job_id}/allocations")
        self.ids.bind(recorded, alloc["ID"])

    def register(self, job: dict[str, Any], *, settled: bool = True, **envelope: Any) -> None:
        """Register a job that was not recorded."""
        namespace = job.get("Namespace") or "default"
        path = f"/v1/jobs?namespace={namespace}"
        reply = self._raw("PUT", path, {"Job": job, **envelope}, self._headers)
        assert reply.status == 200, reply.body.decode()
        if settled:
            self.settle()

    def stop(self, job_id: str, *, purge: bool = False, namespace: str = "default") -> None:
        """Stop a job."""
        query = f"?purge={str(purge).lower()}&namespace={namespace}"
        self.send("DELETE", f"/v1/job/{quote(job_id, safe='')}{query}")
        self.settle()

    def wait_for(self, path: str, is_so: Callable[[Any], bool]) -> None:
        """Wait until an answer is as wanted."""
        self._wait(f"{path} as wanted", lambda: is_so(self.get(path)))

    def wait_for_log(self, job_id: str, text: str) -> None:
        """Wait until the task of a job has written a text."""
        (alloc,) = self.get(f"/v1/job/{job_id}/allocations")
        path = f"/v1/client/fs/logs/{alloc['ID']}?task=t&type=stdout&plain=true"
        self._wait(f"{text} in the log", lambda: text.encode() in self._raw("GET", path, None, {}).body)

    def settle(self) -> None:
        """Wait until nothing moves: evaluations done, allocations as wanted, deployments over."""
        self._wait("a settled cluster", self._is_settled)

    # --- details ----------------------------------------------------------------------------------

    def _wait(self, what: str, is_so: Callable[[], bool]) -> None:
        end = time.monotonic() + SETTLE_TIMEOUT_S
        while not is_so():
            assert time.monotonic() < end, f"{self.scenario.name}: no {what} in {SETTLE_TIMEOUT_S} s"
            time.sleep(0.02)

    def _is_empty(self) -> bool:
        self.send("PUT", "/v1/system/gc")
        lists = ("jobs", "allocations", "evaluations", "deployments")
        return not any(self.get(f"/v1/{name}?namespace=*") for name in lists)

    def _are_evaluations_done(self) -> bool:
        paused = self.get("/v1/operator/scheduler/configuration")["SchedulerConfig"]["PauseEvalBroker"]
        return paused or not any(
            one["Status"] == "pending" and not one.get("WaitUntil")
            for one in self.get("/v1/evaluations?namespace=*")
        )

    def _is_settled(self) -> bool:
        if not self._are_evaluations_done():
            return False
        for alloc in self.get("/v1/allocations?namespace=*"):
            if alloc["DesiredStatus"] == "run" and alloc["ClientStatus"] == "pending":
                return False
            if alloc["DesiredStatus"] != "run" and alloc["ClientStatus"] in ("pending", "running"):
                return False
            states = alloc["TaskStates"] or {}
            if alloc["ClientStatus"] == "running" and any(
                task["State"] == "pending" for task in states.values()
            ):
                return False
        return not any(self._is_moving(one) for one in self.get("/v1/deployments?namespace=*"))

    def _is_moving(self, deployment: dict[str, Any]) -> bool:
        if deployment["Status"] != "running":
            return False
        waiting = [
            one for one in deployment["TaskGroups"].values() if one["DesiredCanaries"] and not one["Promoted"]
        ]
        if waiting:
            return any(one["HealthyAllocs"] < one["DesiredCanaries"] for one in waiting)
        job = self.get(f"/v1/job/{quote(deployment['JobID'], safe='')}?namespace={deployment['Namespace']}")
        if any(
            (group["Update"] or {}).get("MinHealthyTime", 0) > HEALTHY_TIME_WAITED_FOR
            for group in job["TaskGroups"]
        ):
            return False
        # What cannot be placed is not waited for either.
        summary = self.get(
            f"/v1/job/{quote(deployment['JobID'], safe='')}/summary?namespace={deployment['Namespace']}"
        )
        return not any(row["Queued"] for row in summary["Summary"].values())

    def _path(self, path: str) -> str:
        for recorded in UUID.findall(path):
            if self.ids.real(recorded) is None:
                self._look_up(recorded)
        for name, value in self._indexes.items():
            if path.endswith(name):
                path = path.removesuffix(name) + value
        return self._prefixes(self.ids.in_text(path))

    def _prefixes(self, path: str) -> str:
        """Paths with the first eight digits of a recorded id get those of the real one."""
        found = re.search(r"(?:prefix=|/ls/)([0-9a-f]{8})(?![0-9a-f-])", path)
        if found is None:
            return path
        for recorded in _uuids(self.scenario.steps):
            if recorded.startswith(found[1]):
                if self.ids.real(recorded) is None:
                    self._look_up(recorded)
                real = self.ids.real(recorded)
                return path.replace(found[1], real[:8]) if real is not None else path
        return path

    def _body(self, body: Any) -> Any:
        if isinstance(body, str) or body is None:
            return body
        text = json.dumps(self.scenario.whole(body))
        for recorded in UUID.findall(text):
            if self.ids.real(recorded) is None:
                self._look_up(recorded)
        found = json.loads(self.ids.in_text(text))
        index = found.get("JobModifyIndex") if isinstance(found, dict) else None
        if index in self.ids.indexes:
            found["JobModifyIndex"] = self.ids.indexes[index]
        return found

    def _look_up(self, recorded: str) -> None:
        """Find out what a recorded id stands for, by what the recording shows of it."""
        for shown in _dicts(step["response"].get("body") for step in self.scenario.steps):
            if shown.get("ID") == recorded:
                real = self._real_one(shown)
                if real is not None:
                    self.ids.bind(recorded, real)
                    return

    def _real_one(self, shown: dict[str, Any]) -> str | None:
        job_id, namespace = shown.get("JobID"), shown.get("Namespace", "default")
        if not job_id:
            return None
        base = f"/v1/job/{quote(job_id, safe='')}"
        query = f"?namespace={namespace}&all=true"
        if "TriggeredBy" in shown:
            found = [
                one
                for one in self.get(f"{base}/evaluations{query}")
                if (one["TriggeredBy"], one["Status"]) == (shown["TriggeredBy"], shown["Status"])
            ]
        elif "TaskGroup" in shown:
            found = [one for one in self.get(f"{base}/allocations{query}") if one["Name"] == shown["Name"]]
        elif "JobVersion" in shown:
            found = [
                one
                for one in self.get(f"{base}/deployments{query}")
                if one["JobVersion"] == shown["JobVersion"]
            ]
        else:
            return None
        # The first that is not yet taken for another.
        for one in sorted(found, key=lambda item: item["CreateIndex"]):
            if self.ids.copy().bind(shown["ID"], one["ID"]):
                real: str = one["ID"]
                return real
        return None

    def _raw(self, method: str, path: str, body: Any, headers: dict[str, str]) -> Reply:
        connection = http.client.HTTPConnection("127.0.0.1", self._agent.http_port, timeout=60)
        try:
            data = body.encode() if isinstance(body, str) else None if body is None else json.dumps(body)
            connection.request(method, quote(path, safe="/?&=%:*+,()@!$;~'"), data, headers)
            response = connection.getresponse()
            told = {name.lower(): value for name, value in response.getheaders()}
            return Reply(response.status, told, response.read())
        finally:
            connection.close()

    def _converse(self, path: str, messages: list[Any]) -> dict[str, Any]:
        """Send messages over a WebSocket, and tell all that comes back, in the recordings' form."""
        told: list[Any] = []
        ended: Any = "connection ended"
        with connect(f"ws://127.0.0.1:{self._agent.http_port}{path}", close_timeout=1) as socket:
            for message in messages:
                socket.send(json.dumps(message))
            try:
                while True:
                    told.append(json.loads(socket.recv(STREAM_WAIT_S)))
            except ConnectionClosed as closed:
                if closed.rcvd is not None:
                    ended = {"close_code": closed.rcvd.code, "reason": closed.rcvd.reason}
        return {"messages": told, "end": ended}

    def mark(self) -> None:
        """Remember this moment: the next stream of events starts here."""
        index = self._raw("GET", "/v1/operator/upgrade-check/vault-workload-identity", None, {})
        self._mark = int(index.headers["x-nomad-index"]) + 1

    def _follow(self, path: str, recorded: dict[str, Any]) -> Iterator[str]:
        """Read a stream until it has told as many events as were recorded; say how they differ."""
        path = re.sub(r"index=\d+", f"index={self._mark}", path)
        wanted = recorded["body"]
        connection = http.client.HTTPConnection("127.0.0.1", self._agent.http_port, timeout=STREAM_WAIT_S)
        lines: list[Any] = []
        events: list[Any] = []
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            headers = {name.lower(): value for name, value in response.getheaders()}
            yield from self._header_differences(recorded["headers"], headers)
            while not lines or len(events) < len(wanted["events"]):
                lines.append(response.readline())
                batch = json.loads(lines[-1])
                # A stream from a moment that is still to come begins with what came before it.
                events += [one for one in batch.get("Events", ()) if one["Index"] >= self._mark]
        except TimeoutError:
            yield f"events: recorded {len(wanted['events'])}, got {len(events)}"
        finally:
            connection.close()
        first = lines[0].decode().strip() if lines else ""
        yield from differences(wanted, {"first_line": first, "events": events}, self.ids, "body")

    def _compare(self, recorded: dict[str, Any], reply: Reply, ids: Ids) -> Iterator[str]:
        if recorded["status"] != reply.status:
            yield f"status: recorded {recorded['status']}, got {reply.status} {reply.body[:300]!r}"
            return
        yield from self._header_differences(recorded["headers"], reply.headers)
        if "binary" in recorded:
            if not reply.body:
                yield "body: recorded some bytes, got none"
        elif recorded.get("text", "").startswith("{"):
            # JSON that is sent as text.
            wanted, got = json.loads(recorded["text"]), json.loads(reply.body)
            yield from differences(wanted, got, ids, "text")
        elif "text" in recorded:
            text = reply.body.decode(errors="replace")
            yield from differences(recorded["text"], text, ids, "text")
        elif "body" in recorded:
            try:
                real = json.loads(reply.body)
            except ValueError:
                yield f"body: recorded JSON, got {reply.body[:200]!r}"
                return
            if self.scenario.name == "metrics":
                real = _member_names(real)
            # Lists of what belongs to a job come in no order; where order matters there is a test for it.
            yield from differences(recorded["body"], real, ids, "body", unordered=True)
        elif reply.body:
            yield f"body: recorded none, got {reply.body[:200]!r}"

    def _header_differences(self, recorded: dict[str, str], real: dict[str, str]) -> Iterator[str]:
        for name in HEADERS:
            wanted, got = recorded.get(name), real.get(name.lower())
            if name in _INDEX_HEADERS:
                if (wanted is None) != (got is None):
                    yield f"header {name}: recorded {wanted!r}, got {got!r}"
                elif wanted is not None and got is not None:
                    # Later requests name this place, or check that nothing has changed since.
                    before = "next_token=" if name == "X-Nomad-NextToken" else "cas="
                    self._indexes[before + wanted] = before + got
            elif wanted != got:
                yield f"header {name}: recorded {wanted!r}, got {got!r}"


def _member_names(metrics: dict[str, Any]) -> dict[str, Any]:
    """Metrics as the recording shows them: of each list the names of its first item's members."""
    return {
        name: sorted(value[0]) if isinstance(value, list) and value else value
        for name, value in metrics.items()
    }


def _dicts(values: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """Every object inside some JSON values, outer ones first."""
    for value in values:
        if isinstance(value, dict):
            yield value
            yield from _dicts(value.values())
        elif isinstance(value, list):
            yield from _dicts(value)


def _uuids(steps: list[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(UUID.findall(json.dumps(steps))))
