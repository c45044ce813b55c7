"""`job status` prints what was recorded."""

from tests.cli.command_line import CommandLine, same
from tests.cli.objects import (
    a_deployment,
    a_group_state,
    a_job,
    a_job_stub,
    a_summary,
    an_alloc_stub,
    an_eval,
    seconds_before,
)
from tests.cli.transcripts import at, read_transcript

SUBMITTED = "2026-11-15T09:10:30Z"


def web_is_running(yurt: CommandLine) -> None:
    server = yurt.server
    now = at("2026-11-15T09:10:33Z")
    yurt.set_time(now)
    server.on("GET", "/v1/jobs", [a_job_stub("web", SubmitTime=at(SUBMITTED))])
    server.on("GET", "/v1/job/web", a_job("web", SubmitTime=at(SUBMITTED)))
    server.on("GET", "/v1/job/web/summary", a_summary("web", {"app": {"Running": 2}}))
    allocs = [
        an_alloc_stub(
            alloc_id,
            "app",
            CreateTime=seconds_before("2026-11-15T09:10:33Z", 3),
            ModifyTime=seconds_before("2026-11-15T09:10:33Z", 1),
        )
        for alloc_id in ("6f53eb21-0000-0000-0000-000000000000", "ce06f68a-0000-0000-0000-000000000000")
    ]
    server.on("GET", "/v1/job/web/allocations", allocs)
    server.on("GET", "/v1/job/web/evaluations", [])
    state = a_group_state(desired=2, placed=2, healthy=2, deadline="2026-11-15T09:11:31Z")
    deployment = a_deployment(
        "5a2fb0a4-0000-0000-0000-000000000000",
        "web",
        {"app": state},
        Status="successful",
        StatusDescription="Deployment completed successfully",
    )
    server.on("GET", "/v1/job/web/deployment", deployment)
    server.on("GET", "/v1/job/web/actions", [])


def test_list_and_detail(yurt: CommandLine) -> None:
    web_is_running(yurt)
    transcript = read_transcript("job-run-service")
    same(yurt, transcript.step("yurt job status"))
    same(yurt, transcript.step("yurt job status web"))
    same(yurt, transcript.step("yurt job status -short web"))


def test_template_runs_over_all_jobs(yurt: CommandLine) -> None:
    web_is_running(yurt)
    step = read_transcript("job-run-service").step(
        'yurt job status -t "{{range .}}{{.Summary.JobID}} {{len .Allocations}}{{end}}"'
    )
    same(yurt, step)


def test_empty_list(yurt: CommandLine) -> None:
    yurt.server.on("GET", "/v1/jobs", [])
    transcript = read_transcript("job-prefix")
    same(yurt, transcript.step("yurt job status"))
    assert yurt("yurt job status -json").stdout == "[]\n"


def test_prefixes(yurt: CommandLine) -> None:
    submitted = at("2026-11-15T09:05:42Z")
    stubs = [
        a_job_stub(name, Type="batch", Status="dead", SubmitTime=submitted)
        for name in ("many-one", "many-two")
    ]
    yurt.server.on("GET", "/v1/jobs?per_page=20&prefix=many", stubs)
    yurt.server.on("GET", "/v1/jobs?per_page=20&prefix=many-o", stubs[:1])
    yurt.server.on("GET", "/v1/jobs?per_page=20&prefix=nothing", [])
    job = a_job("many-one", Type="batch", Status="dead", SubmitTime=submitted)
    yurt.server.on("GET", "/v1/job/many-one", job)
    yurt.server.on("PUT", "/v1/search", {"Matches": {"jobs": ["many-one", "many-two"], "evals": None}})
    transcript = read_transcript("job-prefix")
    for command in (
        "yurt job status -short many-o",
        "yurt job status many",
        "yurt job inspect many",
        "yurt job stop many",
        "yurt status many",
        "yurt job status nothing",
        "yurt job stop nothing",
        "yurt job inspect nothing",
        "yurt job status a b",
        "yurt job stop",
    ):
        same(yurt, transcript.step(command))


