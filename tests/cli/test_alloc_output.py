"""`alloc status` and `alloc logs` print what was recorded."""

import base64
import json
from typing import Any

from tests.cli.command_line import CommandLine, same
from tests.cli.objects import NODE_ID, an_alloc_stub, an_eval
from tests.cli.transcripts import at, read_transcript
from tests.sdk.replay_server import Reply, Request

ALLOC_ID = "44f4d7d8-d47e-4860-38bd-08f552398aa7"
CREATED = "2026-11-15T09:04:13Z"
MIB = 1024 * 1024


def event(kind: str, message: str, time: str) -> dict[str, Any]:
    return {"Type": kind, "DisplayMessage": message, "Time": at(time)}


def duo() -> dict[str, Any]:
    task = {"Cpu": {"CpuShares": 50}, "Memory": {"MemoryMB": 32, "MemoryMaxMB": 0}}
    names = ({"Name": "main"}, {"Name": "prep", "Lifecycle": {"Hook": "prestart"}})
    received = event("Received", "Task received by client", "2026-11-15T09:04:13Z")
    return {
        **an_alloc_stub(ALLOC_ID, "g", Name="duo.g[0]", JobID="duo"),
        "EvalID": "2726aac3-fc54-78b5-3d30-efae0304b165",
        "ClientDescription": "Tasks are running",
        "CreateTime": at(CREATED),
        "ModifyTime": at("2026-11-15T09:04:16Z"),
        "DeploymentID": "13651051-116b-7981-b1df-7c53afb864d1",
        "DeploymentStatus": {"Healthy": True, "Canary": False},
        "Job": {"ID": "duo", "Type": "service", "TaskGroups": [{"Name": "g", "Tasks": names}]},
        "AllocatedResources": {
            "Tasks": {"main": task, "prep": task},
            "TaskLifecycles": {"main": None, "prep": {"Hook": "prestart", "Sidecar": False}},
            "Shared": {
                "DiskMB": 300,
                "Networks": [{"IP": "127.0.0.1"}],
                "Ports": [
                    {"Label": "fix", "Value": 28123, "HostIP": "127.0.0.1"},
                    {"Label": "http", "Value": 26005, "HostIP": "127.0.0.1"},
                ],
            },
        },
        "Metrics": {
            "NodesEvaluated": 1,
            "AllocationTime": 60781,
            "ScoreMetaData": [
                {
                    "NodeID": NODE_ID,
                    "NormScore": 0.015432,
                    "Scores": {
                        "binpack": 0.015432,
                        "job-anti-affinity": 0.0,
                        "node-affinity": 0.0,
                        "node-reschedule-penalty": 0.0,
                    },
                }
            ],
        },
        "TaskStates": {
            "prep": {
                "State": "dead",
                "StartedAt": "2026-11-15T09:04:14.1Z",
                "FinishedAt": "2026-11-15T09:04:14.2Z",
                "Events": [
                    received,
                    event("Task Setup", "Building Task Directory", "2026-11-15T09:04:13Z"),
                    event("Started", "Task started by client", "2026-11-15T09:04:14Z"),
                    event("Terminated", "Exit Code: 0", "2026-11-15T09:04:14Z"),
                ],
            },
            "main": {
                "State": "running",
                "StartedAt": "2026-11-15T09:04:15.1Z",
                "FinishedAt": None,
                "Events": [
                    received,
                    event("Task Setup", "Building Task Directory", "2026-11-15T09:04:14Z"),
                    event("Started", "Task started by client", "2026-11-15T09:04:15Z"),
                ],
            },
        },
    }


def usage(resident: int) -> dict[str, Any]:
    return {"ResourceUsage": {"MemoryStats": {"RSS": resident, "Measured": ["RSS"]}, "CpuStats": {}}}


def serve_duo(yurt: CommandLine) -> None:
    server = yurt.server
    server.on("GET", "/v1/allocations", [an_alloc_stub(ALLOC_ID, "g")])
    server.on("GET", "/v1/allocations?prefix=00000000", [])
    server.on("GET", "/v1/allocations?prefix=0000", [])
    invalid = "alloc lookup failed: index error: Invalid UUID: encoding/hex: invalid byte: U+007A 'z'"
    server.on("GET", "/v1/allocations?prefix=zzzz", Reply(invalid.encode(), 500))
    server.on("GET", f"/v1/allocation/{ALLOC_ID}", duo())
    server.on("GET", f"/v1/client/allocation/{ALLOC_ID}/checks", None)
    tasks = {"main": usage(int(1.7 * MIB)), "prep": usage(284 * 1024)}
    server.on("GET", f"/v1/client/allocation/{ALLOC_ID}/stats", {**usage(0), "Tasks": tasks})


