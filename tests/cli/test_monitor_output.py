"""Following evaluations and deployments prints what was recorded."""

from typing import Any

from tests.cli.command_line import CommandLine, same
from tests.cli.objects import NODE_ID, a_deployment, a_group_state, a_job_stub, an_alloc_stub, an_eval
from tests.cli.transcripts import at, read_transcript
from tests.sdk.replay_server import Reply

EVAL_ID = "d2647e04-0000-0000-0000-000000000000"
DEPLOYMENT_ID = "5a2fb0a4-0000-0000-0000-000000000000"


def indexed(index: int, body: Any) -> Reply:  # any JSON
    return Reply(body, headers={"X-Nomad-Index": str(index)})


def test_stop_shows_the_old_deployment_once(yurt: CommandLine) -> None:
    server = yurt.server
    yurt.set_time(at("2026-11-15T09:10:35Z"))
    server.on("GET", "/v1/jobs", [a_job_stub("web")])
    server.on("DELETE", "/v1/job/web", {"EvalID": EVAL_ID})
    evaluation = an_eval(EVAL_ID, JobID="web", DeploymentID=DEPLOYMENT_ID)
    server.on("GET", f"/v1/evaluation/{EVAL_ID}", indexed(12, evaluation))
    server.on("GET", f"/v1/evaluation/{EVAL_ID}/allocations", [])
    state = a_group_state(desired=2, placed=2, healthy=2, deadline="2026-11-15T09:11:31Z")
    deployment = a_deployment(
        DEPLOYMENT_ID,
        "web",
        {"app": state},
        Status="successful",
        StatusDescription="Deployment completed successfully",
    )
    server.on("GET", f"/v1/deployment/{DEPLOYMENT_ID}", indexed(9, deployment))
    same(yurt, read_transcript("job-run-service").step("yurt job stop web"))


def test_allocations_and_status_changes_are_shown(yurt: CommandLine) -> None:
    server = yurt.server
    yurt.set_time(at("2026-11-15T09:10:35Z"))
    pending = an_eval(EVAL_ID, JobID="web", Status="pending")
    server.on("GET", "/v1/evaluations", [pending])
    server.on(
        "GET",
        f"/v1/evaluation/{EVAL_ID}",
        indexed(10, pending),
        indexed(11, an_eval(EVAL_ID, JobID="web")),
    )
    first = an_alloc_stub("aa000000", "app", ClientStatus="pending", CreateIndex=11)
    running = {**first, "ClientStatus": "running", "ClientDescription": "Tasks are running"}
    older = an_alloc_stub("bb000000", "app", CreateIndex=3)
    server.on("GET", f"/v1/evaluation/{EVAL_ID}/allocations", [first], [running, older])
    result = yurt(f"yurt eval status -monitor {EVAL_ID}")
    time = "2026-11-15T09:10:35Z"
    assert result.stdout.splitlines() == [
        f'==> {time}: Monitoring evaluation "d2647e04"',
        f'    {time}: Evaluation triggered by job "web"',
        f'    {time}: Allocation "aa000000" created: node "{NODE_ID[:8]}", group "app"',
        f'    {time}: Allocation "aa000000" status changed: "pending" -> "running" (Tasks are running)',
        f'    {time}: Allocation "bb000000" modified: node "{NODE_ID[:8]}", group "app"',
        f'    {time}: Evaluation status changed: "pending" -> "complete"',
        f'==> {time}: Evaluation "d2647e04" finished with status "complete"',
    ]
    assert result.exit_code == 0


def test_what_cannot_be_placed_exits_with_two(yurt: CommandLine) -> None:
    server = yurt.server
    yurt.set_time(at("2026-11-15T09:05:30Z"))
    metric = {
        "NodesEvaluated": 1,
        "NodesExhausted": 1,
        "DimensionExhausted": {"memory": 1},
        "CoalescedFailures": 1,
    }
    eval_id = "3420f142-0000-0000-0000-000000000000"
    evaluation = an_eval(eval_id, JobID="big", FailedTGAllocs={"huge": metric}, BlockedEval="10b86cee-0000")
    server.on("GET", "/v1/evaluations", [evaluation])
    server.on("GET", f"/v1/evaluation/{eval_id}", indexed(10, evaluation))
    server.on("GET", f"/v1/evaluation/{eval_id}/allocations", [])
    result = yurt(f"yurt eval status -monitor {eval_id}")
    recorded = read_transcript("job-placement-failure").step("yurt job run big.nomad.hcl")
    assert result.stdout == recorded.stdout
    assert result.exit_code == recorded.exit_code == 2


