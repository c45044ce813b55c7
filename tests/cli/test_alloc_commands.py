"""Commands that act on allocations print what was recorded."""

import base64
import json
import os
import subprocess
import sys
from typing import Any

import pytest

from tests.cli.command_line import CommandLine, same
from tests.cli.objects import a_job_stub, an_alloc_stub, an_eval
from tests.cli.transcripts import at, read_transcript
from tests.sdk.replay_server import Reply, Request
from tests.sdk.websocket_server import Conversation, WebSocketServer
from yurt.cli.exec_terminal import EscapeWatcher

ALLOC_ID = "759565c4-0000-0000-0000-000000000000"


def an_alloc(*tasks: str, job: str = "duo") -> dict[str, Any]:
    groups = [{"Name": "g", "Tasks": [{"Name": name} for name in tasks]}]
    return {
        **an_alloc_stub(ALLOC_ID, "g", JobID=job),
        "TaskStates": {name: {"State": "running"} for name in tasks},
        "Job": {"ID": job, "TaskGroups": groups},
    }


def serve(yurt: CommandLine, alloc: dict[str, Any]) -> None:
    yurt.server.on("GET", "/v1/allocations", [an_alloc_stub(ALLOC_ID, "g")])
    yurt.server.on("GET", "/v1/allocations?prefix=00000000", [])
    yurt.server.on("GET", f"/v1/allocation/{ALLOC_ID}", alloc)


def test_exec_checks_its_arguments(yurt: CommandLine) -> None:
    serve(yurt, an_alloc("main", "prep"))
    transcript = read_transcript("alloc-exec")
    for command in (
        "yurt alloc exec $A /bin/echo hi",
        "yurt alloc exec -task nosuch $A /bin/echo hi",
        "yurt alloc exec -task main $A",
        "yurt alloc exec",
        "yurt alloc exec -t -task main $A /bin/echo hi",
    ):
        same(yurt, transcript.step(command), {"A": ALLOC_ID})


