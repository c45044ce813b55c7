"""Calling it wrongly, asking for help, and failing in general."""

import subprocess
import sys
from importlib import import_module

import pytest

from tests.cli.command_line import CommandLine, same
from tests.cli.transcripts import read_transcript
from tests.sdk.replay_server import Reply
from yurt.cli.agent_flags import AgentFlags
from yurt.cli.errors import FlagError
from yurt.cli.main import main
from yurt.cli.options import parse_flags
from yurt.cli.registry import COMMANDS, GROUPS, Entry
from yurt.version import VERSION

UNREACHABLE = "No server is reachable at http://127.0.0.1:1: is the agent running?"


def test_recorded_usage_errors(yurt: CommandLine) -> None:
    yurt.server.on("GET", "/v1/jobs", Reply([]))
    yurt.server.on("GET", "/v1/jobs?region=mars", Reply(b"No path to region", 500))
    known = {entry.path for entry in COMMANDS}
    for step in read_transcript("usage").steps:
        words = step.command.split()
        if not any(path in step.command for path in known) and words[1] in GROUPS and len(words) > 2:
            continue
        result = yurt(step.command)
        assert result.exit_code == step.exit_code, step.command
        if "omit stdout" in step.options:
            assert result.stdout.startswith("Usage: yurt")
        else:
            assert result.stdout == step.stdout
        assert result.stderr.startswith(step.stderr), step.command


def test_unreachable_server_says_what_to_do(yurt: CommandLine) -> None:
    result = yurt("yurt job status -address http://127.0.0.1:1")
    assert result.exit_code == 1
    assert result.stderr.splitlines()[1].startswith(UNREACHABLE)


@pytest.mark.parametrize("flag", ["version", "-version", "--version", "-v"])
def test_version(flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([flag]) == 0
    assert capsys.readouterr().out.startswith(f"Yurt v{VERSION}\n")


def test_no_command_prints_the_overall_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 127
    out = capsys.readouterr().out
    assert "Common commands:\n    run " in out
    top_level = {entry.path.split()[0] for entry in COMMANDS if not entry.is_hidden}
    assert {line.split()[0] for line in out.splitlines() if line.startswith("    ")} == top_level
    assert main(["-help"]) == 0


@pytest.mark.parametrize(
    ("words", "code", "last_line"),
    [
        (["jbo"], 127, "There is no command 'yurt jbo'; did you mean 'job'?"),
        (["qqqq", "x"], 127, "There is no command 'yurt qqqq'."),
        (["job", "statsu", "web"], 1, "There is no command 'yurt job statsu'; did you mean 'status'?"),
    ],
)
def test_a_misspelt_command_gets_the_nearest_name_below_the_help(
    capsys: pytest.CaptureFixture[str], words: list[str], code: int, last_line: str
) -> None:
    assert main(words) == code
    shown = capsys.readouterr()
    assert shown.out.startswith("Usage: yurt")
    assert shown.out.splitlines()[-1] == last_line
    assert shown.err == ""


@pytest.mark.parametrize(
    "entry", [entry for entry in COMMANDS if entry.instead], ids=lambda entry: entry.path
)
def test_an_old_name_names_the_new_one_first(entry: Entry, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([entry.path, "-help"]) == 0
    assert capsys.readouterr().err.startswith(f'WARNING! The "yurt {entry.path}" command is deprecated.')
    assert entry.instead in {other.path for other in COMMANDS}


@pytest.mark.parametrize("entry", COMMANDS, ids=lambda entry: entry.path)
def test_every_command_has_help(entry: Entry, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*entry.path.split(), "-help"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("Usage: yurt ")
    assert all(len(line) <= 100 for line in text.splitlines())


def test_every_group_of_a_command_is_known() -> None:
    known = {*GROUPS, *(entry.path for entry in COMMANDS)}
    for entry in COMMANDS:
        *group, _ = entry.path.split()
        if group and not entry.is_hidden:
            assert " ".join(group) in known, entry.path


def test_commands_know_their_own_name() -> None:
    for entry in COMMANDS:
        if not entry.is_plain:
            command = import_module(f"yurt.cli.commands.{entry.module}").COMMAND
            names = {command.path, *command.aliases}
            assert entry.path in names or entry.is_hidden, entry.path


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["-bogus"], "flag provided but not defined: -bogus"),
        (["-dev=maybe"], 'invalid boolean value "maybe" for -dev: parse error'),
        (["-bind"], "flag needs an argument: -bind"),
        (["-bootstrap-expect", "x"], 'invalid value "x" for flag -bootstrap-expect: parse error'),
        (["-=x"], "bad flag syntax: -=x"),
        (["---x"], "bad flag syntax: ---x"),
    ],
)
def test_bad_flags(arguments: list[str], problem: str) -> None:
    with pytest.raises(FlagError) as failure:
        parse_flags(AgentFlags, arguments)
    assert str(failure.value) == problem