def test_alloc_status(yurt: CommandLine) -> None:
    serve_duo(yurt)
    yurt.set_time(at("2026-11-15T09:04:18.5Z"))
    transcript = read_transcript("alloc-status")
    yurt.set_time(at(CREATED) + 6 * 10**9)
    result = yurt(f"yurt alloc status {ALLOC_ID}")
    # The recording was made within one second, in which a relative time went up by one.
    assert result.stdout == transcript.step("yurt alloc status $A").stdout.replace("= 2s ago", "= 3s ago")
    yurt.server.on("PUT", "/v1/search", {"Matches": {"allocs": [ALLOC_ID]}})
    for command in (
        "yurt alloc status -verbose ${A:5}",
        'yurt alloc status -t "{{.ClientStatus}} {{.Name}}" $A',
        "yurt alloc status ${A:1}",
        "yurt alloc status",
        "yurt alloc status 00000000",
        "yurt alloc status zzzz",
        "yurt alloc status -json -t x $A",
    ):
        same(yurt, transcript.step(command), {"A": ALLOC_ID})


def test_alloc_status_short(yurt: CommandLine) -> None:
    serve_duo(yurt)
    yurt.server.on("GET", "/v1/allocation/" + ALLOC_ID, {**duo(), "ModifyTime": at("2026-11-15T09:04:17Z")})
    yurt.set_time(at(CREATED) + 6 * 10**9)
    same(yurt, read_transcript("alloc-status").step("yurt alloc status -short ${A:8}"), {"A": ALLOC_ID})


def test_several_allocations_match(yurt: CommandLine) -> None:
    stubs = [an_alloc_stub(ALLOC_ID, "g"), an_alloc_stub("44000000-d47e-4860-38bd-08f552398aa7", "g")]
    yurt.server.on("GET", "/v1/allocations", stubs)
    result = yurt("yurt alloc status 44")
    assert result.exit_code == 0
    assert result.stdout.startswith("Prefix matched multiple allocations\n\nID        Node ID ")


def test_odd_prefix_is_shortened(yurt: CommandLine) -> None:
    yurt.server.on("GET", "/v1/allocations", [])
    yurt("yurt alloc status 44f4d7d8-d47")
    assert yurt.server.requests[-1].query == {"prefix": "44f4d7d8-d4"}


def test_rescheduling_is_announced(yurt: CommandLine) -> None:
    serve_duo(yurt)
    yurt.set_time(at("2026-11-15T09:21:34Z"))
    alloc = {**duo(), "FollowupEvalID": "5bcd77cb"}
    yurt.server.on("GET", f"/v1/allocation/{ALLOC_ID}", alloc)
    yurt.server.on("GET", "/v1/evaluation/5bcd77cb", an_eval("5bcd77cb", WaitUntil="2026-11-15T09:22:32.9Z"))
    assert "\nReschedule Eligibility = 58s from now\n" in yurt(f"yurt alloc status {ALLOC_ID}").stdout


def test_usage_that_cannot_be_had_is_a_note(yurt: CommandLine) -> None:
    serve_duo(yurt)
    yurt.server.on("GET", f"/v1/client/allocation/{ALLOC_ID}/stats", Reply(b"No path to node", 404))
    yurt.server.on("GET", f"/v1/node/{NODE_ID}", {"ID": NODE_ID, "Status": "down"})
    result = yurt(f"yurt alloc status {ALLOC_ID}")
    assert result.exit_code == 0
    assert "\nOmitting resource statistics since the node is down.\n" in result.stdout
    assert "\n50 MHz  32 MiB  300 MiB  \n" in result.stdout


LOGS = {
    "stdout": "".join(f"line {number}\n" for number in range(1, 13)),
    "stderr": "".join(f"err {number}\n" for number in range(1, 13)),
}


def answer_logs(request: Request) -> Reply:
    query = request.query
    if query["task"] == "nosuch":
        return Reply(b'unknown task name "nosuch"', 400)
    text = "prep\n" if query["task"] == "prep" else LOGS[query["type"]]
    if query["origin"] == "end":
        text = text[-int(query["offset"]) :]
    frame = {"Data": base64.b64encode(text.encode()).decode(), "File": "f", "Offset": len(text)}
    return Reply(chunks=(json.dumps(frame).encode(), b"{}"))


def test_alloc_logs(yurt: CommandLine) -> None:
    serve_duo(yurt)
    yurt.server.on("GET", f"/v1/client/fs/logs/{ALLOC_ID}", answer_logs)
    yurt.server.on("GET", "/v1/jobs", [{"ID": "duo", "Namespace": "default"}])
    stub = an_alloc_stub(ALLOC_ID, "g", TaskStates={"main": {}, "prep": {}})
    yurt.server.on("GET", "/v1/job/duo/allocations", [stub])
    transcript = read_transcript("alloc-logs")
    for step in transcript.steps:
        if step.command.startswith("yurt alloc logs") or step.command.startswith("yurt logs"):
            recorded_id = "207e781a"
            same(yurt, step._replace(stderr=step.stderr.replace(recorded_id, ALLOC_ID[:8])), {"A": ALLOC_ID})
