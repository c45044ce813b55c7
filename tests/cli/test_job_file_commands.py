"""Commands that read job files print what was recorded."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command_line import CommandLine, Result, same
from tests.cli.diff_text import job_diff
from tests.cli.objects import a_job_stub, an_alloc_stub, an_eval
from tests.cli.transcripts import Step, at, read_transcript
from tests.sdk.replay_server import Reply, Request

INVALID = (
    "1 error occurred:\n\t* Task group g validation failed: 2 errors occurred:\n"
    "\t* Task group count can't be negative\n\t* Missing tasks for task group\n\n\n\n"
)


@pytest.fixture(autouse=True)
def working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_files(scenario: str, directory: Path) -> None:
    for name, text in read_transcript(scenario).files.items():
        (directory / name).write_text(text)


def register(request: Request) -> Reply:
    job = request.json()["Job"]
    if request.query.get("namespace") == "nowhere":
        text = '1 error occurred:\n\t* job "hello" is in nonexistent namespace "nowhere"\n\n'
        return Reply(text.encode(), 500)
    if request.query.get("region") == "mars":
        return Reply(b"No path to region", 500)
    if job["ID"] == "bad":
        return Reply(INVALID.encode(), 500)
    if not job["TaskGroups"]:
        return Reply(b"1 error occurred:\n\t* Missing job task groups\n\n", 500)
    return Reply({"EvalID": "b2fe578c-7d2d-c323-6009-65a0f5179d2f", "JobModifyIndex": 5, "Warnings": ""})


def expect(result: Result, step: Step, directory: Path) -> None:
    recorded = step.stderr.replace("/home/me/jobs", str(directory))
    if "omit stdout" in step.options:
        assert result.stdout.startswith("Usage: yurt")
    else:
        assert result.stdout == step.stdout
    assert result.stderr.startswith(recorded) if "127.0.0.1:1" in step.command else result.stderr == recorded
    assert result.exit_code == step.exit_code


def test_bad_files_and_bad_usage(yurt: CommandLine, working_directory: Path) -> None:
    write_files("job-errors", working_directory)
    yurt.server.on("PUT", "/v1/jobs", register)
    yurt.server.on("PUT", "/v1/job/bad/plan", Reply(INVALID.encode(), 500))

    def validate(request: Request) -> Reply:
        is_bad = request.json()["Job"]["ID"] == "bad"
        return Reply({"DriverConfigValidated": True, "Error": INVALID if is_bad else "", "Warnings": ""})

    yurt.server.on("PUT", "/v1/validate/job", validate)
    for step in read_transcript("job-errors").steps:
        expect(yurt(step.command), step, working_directory)


def test_json_files(yurt: CommandLine, working_directory: Path) -> None:
    write_files("job-json", working_directory)
    yurt.server.on("PUT", "/v1/jobs", register)
    transcript = read_transcript("job-json")
    same(yurt, transcript.step("yurt job run -output hello.nomad.hcl"))
    for command in (
        "yurt job run -json hello.nomad.hcl",
        "yurt job run -json -var a=b bare.json",
        "yurt job run -detach -json -",
    ):
        same(yurt, transcript.step(command))
    for name in ("bare", "wrapped"):
        assert yurt(f"yurt job run -detach -json {name}.json").exit_code == 0
        sent = yurt.server.requests[-2].json()
        assert sent["Job"]["ID"] == name
        assert sent["Submission"]["Format"] == "json"


def test_index_conflicts(yurt: CommandLine, working_directory: Path) -> None:
    write_files("job-run-check-index", working_directory)
    conflict = b"Enforcing job modify index 5: job does not exist"
    yurt.server.on("PUT", "/v1/jobs", Reply(conflict, 500))
    transcript = read_transcript("job-run-check-index")
    same(yurt, transcript.step("yurt job run -detach -check-index 5 web.nomad.hcl"))
    sent = yurt.server.requests[-1].json()
    assert (sent["EnforceIndex"], sent["JobModifyIndex"]) == (True, 5)


def test_detached_run(yurt: CommandLine, working_directory: Path) -> None:
    write_files("job-run-batch", working_directory)
    yurt.server.on("PUT", "/v1/jobs", register)
    same(yurt, read_transcript("job-run-batch").step("yurt run -detach hello.nomad.hcl"))


def test_run_follows_the_evaluation(yurt: CommandLine, working_directory: Path) -> None:
    write_files("job-run-batch", working_directory)
    eval_id = "365558da-0000-0000-0000-000000000000"
    yurt.set_time(at("2026-11-15T09:05:46Z"))
    yurt.server.on("PUT", "/v1/jobs", {"EvalID": eval_id})
    evaluation = an_eval(eval_id, JobID="hello")
    yurt.server.on("GET", f"/v1/evaluation/{eval_id}", evaluation)
    yurt.server.on("GET", f"/v1/evaluation/{eval_id}/allocations", [an_alloc_stub("a534a7b5", "one")])
    same(yurt, read_transcript("job-run-batch").step("yurt job run hello.nomad.hcl"))


def test_periodic_run_names_the_next_launch(yurt: CommandLine, working_directory: Path) -> None:
    write_files("job-periodic", working_directory)
    yurt.set_time(at("2026-11-15T09:05:24Z"))
    yurt.server.on("PUT", "/v1/jobs", {"EvalID": "", "Warnings": ""})
    same(yurt, read_transcript("job-periodic").step("yurt job run cron.nomad.hcl"))


def test_warnings_come_first(yurt: CommandLine, working_directory: Path) -> None:
    write_files("job-run-batch", working_directory)
    yurt.server.on("PUT", "/v1/jobs", {"EvalID": "e", "Warnings": "1 warning:\n\n* careful"})
    result = yurt("yurt job run -detach hello.nomad.hcl")
    assert result.stdout == (
        "Job Warnings:\n1 warning:\n\n* careful\n\nJob registration successful\nEvaluation ID: e\n"
    )


def test_variables_reach_the_file_and_the_server(yurt: CommandLine, working_directory: Path) -> None:
    write_files("deployment-canary", working_directory)
    (working_directory / "values.hcl").write_text('msg = "from file"\n')
    yurt.server.on("PUT", "/v1/jobs", register)
    yurt("NOMAD_VAR_fail=a YURT_VAR_fail=b yurt run -detach -var-file values.hcl can.nomad.hcl")
    sent = yurt.server.requests[0].json()
    arguments = sent["Job"]["TaskGroups"][0]["Tasks"][0]["Config"]["args"]
    assert arguments[1] == "echo from file; b exec sleep 600"
    assert sent["Submission"]["VariableFlags"] == {"fail": "b"}
    assert "from file" in sent["Submission"]["Variables"]


def test_namespace_of_the_file_wins(yurt: CommandLine, working_directory: Path) -> None:
    (working_directory / "j.hcl").write_text('job "j" {\n  namespace = "file"\n  group "g" {}\n}\n')
    yurt.server.on("PUT", "/v1/jobs", register)
    yurt("yurt job run -detach -namespace flag j.hcl")
    assert yurt.server.requests[0].query["namespace"] == "file"


def plan_answer(step: Step) -> dict[str, Any]:
    """The answer that leads to a recorded plan."""
    text = step.stdout
    diff_text, _, _ = text.partition("Scheduler dry-run:")
    index = re.search(r"Job Modify Index: (\d+)", text)
    assert index is not None
    return {
        "JobModifyIndex": int(index[1]),
        "Diff": job_diff(diff_text) if diff_text else None,
        "Annotations": {"DesiredTGUpdates": {"g": {"Place": step.exit_code}}},
        "FailedTGAllocs": None,
        "Warnings": "",
    }


@pytest.mark.parametrize(
    ("scenario", "job"),
    [("job-plan", "web"), ("job-plan-diff", "mix"), ("deployment-canary", "can"), ("job-json", "wrapped")],
)
def test_plans(yurt: CommandLine, working_directory: Path, scenario: str, job: str) -> None:
    write_files(scenario, working_directory)
    transcript = read_transcript(scenario)
    for step in transcript.steps:
        if not step.command.startswith("yurt job plan"):
            continue
        if "Job Modify Index" in step.stdout:
            yurt.server.on("PUT", f"/v1/job/{job}/plan", plan_answer(step))
        expect(yurt(step.command), step, working_directory)


def test_failed_placements_are_explained_in_a_plan(yurt: CommandLine, working_directory: Path) -> None:
    write_files("job-placement-failure", working_directory)
    transcript = read_transcript("job-placement-failure")
    step = transcript.step("yurt job plan picky.nomad.hcl")
    metric = {"NodesEvaluated": 1, "ConstraintFiltered": {"${attr.kernel.name} = plan9": 1}}
    answer = {**plan_answer(step), "FailedTGAllocs": {"g": metric}}
    yurt.server.on("PUT", "/v1/job/picky/plan", answer)
    same(yurt, step)


def test_plan_on_a_terminal(yurt: CommandLine, working_directory: Path) -> None:
    write_files("terminal", working_directory)
    step = read_transcript("terminal").step("yurt job plan web-three.nomad.hcl")
    plain = read_transcript("job-plan").step("yurt job plan web-three.nomad.hcl")
    answer = {**plan_answer(plain), "JobModifyIndex": 1354}
    yurt.server.on("PUT", "/v1/job/web/plan", answer)
    assert yurt(step.command, is_terminal=True).stdout == step.stdout


def test_preemptions_are_counted_when_many(yurt: CommandLine, working_directory: Path) -> None:
    write_files("job-plan", working_directory)
    answer = plan_answer(read_transcript("job-plan").step("yurt job plan web.nomad.hcl"))
    stubs = [
        an_alloc_stub(f"alloc-{n}", "g", JobID=f"job-{n % 2}", Namespace="default", JobType="batch")
        for n in range(12)
    ]
    for count, header in (
        (3, "Alloc ID  Job ID  Task Group"),
        (12, "Job ID  Namespace  Job Type  Preemptions"),
    ):
        updates = {"g": {"Place": 1}}
        annotations = {"DesiredTGUpdates": updates, "PreemptedAllocs": stubs[:count]}
        yurt.server.on("PUT", "/v1/job/web/plan", {**answer, "Annotations": annotations})
        text = yurt("yurt job plan web.nomad.hcl").stdout
        assert re.sub(" +", " ", header) in re.sub(" +", " ", text)


def test_history(yurt: CommandLine) -> None:
    transcript = read_transcript("job-plan-diff")
    step = transcript.step("yurt job history -p -version 1 mix")
    diff = job_diff(step.stdout.partition("Diff        = \n")[2])
    submitted = at("2026-11-15T09:22:46Z")
    versions = [
        {"ID": "mix", "Version": number, "Stable": False, "SubmitTime": submitted} for number in (1, 0)
    ]
    yurt.server.on("GET", "/v1/jobs", [a_job_stub("mix")])
    yurt.server.on("GET", "/v1/job/mix/versions", {"Versions": versions, "Diffs": [diff]})
    same(yurt, step)
    history = read_transcript("job-history")
    yurt.server.on("GET", "/v1/jobs", [a_job_stub("web")])
    tagged = [
        {
            "ID": "web",
            "Version": 1,
            "Stable": True,
            "SubmitTime": at("2026-11-15T09:05:00Z"),
            "VersionTag": {"Name": "second", "Description": ""},
        },
        {
            "ID": "web",
            "Version": 0,
            "Stable": True,
            "SubmitTime": at("2026-11-15T09:04:56Z"),
            "VersionTag": {"Name": "first", "Description": "the first one"},
        },
    ]
    yurt.server.on("GET", "/v1/job/web/versions", {"Versions": tagged, "Diffs": None})
    same(yurt, history.step("yurt job history web", occurrence=1))
    same(yurt, history.step("yurt job history -version 7 web"))
    same(yurt, history.step("yurt job history -json -p web"))
    same(yurt, history.step("yurt job revert web nosuchtag"))
    same(yurt, history.step("yurt job revert web"))
    same(yurt, history.step("yurt job tag apply web"))


def test_inspect(yurt: CommandLine) -> None:
    transcript = read_transcript("job-inspect")
    step = transcript.step("yurt job inspect can")
    job = json.loads(step.stdout)["Job"]
    yurt.server.on("GET", "/v1/jobs", [a_job_stub("can")])
    yurt.server.on("GET", "/v1/job/can", job)
    yurt.server.on("GET", "/v1/job/can/versions", {"Versions": [job]})
    source = transcript.files["can.nomad.hcl"]
    submission = {"Source": source, "Format": "hcl2", "VariableFlags": {"msg": "two"}, "Variables": ""}
    yurt.server.on("GET", "/v1/job/can/submission", submission)
    for inspection in transcript.steps:
        if inspection.command.startswith("yurt job inspect"):
            same(yurt, inspection)


SMALL = 'job "small" {\n group "g" {\n  task "t" {\n   driver = "raw_exec"\n  }\n }\n}\n'


@pytest.mark.parametrize("address", ["http://127.0.0.1:1", "::nonsense"])
def test_without_a_usable_server_a_job_is_validated_here(
    yurt: CommandLine, working_directory: Path, address: str
) -> None:
    (working_directory / "small.nomad.hcl").write_text(SMALL)
    result = yurt(f"yurt job validate -address {address} small.nomad.hcl")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("Driver configuration not validated")
    assert result.stdout.endswith("Job validation successful\n")


def test_a_job_file_is_fetched_from_an_address(yurt: CommandLine) -> None:
    yurt.server.on("GET", "/small.nomad.hcl", Reply(SMALL.encode()))
    result = yurt(f"yurt job run -output {yurt.server.address}/small.nomad.hcl")
    assert json.loads(result.stdout)["Job"]["ID"] == "small"


@pytest.mark.parametrize(
    ("url", "cause"),
    [
        ("http://127.0.0.1:1/x.nomad.hcl", "connection refused"),
        ("ADDRESS/missing.nomad.hcl", "bad response code: 404"),
    ],
)
def test_a_job_file_that_cannot_be_fetched_names_the_cause(yurt: CommandLine, url: str, cause: str) -> None:
    yurt.server.on("GET", "/missing.nomad.hcl", Reply(b"no", 404))
    url = url.replace("ADDRESS", yurt.server.address)
    result = yurt(f"yurt job validate {url}")
    assert result.exit_code == 1
    assert result.stderr == f'Error getting job struct: Error getting jobfile from "{url}": {cause}\n'