def test_placement_failure(yurt: CommandLine) -> None:
    server = yurt.server
    metric = {
        "NodesEvaluated": 1,
        "NodesExhausted": 1,
        "NodesAvailable": {"dc1": 1},
        "DimensionExhausted": {"memory": 1},
        "CoalescedFailures": 1,
    }
    server.on("GET", "/v1/jobs", [a_job_stub("big")])
    job = a_job("big", Type="batch", Status="pending", SubmitTime=at("2026-11-15T09:05:30Z"))
    server.on("GET", "/v1/job/big", job)
    server.on("GET", "/v1/job/big/summary", a_summary("big", {"huge": {"Queued": 2}}))
    server.on("GET", "/v1/job/big/allocations", [])
    blocked = an_eval("10b86cee-0000-0000-0000-000000000000", Status="blocked", TriggeredBy="queued-allocs")
    failed = an_eval("3420f142-0000-0000-0000-000000000000", FailedTGAllocs={"huge": metric}, JobID="big")
    server.on("GET", "/v1/job/big/evaluations", [failed, {**blocked, "CreateIndex": 11, "JobID": "big"}])
    server.on("GET", "/v1/job/big/deployment", None)
    server.on("GET", "/v1/job/big/actions", [])
    transcript = read_transcript("job-placement-failure")
    same(yurt, transcript.step("yurt job status big"))
    same(yurt, transcript.step("yurt job status -evals big"))


def test_periodic_job(yurt: CommandLine) -> None:
    server = yurt.server
    yurt.set_time(at("2026-11-15T09:05:24Z"))
    server.on("GET", "/v1/jobs?per_page=20&prefix=cron", [a_job_stub("cron")])
    job = a_job(
        "cron",
        Type="batch",
        SubmitTime=at("2026-11-15T09:05:24Z"),
        Periodic={"Enabled": True, "Spec": "", "Specs": ["0 0 1 1 *"], "TimeZone": "UTC"},
    )
    server.on("GET", "/v1/job/cron", job)
    counts = {"Pending": 0, "Running": 0, "Dead": 1}
    server.on("GET", "/v1/job/cron/summary", a_summary("cron", {}), a_summary("cron", {}, counts))
    child = a_job_stub("cron/periodic-1794733524", ParentID="cron", Status="dead")
    server.on("GET", "/v1/jobs?namespace=default&prefix=cron%2Fperiodic-", [], [child])
    transcript = read_transcript("job-periodic")
    same(yurt, transcript.step("yurt job status cron"))
    yurt.set_time(at("2026-11-15T09:05:25Z"))
    same(yurt, transcript.step("yurt job status cron", occurrence=1))


def test_parameterized_job(yurt: CommandLine) -> None:
    server = yurt.server
    server.on("GET", "/v1/jobs?per_page=20&prefix=greet", [a_job_stub("greet")])
    takes = {"Payload": "optional", "MetaRequired": ["who"], "MetaOptional": ["how"]}
    job = a_job("greet", Type="batch", SubmitTime=at("2026-11-15T09:04:45Z"), ParameterizedJob=takes)
    server.on("GET", "/v1/job/greet", job)
    counts = {"Pending": 0, "Running": 0, "Dead": 3}
    server.on("GET", "/v1/job/greet/summary", a_summary("greet", {}), a_summary("greet", {}, counts))
    suffixes = ("1794733486-4d0bd3a9", "1794733487-1d5f94cb", "1794733488-2f91c7bd")
    children = [
        a_job_stub(f"greet/dispatch-{suffix}", ParentID="greet", Status="dead") for suffix in suffixes
    ]
    server.on("GET", "/v1/jobs?namespace=default&prefix=greet%2Fdispatch-", [], children)
    transcript = read_transcript("job-dispatch")
    same(yurt, transcript.step("yurt job status greet"))
    same(yurt, transcript.step("yurt job status greet", occurrence=1))


def test_terminal_colours(yurt: CommandLine) -> None:
    web_is_running(yurt)
    submitted = at("2026-11-15T09:10:39Z")
    yurt.set_time(at("2026-11-15T09:10:43Z"))
    server = yurt.server
    server.on("GET", "/v1/jobs", [a_job_stub("web", SubmitTime=submitted)])
    transcript = read_transcript("terminal")
    listing = transcript.step("yurt job status")
    result = yurt("yurt job status", is_terminal=True)
    shown = (result.stdout + result.stderr).replace(server.address, "http://127.0.0.1:4646")
    assert shown == listing.stdout