def test_rollback_is_followed_and_fails(yurt: CommandLine) -> None:
    server = yurt.server
    yurt.set_time(at("2026-11-15T09:04:24Z"))
    first, second = "464272f7-0000", "7babadd8-0000"
    evaluation = an_eval(EVAL_ID, JobID="can", DeploymentID=first)
    server.on("GET", "/v1/evaluations", [evaluation])
    server.on("GET", f"/v1/evaluation/{EVAL_ID}", indexed(10, evaluation))
    server.on("GET", f"/v1/evaluation/{EVAL_ID}/allocations", [])
    canary = {"AutoRevert": True, "DesiredCanaries": 1}
    waiting = a_group_state(desired=2, placed=1, healthy=0, deadline="2026-11-15T09:04:54Z", **canary)
    failed = a_deployment(
        first,
        "can",
        {"app": {**waiting, "UnhealthyAllocs": 1}},
        Status="failed",
        JobVersion=1,
        StatusDescription="Failed due to unhealthy allocations - rolling back to job version 0",
    )
    server.on(
        "GET",
        f"/v1/deployment/{first}",
        indexed(11, a_deployment(first, "can", {"app": waiting}, JobVersion=1)),
        indexed(11, a_deployment(first, "can", {"app": waiting}, JobVersion=1)),
        indexed(14, failed),
    )
    done = a_group_state(desired=2, placed=2, healthy=2, deadline="2026-11-15T09:04:55Z", AutoRevert=True)
    reverted = a_deployment(second, "can", {"app": done}, Status="successful", JobVersion=2)
    server.on("GET", "/v1/job/can/deployment", reverted)
    server.on("GET", f"/v1/deployment/{second}", indexed(20, reverted))
    result = yurt(f"yurt eval status -monitor {EVAL_ID}")
    blocks = result.stdout.split("\n    \n2026")
    assert len(blocks) == 4
    assert "Auto Revert  Promoted  Desired  Canaries  Placed" in blocks[1]
    assert blocks[2].endswith("2026-11-15T09:04:54Z\n")
    assert "ID          = 7babadd8\n" in blocks[3]
    assert "Task Group  Auto Revert  Desired  Placed  Healthy  Unhealthy  Progress Deadline" in blocks[3]
    assert result.exit_code == 1
    assert yurt.slept == [1.0]


def test_detached_stop_prints_the_evaluation(yurt: CommandLine) -> None:
    server = yurt.server
    server.on("GET", "/v1/jobs", [a_job_stub("web")])
    server.on("DELETE", "/v1/job/web", {"EvalID": "aa0c6476-af79-0587-df8e-8c5f8a7b4b51"})
    same(yurt, read_transcript("job-run-service").step("yurt job stop -purge -detach web"))
    assert server.requests[-1].query["purge"] == "true"


def test_confirmation(yurt: CommandLine) -> None:
    server = yurt.server
    server.on("GET", "/v1/jobs", [a_job_stub("web")])
    server.on("DELETE", "/v1/job/web", {"EvalID": "c2c80237-b2d2-5087-81e2-6505f6a3d541"})
    transcript = read_transcript("terminal")
    same(yurt, transcript.step("yurt job stop -detach we"))
    for answer, text, code in (
        ("n\n", "Cancelling job stop\n", 0),
        ("\n", "Cancelling job stop\n", 0),
        ("yes\n", "For confirmation, an exact ‘y’ is required.\n", 0),
        ("Y\n", "No confirmation detected. For confirmation, an exact 'y' is required.\n", 1),
        ("maybe\n", "No confirmation detected. For confirmation, an exact 'y' is required.\n", 1),
    ):
        result = yurt("yurt job stop we", stdin=answer)
        assert result.stdout == f'Are you sure you want to stop job "web"? [y/N] {text}'
        assert result.exit_code == code
    end_of_input = yurt("yurt job stop we")
    assert end_of_input.exit_code == 1
    assert "end of input" in end_of_input.stderr
    assert sum(request.method == "DELETE" for request in server.requests) == 1