def test_flags_are_read_as_go_reads_them() -> None:
    arguments = ["-dev", "--bind=1.2.3.4", "-config", "a", "-config=b", "-log-json=false", "rest", "-server"]
    flags, rest = parse_flags(AgentFlags, arguments)
    assert flags == AgentFlags(dev=True, bind="1.2.3.4", config=("a", "b"), log_json=False)
    assert rest == ["rest", "-server"]


def test_double_dash_ends_the_flags() -> None:
    flags, rest = parse_flags(AgentFlags, ["-dev", "--", "-server"])
    assert flags == AgentFlags(dev=True)
    assert rest == ["-server"]


def test_bugs_are_reported_without_traceback(yurt: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr("yurt.cli.main.find", broken)
    result = yurt("yurt job status")
    assert result.exit_code == 70
    assert "internal error: ZeroDivisionError: oops" in result.stderr
    assert "YURT_DEBUG=1" in result.stderr


def test_an_error_that_comes_of_an_interrupt_is_one(
    yurt: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise RuntimeError("made of it by a library") from KeyboardInterrupt()

    monkeypatch.setattr("yurt.cli.main.find", interrupted)
    assert yurt("yurt job status") == (130, "", "")


def test_interrupt_exits_with_130(yurt: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("yurt.cli.main.find", interrupted)
    assert yurt("yurt job status") == (130, "", "")


def test_closed_pipe_ends_quietly() -> None:
    script = "import sys; from yurt.cli.main import main; sys.exit(main(['-help']))"
    command = f'{sys.executable} -c "{script}" | true; exit ${{PIPESTATUS[0]}}'
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.stderr == ""


def test_simple_commands_import_little() -> None:
    script = (
        "import sys; from yurt.cli.main import main; main(['version']); main(['job', 'status', '-help']);"
        "heavy = {'numpy', 'starlette', 'aiohttp', 'uvicorn', 'asyncio', 'structlog', 'cryptography'};"
        "sys.exit(','.join(sorted(heavy & set(sys.modules))) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_namespace_flag_wins_over_the_environment(yurt: CommandLine) -> None:
    yurt.server.on("GET", "/v1/jobs", [])
    yurt("NOMAD_NAMESPACE=env YURT_TOKEN=secret yurt job status -namespace flag")
    assert yurt.server.requests[0].query == {"namespace": "flag"}
    assert yurt.server.requests[0].headers["X-Nomad-Token"] == "secret"


def test_colour_rules(yurt: CommandLine) -> None:
    yurt.server.on("GET", "/v1/jobs", [])
    plain = 'No job(s) with prefix or ID "nothing" found\n'
    assert yurt("yurt job status nothing", is_terminal=True).stderr == f"\033[91m{plain[:-1]}\033[0m\n"
    assert yurt("yurt job status -no-color nothing", is_terminal=True).stderr == plain
    assert yurt("yurt job status -force-color nothing").stderr == plain
    assert yurt("NOMAD_CLI_NO_COLOR=1 yurt job status -force-color nothing", is_terminal=True).stderr == plain


def test_people_are_told_that_flags_come_first(yurt: CommandLine) -> None:
    piped = yurt("yurt job status web -verbose")
    assert len(piped.stderr.splitlines()) == 2
    shown = yurt("yurt job status web -verbose", is_terminal=True)
    assert "Flags come before arguments: write 'yurt job status -verbose ...'" in shown.stderr
    assert shown.exit_code == 1


def test_missing_snapshot_file(yurt: CommandLine) -> None:
    same(yurt, read_transcript("operator").step("yurt operator snapshot inspect nothing.snap"))


@pytest.mark.parametrize(
    ("flags", "advice"),
    [
        (
            "-namespace apps",
            "No token was given: this command requires a token with the 'read-job' ",
        ),
        (
            "-token secret",
            'The token in use has too few rights in namespace "default": this command requires',
        ),
        (
            "-token forgotten",
            "The token in use is not known to the servers, or has expired. Name another token",
        ),
    ],
)
def test_a_refusal_names_the_rights_that_are_missing(yurt: CommandLine, flags: str, advice: str) -> None:
    yurt.server.on("GET", "/v1/jobs", Reply(b"Permission denied", 403))
    yurt.server.on(
        "GET",
        "/v1/acl/token/self",
        lambda request: (
            Reply({}) if "secret" in request.headers["X-Nomad-Token"] else Reply(b"Permission denied", 403)
        ),
    )
    result = yurt(f"yurt job status {flags}")
    assert result.exit_code == 1
    lines = result.stderr.splitlines()
    assert lines[0] == "Error querying jobs: Unexpected response code: 403 (Permission denied)"
    assert advice in lines[1]
    assert "secret" not in result.stderr
