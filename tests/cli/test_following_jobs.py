"""Waiting for jobs, reading their merged logs, and asking why: against a real agent."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.real_commands import RealCommands, read_until, shell_job
from tests.support.real_agent import RealAgent, running_agent

FOREVER = "while true; do echo tick; sleep 0.2; done"
HEALTHY_AT_ONCE = 'update {\n min_healthy_time = "0s"\n }'


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealAgent]:
    with running_agent(tmp_path_factory.mktemp("agent")) as agent:
        yield agent


@pytest.fixture
def yurt(agent: RealAgent, tmp_path: Path) -> Iterator[RealCommands]:
    commands = RealCommands(agent, tmp_path)
    yield commands
    commands.clear()


@pytest.mark.parametrize("code", [0, 7])
def test_run_streams_the_output_and_exits_with_the_tasks_code(yurt: RealCommands, code: int) -> None:
    job = yurt.write("once.nomad.hcl", shell_job("once", f"echo to out; echo to err >&2; exit {code}"))

    result = yurt("job", "run", "-wait", "-logs", "-timeout", "50s", job)

    assert result.exit_code == code, result.stderr
    assert "g[0]/t " in result.stdout
    assert "| to out\n" in result.stdout
    assert "| to err\n" in result.stderr
    assert ("Job ended successfully" if code == 0 else f"ended with exit code {code}") in result.stdout


def test_wait_takes_over_the_largest_exit_code(yurt: RealCommands) -> None:
    script = 'case "$NOMAD_ALLOC_INDEX" in 0) exit 4;; 1) exit 9;; esac'
    yurt("job", "run", "-detach", yurt.write("many.nomad.hcl", shell_job("many", script, count=3)))

    result = yurt("job", "wait", "many")

    assert result.exit_code == 9
    assert "ended with exit code 4" in result.stdout


def test_wait_for_a_service_ends_when_it_is_healthy(yurt: RealCommands) -> None:
    job = yurt.write("web.nomad.hcl", shell_job("web", FOREVER, kind="service", more=HEALTHY_AT_ONCE))

    result = yurt("run", "-wait", job)

    assert result.exit_code == 0, result.stdout
    assert "Deployment successful" in result.stdout


def test_timeout_says_what_it_waited_for_and_why_nothing_is_placed(yurt: RealCommands) -> None:
    nowhere = 'constraint {\n attribute = "${attr.kernel.name}"\n value = "plan9"\n }'
    job = yurt.write("nowhere.nomad.hcl", shell_job("nowhere", "true", more=nowhere))
    yurt("run", "-detach", job)

    result = yurt("job", "wait", "-timeout", "1s", "nowhere")

    assert result.exit_code == 124
    assert 'Waiting for the end of "g" (1 queued)' in result.stdout
    assert '* Constraint "${attr.kernel.name} = plan9": 1 nodes excluded by filter' in result.stdout
    assert "Timed out after 1s" in result.stderr


def test_wait_refuses_jobs_that_only_launch_others(yurt: RealCommands) -> None:
    periodic = 'periodic {\n crons = ["0 0 1 1 *"]\n }'
    yurt("run", yurt.write("nightly.nomad.hcl", shell_job("nightly", "true", more=periodic)))

    result = yurt("job", "wait", "nightly")

    assert result.exit_code == 1
    assert "launches others" in result.stderr


def test_detach_excludes_waiting(yurt: RealCommands) -> None:
    result = yurt("run", "-detach", "-wait", yurt.write("j.nomad.hcl", shell_job("j", "true")))
    assert (result.exit_code, result.stderr) == (1, "-detach excludes -wait, -logs and -timeout\n")


def test_merged_logs_take_in_allocations_that_come_later(yurt: RealCommands) -> None:
    script = "while true; do echo I am $NOMAD_ALLOC_INDEX; sleep 0.2; done"
    team = shell_job("team", script, kind="service", more=HEALTHY_AT_ONCE)
    yurt("run", "-wait", yurt.write("team.nomad.hcl", team))
    with yurt.started("logs", "-f", "team") as following:
        read_until(following, "| I am 0")
        yurt("job", "scale", "-detach", "team", "2")
        read_until(following, "| I am 1")
        following.send_signal(signal.SIGINT)
        assert following.wait(30) == 0


def test_merged_logs_end_with_the_job(yurt: RealCommands) -> None:
    yurt("run", "-detach", yurt.write("count.nomad.hcl", shell_job("count", "seq 1 2000", count=2)))

    result = yurt("logs", "-f", "count")

    assert result.exit_code == 0
    lines = [line.rpartition("| ")[::2] for line in result.stdout.splitlines()]
    for prefix in {prefix for prefix, _ in lines}:
        assert [text for name, text in lines if name == prefix] == [str(n) for n in range(1, 2001)]
    assert len(lines) == 4000
    tail = yurt("logs", "-tail", "-n", "2", "-stdout", "count").stdout
    assert [line.rpartition("| ")[2] for line in tail.splitlines()] == ["1999", "2000"] * 2


def test_logs_still_take_an_allocation(yurt: RealCommands) -> None:
    yurt("run", "-wait", yurt.write("single.nomad.hcl", shell_job("single", "echo plain")))
    alloc_id = yurt("job", "allocs", "-t", "{{range .}}{{.ID}}{{end}}", "single").stdout.strip()
    assert yurt("logs", alloc_id).stdout == "plain\n"
    assert yurt("logs", alloc_id[:8], "t").stdout == "plain\n"


def test_why_explains_jobs_allocations_and_evaluations(yurt: RealCommands) -> None:
    big = shell_job("big", "true").replace("memory = 20", "memory = 100000000")
    yurt("run", "-detach", yurt.write("big.nomad.hcl", big))
    yurt("run", "-wait", yurt.write("small.nomad.hcl", shell_job("small", "true")))
    alloc_id = yurt("job", "allocs", "-t", "{{range .}}{{.ID}}{{end}}", "small").stdout.strip()
    eval_id = yurt(
        "eval", "list", "-job", "big", "-status", "blocked", "-t", "{{range .}}{{.ID}}{{end}}"
    ).stdout.strip()

    job, alloc, evaluation = yurt("why", "big"), yurt("why", alloc_id[:8]), yurt("why", eval_id)

    assert "wanted 100000000)" in job.stdout
    assert f'Allocation "{alloc_id[:8]}" (small.g[0]) was placed on node "node1"' in alloc.stdout
    assert 'Task "t" is dead' in alloc.stdout
    assert "suits" in alloc.stdout
    assert 'It found no place for 1 allocation of group "g":' in evaluation.stdout
    assert "wanted 100000000)" in evaluation.stdout
    assert '"Verdict": "exhausted"' in yurt("why", "-json", eval_id).stdout


@pytest.mark.parametrize("flags", [("-short",), ()], ids=["short", "full"])
def test_examples_run_as_they_are(yurt: RealCommands, agent: RealAgent, flags: tuple[str, ...]) -> None:
    assert yurt("job", "init", *flags).exit_code == 0
    assert yurt("fmt", "-check", "example.nomad.hcl").stdout == ""
    assert yurt("job", "validate", "example.nomad.hcl").exit_code == 0

    assert yurt("run", "-detach", "example.nomad.hcl").exit_code == 0

    agent.wait_for(
        "/v1/job/example/allocations", lambda found: [alloc["ClientStatus"] for alloc in found] == ["running"]
    )
    again = yurt("job", "init", *flags)
    assert (again.exit_code, "already exists" in again.stderr) == (1, True)