def test_exec_passes_streams_and_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a process of its own, since it reads standard input by its descriptor."""
    alloc = an_alloc("main")

    def talk(conversation: Conversation) -> None:
        typed = b""
        while "close" not in (message := json.loads(conversation.receive())).get("stdin", {"close": 1}):
            typed += base64.b64decode(message["stdin"]["data"])
        data = base64.b64encode(typed.upper()).decode()
        conversation.send(json.dumps({"stdout": {"data": data}}).encode())
        conversation.send(json.dumps({"stderr": {"data": base64.b64encode(b"err").decode()}}).encode())
        conversation.send(json.dumps({"exited": True, "result": {"exit_code": 7}}).encode())

    script = (
        "import sys; from unittest.mock import patch; import yurt.cli.commands.alloc_exec as m;"
        "from yurt.sdk.types.allocs import Alloc; from yurt.sdk.wire import decode;"
        f"alloc = decode({json.dumps(alloc)!r}.encode(), Alloc);"
        "m.choose_alloc = lambda *a, **k: alloc;"
        "from yurt.cli.main import main; sys.exit(main(sys.argv[1:]))"
    )
    with WebSocketServer(talk) as server:
        done = subprocess.run(
            [sys.executable, "-c", script, "alloc", "exec", "-task", "main", ALLOC_ID, "cat"],
            input=b"typed in\n",
            env={**os.environ, "YURT_ADDR": server.address},
            capture_output=True,
            check=False,
            timeout=60,
        )
    assert (done.returncode, done.stdout, done.stderr) == (7, b"TYPED IN\n", b"err")


@pytest.mark.parametrize(
    ("pieces", "forwarded"),
    [
        ([b"ls\r"], b"ls\r"),
        ([b"a~.b"], b"a~.b"),
        ([b"x\r", b"~", b"q"], b"x\r~q"),
        ([b"~~."], b"~."),
        ([b"\r~."], None),
        ([b"~", b"."], None),
    ],
)
def test_escape_ends_a_session_at_the_start_of_a_line(pieces: list[bytes], forwarded: bytes | None) -> None:
    watcher = EscapeWatcher("~")
    results = [watcher.feed(piece) for piece in pieces]
    if forwarded is None:
        assert results[-1] is None
    else:
        assert b"".join(result or b"" for result in results) == forwarded


def test_files(yurt: CommandLine) -> None:
    serve(yurt, an_alloc("main", "prep"))
    server = yurt.server

    def entry(name: str, time: str, *, is_dir: bool = True, size: int = 4096) -> dict[str, Any]:
        mode = "drwxrwxrwx" if is_dir else "-rw-r--r--"
        content = "" if is_dir else "text/plain; charset=utf-8"
        return {
            "Name": name,
            "IsDir": is_dir,
            "Size": size,
            "FileMode": mode,
            "ModTime": f"2026-11-15T09:10:{time}.5Z",
            "ContentType": content,
        }

    folders = {
        "/": [entry("alloc", "11"), entry("main", "12"), entry("prep", "12")],
        "alloc": [entry("data", "11"), entry("logs", "12"), entry("tmp", "11")],
    }
    log = "".join(f"line {number}\n" for number in range(1, 13))
    files = {"alloc/logs/main.stdout.0": log, "alloc/logs/prep.stdout.0": "prep\n"}

    def stat(request: Request) -> Reply:
        path = request.query["path"]
        if path in folders:
            return Reply(entry(path, "11"))
        if path in files:
            return Reply(entry(path.rsplit("/", 1)[1], "12", is_dir=False, size=len(files[path])))
        if ".." in path:
            return Reply(b"Path escapes the alloc directory", 500)
        text = f"stat /alloc-dir/de0d5313-2ef1-a617-41f8-85f13e80117a/{path}: no such file or directory"
        return Reply(text.encode(), 404)

    def stream(request: Request) -> Reply:
        text = files[request.query["path"]]
        if request.query["origin"] == "end":
            text = text[-int(request.query["offset"]) :]
        return Reply(chunks=(json.dumps({"Data": base64.b64encode(text.encode()).decode()}).encode(),))

    server.on("GET", f"/v1/client/fs/stat/{ALLOC_ID}", stat)
    server.on("GET", f"/v1/client/fs/ls/{ALLOC_ID}", lambda request: Reply(folders[request.query["path"]]))
    server.on("GET", f"/v1/client/fs/stream/{ALLOC_ID}", stream)
    server.on("GET", "/v1/jobs", [a_job_stub("duo")])
    server.on("GET", "/v1/job/duo/allocations", [an_alloc_stub(ALLOC_ID, "g")])
    for step in read_transcript("alloc-fs").steps:
        if " fs" in step.command:
            same(yurt, step, {"A": ALLOC_ID})


def test_lifecycle(yurt: CommandLine) -> None:
    serve(yurt, an_alloc("main", job="talk"))
    server = yurt.server
    transcript = read_transcript("alloc-lifecycle")
    server.on("PUT", f"/v1/client/allocation/{ALLOC_ID}/signal", {"Index": 0})
    server.on("PUT", f"/v1/client/allocation/{ALLOC_ID}/restart", {"Index": 0})
    server.on("PUT", f"/v1/allocation/{ALLOC_ID}/stop", {"EvalID": "ea49cc51-1a05-fa3b-7432-a153e94b52fc"})
    for command in (
        "yurt alloc signal -s SIGHUP $A main",
        "yurt alloc signal -s SIGHUP $A nosuch",
        "yurt alloc restart $A nosuch",
        "yurt alloc restart -all-tasks $A main",
        "yurt alloc restart $A",
        "yurt alloc stop -detach $A",
        "yurt alloc stop 00000000",
        "yurt alloc stop",
    ):
        same(yurt, transcript.step(command), {"A": ALLOC_ID})
    ended = b"restart of an alloc that should not run"
    server.on("PUT", f"/v1/client/allocation/{ALLOC_ID}/restart", Reply(ended, 500))
    same(yurt, transcript.step("yurt alloc restart $A", occurrence=1), {"A": ALLOC_ID})
    problem = b"1 error occurred:\n\t* Failed to signal task: main, err: Task not running\n\n"
    server.on("PUT", f"/v1/client/allocation/{ALLOC_ID}/signal", Reply(problem, 500))
    same(yurt, transcript.step("yurt alloc signal $A"), {"A": ALLOC_ID})


def test_checks(yurt: CommandLine) -> None:
    serve(yurt, an_alloc("main"))
    path = f"/v1/client/allocation/{ALLOC_ID}/checks"
    yurt.server.on("GET", path, None)
    same(yurt, read_transcript("alloc-status").step("yurt alloc checks $A"), {"A": ALLOC_ID})
    check = {
        "ID": "abc",
        "Mode": "healthiness",
        "Status": "success",
        "StatusCode": 200,
        "Output": "nomad: http ok",
        "Timestamp": at("2026-11-15T09:00:00Z") // 10**9,
        "Group": "duo.g[0]",
        "Service": "api",
        "Check": "alive",
    }
    yurt.server.on("GET", path, {"abc": check})
    text = yurt(f"yurt alloc checks {ALLOC_ID}").stdout
    assert text.startswith("Status of 1 Nomad Service Checks\n\nID         =  abc\nName       =  alive\n")
    assert "\nStatusCode =  200\nMode       =  healthiness\nTimestamp  =  2026-11-15T09:00:00Z\n" in text


NODE_ID = "156a61b8-993b-5837-08a7-3aa72ade4f92"


def is_by_name(request: Request) -> bool:
    """Whether nodes of a name are asked for, which no recorded node has."""
    return "Name ==" in request.query.get("filter", "")


def test_drain(yurt: CommandLine) -> None:
    server = yurt.server
    node = {"ID": NODE_ID, "Status": "ready", "DrainStrategy": None}
    server.on("GET", "/v1/nodes", lambda request: Reply([] if is_by_name(request) else [node]))
    server.on("GET", "/v1/nodes?prefix=00000000", [])
    server.on("GET", f"/v1/node/{NODE_ID}", node)
    server.on("PUT", f"/v1/node/{NODE_ID}/drain", {})
    server.on("PUT", f"/v1/node/{NODE_ID}/eligibility", {})
    transcript = read_transcript("node-drain")
    for step in transcript.steps:
        if (
            step.command.startswith(("yurt node drain", "yurt node eligibility"))
            and "-force -m" not in step.command
        ):
            same(yurt, step, {"N": NODE_ID})
    bodies = [request.json() for request in server.requests if request.path.endswith("/drain")]
    assert bodies[0]["DrainSpec"] == {"Deadline": 3600 * 10**9, "IgnoreSystemJobs": False}
    assert (bodies[1]["DrainSpec"], bodies[1]["MarkEligible"]) == (None, False)
    assert bodies[2]["MarkEligible"]


def test_drain_is_followed(yurt: CommandLine) -> None:
    server = yurt.server
    yurt.set_time(at("2026-11-15T09:06:25Z"))
    draining = {"ID": NODE_ID, "Status": "ready", "DrainStrategy": {"Deadline": -1}}
    server.on("GET", "/v1/nodes", [draining])
    server.on("GET", f"/v1/node/{NODE_ID}", draining, draining, {**draining, "DrainStrategy": None})
    server.on("PUT", f"/v1/node/{NODE_ID}/drain", {})
    running = an_alloc_stub("aa", "app")
    told = {**running, "DesiredTransition": {"Migrate": True}, "DesiredStatus": "stop"}
    ended = {**told, "ClientStatus": "complete"}
    replies = [
        Reply([alloc], headers={"X-Nomad-Index": str(n)}) for n, alloc in enumerate((running, told, ended), 5)
    ]
    server.on("GET", f"/v1/node/{NODE_ID}/allocations", *replies)
    result = yurt(f"yurt node drain -enable -force -m maintenance {NODE_ID}")
    time = "2026-11-15T09:06:25Z"
    assert result.stdout.splitlines() == [
        f"{time}: Ctrl-C to stop monitoring: will not cancel the node drain",
        f'{time}: Node "{NODE_ID}" drain strategy set',
        f'{time}: Alloc "aa" marked for migration',
        f'{time}: Alloc "aa" draining',
        f"{time}: Drain complete for node {NODE_ID}",
        f'{time}: Alloc "aa" status running -> complete',
        f'{time}: All allocations on node "{NODE_ID}" have stopped',
    ]
    body = next(request.json() for request in server.requests if request.path.endswith("/drain"))
    assert body["DrainSpec"]["Deadline"] == -1
    assert body["Meta"] == {"message": "maintenance"}


def test_deployments(yurt: CommandLine) -> None:
    server = yurt.server
    deployment_id = "a9d823fb-0000-0000-0000-000000000000"
    state = {
        "AutoRevert": True,
        "Promoted": False,
        "DesiredCanaries": 1,
        "DesiredTotal": 2,
        "PlacedAllocs": 1,
        "HealthyAllocs": 1,
        "RequireProgressBy": "2026-11-15T09:05:04Z",
    }
    new = {
        "ID": deployment_id,
        "JobID": "can",
        "JobVersion": 1,
        "Status": "running",
        "StatusDescription": "Deployment is running but requires manual promotion",
        "TaskGroups": {"app": state},
    }
    old = {
        "ID": "0f82985c",
        "JobID": "can",
        "JobVersion": 0,
        "Status": "successful",
        "StatusDescription": "Deployment completed successfully",
    }
    server.on("GET", "/v1/deployments", [new, old])
    server.on("GET", "/v1/deployments?prefix=a9d823fb", [new])
    server.on("GET", "/v1/deployments?prefix=0000", [])
    server.on("GET", f"/v1/deployment/{deployment_id}", new)
    transcript = read_transcript("deployment-canary")
    for command in (
        "yurt deployment list",
        "yurt deployment status ${D:8}",
        'yurt deployment status -t "{{.Status}}" $D',
        "yurt deployment status 0000",
    ):
        same(yurt, transcript.step(command), {"D": deployment_id})
    for action in ("promote", "fail"):
        refused = Reply(f"can't {action} terminal deployment".encode(), 500)
        server.on("PUT", f"/v1/deployment/{action}/{deployment_id}", refused)
    same(yurt, transcript.step("yurt deployment promote $D", occurrence=1), {"D": deployment_id})
    same(yurt, transcript.step("yurt deployment fail $D"), {"D": deployment_id})
    server.on("PUT", f"/v1/deployment/promote/{deployment_id}", {"EvalID": "e"})
    assert yurt(f"yurt deployment promote -detach -group app {deployment_id}").stdout == "Evaluation ID: e\n"
    assert server.requests[-1].json() == {"DeploymentID": deployment_id, "All": False, "Groups": ["app"]}


def test_restart_goes_batch_by_batch(yurt: CommandLine) -> None:
    server = yurt.server
    yurt.set_time(at("2026-11-15T09:06:25Z"))
    ids = [f"{number}{number}000000-0000-0000-0000-000000000000" for number in range(3)]
    server.on("GET", "/v1/jobs", [a_job_stub("web")])
    server.on("GET", "/v1/job/web", {"ID": "web", "Type": "service"})
    server.on("GET", "/v1/job/web/deployment", None)
    server.on("GET", "/v1/job/web/allocations", [an_alloc_stub(alloc_id, "app") for alloc_id in ids])
    for alloc_id in ids:
        server.on("PUT", f"/v1/client/allocation/{alloc_id}/restart", {"Index": 0})
    result = yurt("yurt job restart -on-error fail -batch-size 50% -batch-wait 3s web")
    assert result.exit_code == 0, result.stderr
    assert "Restarting 1st batch of 2 allocations" in result.stdout
    assert result.stdout.endswith("\nJob restarted successfully!\n")
    assert yurt.slept == [3.0]
    assert sum(request.method == "PUT" for request in server.requests) == 3
    asking = yurt("yurt job restart web")
    assert asking.exit_code == 1
    assert "without a terminal" in asking.stderr
    running = {"ID": "d", "Status": "running"}
    server.on("GET", "/v1/job/web/deployment", running)
    assert "is still running" in yurt("yurt job restart -yes web").stderr


def test_stopped_job_is_started_as_it_was(yurt: CommandLine) -> None:
    server = yurt.server
    server.on("GET", "/v1/jobs", [a_job_stub("web")])
    stored = {"ID": "web", "Version": 3, "Stop": True, "TaskGroups": [{"Name": "g"}]}
    server.on("GET", "/v1/job/web", stored)
    server.on("GET", "/v1/job/web/submission", {"Source": "job {}", "Format": "hcl2", "Variables": ""})
    server.on("PUT", "/v1/jobs", {"EvalID": "e"})
    result = yurt("yurt job start -detach web")
    assert result.stdout == "Job registration successful\nEvaluation ID: e\n"
    sent = next(request.json() for request in server.requests if request.method == "PUT")
    assert sent["Job"]["Stop"] is False
    assert sent["Submission"]["Source"] == "job {}"
    server.on("GET", "/v1/job/web", {**stored, "Stop": False})
    assert "is not stopped" in yurt("yurt job start web").stderr


def test_a_started_job_gets_its_scaling_policies_back_as_they_were(yurt: CommandLine) -> None:
    def groups(*, a: bool, b: bool) -> list[dict[str, Any]]:
        return [{"Name": "a", "Scaling": {"Enabled": a}}, {"Name": "b", "Scaling": {"Enabled": b}}]

    server = yurt.server
    stopped = {"ID": "web", "Version": 3, "Stop": True, "TaskGroups": groups(a=False, b=False)}
    running = {"ID": "web", "Version": 2, "TaskGroups": groups(a=True, b=False)}
    server.on("GET", "/v1/jobs", [a_job_stub("web")])
    server.on("GET", "/v1/job/web", stopped)
    server.on("GET", "/v1/job/web/versions", {"Versions": [stopped, running]})
    server.on("GET", "/v1/job/web/submission", {"Source": "job {}", "Format": "hcl2", "Variables": ""})
    server.on("PUT", "/v1/jobs", {"EvalID": "e"})
    assert yurt("yurt job start -detach web").exit_code == 0
    sent = next(request.json() for request in server.requests if request.method == "PUT")
    assert sent["Job"]["TaskGroups"] == groups(a=True, b=False)


def test_evaluations_are_deleted_only_while_paused(yurt: CommandLine) -> None:
    server = yurt.server
    eval_id = "5ccdf80f-c8e5-17d2-3964-e10ca3d8c031"
    path = "/v1/operator/scheduler/configuration"
    server.on("GET", path, {"SchedulerConfig": {"PauseEvalBroker": False}})
    transcript = read_transcript("eval")
    same(yurt, transcript.step("yurt eval delete $E"), {"E": eval_id})
    same(yurt, transcript.step("yurt eval delete"))
    server.on("GET", path, {"SchedulerConfig": {"PauseEvalBroker": True}})
    server.on("GET", "/v1/evaluations", [an_eval(eval_id)])
    server.on("GET", "/v1/evaluations/count", {"Count": 2})
    server.on("DELETE", "/v1/evaluations", {"Count": 2})
    assert yurt(f"yurt eval delete {eval_id}").stdout == "Successfully deleted 2 evaluations\n"
    refused = yurt("yurt eval delete -filter 'JobID == x'", stdin="n\n")
    assert refused.stdout.endswith("[y/N] Cancelling eval deletion\n")
    assert yurt("yurt eval delete -yes -filter 'JobID == x'").exit_code == 0
    assert server.requests[-1].json() == {"Filter": "JobID == x"}


def test_dispatch_and_scale(yurt: CommandLine) -> None:
    server = yurt.server
    stub = a_job_stub("greet", ParameterizedJob=True)
    server.on("GET", "/v1/jobs", [stub])
    server.on("GET", "/v1/jobs?per_page=20&prefix=nothing", [])
    made = {"DispatchedJobID": "greet/dispatch-1794733487-1d5f94cb", "EvalID": "67778b56-0000"}
    server.on("PUT", "/v1/job/greet/dispatch", made)
    transcript = read_transcript("job-dispatch")
    same(yurt, transcript.step("yurt job dispatch -detach -meta who=bob greet"))
    same(yurt, transcript.step("yurt job dispatch -detach -meta who greet"))
    same(yurt, transcript.step("yurt job dispatch nothing"))
    server.on("GET", "/v1/jobs", [a_job_stub("web")])
    server.on("GET", "/v1/job/web", {"ID": "web", "TaskGroups": [{"Name": "app"}]})
    server.on("PUT", "/v1/job/web/scale", {"EvalID": "fcd89145-b2c1-e2d6-14d2-24fa4edf74c8"})
    server.on("PUT", "/v1/job/web/evaluate", {"EvalID": "aabe8a88-0000"})
    events = [
        {"Time": at("2026-11-15T09:06:04Z"), "Count": 1, "PreviousCount": 3},
        {"Time": at("2026-11-15T09:06:01Z"), "Count": 3, "PreviousCount": 2},
    ]
    server.on("GET", "/v1/job/web/scale", {"TaskGroups": {"app": {"Events": events}}})
    scale = read_transcript("job-scale")
    for command in (
        "yurt job scale -detach web app 1",
        "yurt job scaling-events web",
        "yurt job scale web nogroup 2",
        "yurt job scale web x",
        "yurt job scale web",
        "yurt job eval -detach web",
        "yurt job eval nothing",
    ):
        same(yurt, scale.step(command))
    sent = next(request.json() for request in server.requests if request.path.endswith("/scale"))
    assert (sent["Count"], sent["Target"]["Group"]) == (1, "app")
