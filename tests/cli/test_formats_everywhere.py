"""`-json` and `-t`: on every command that prints data, whatever the command is."""

import json
import signal
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from tests.cli.real_commands import COMMAND_TIMEOUT_S, RealCommands, read_until, shell_job
from tests.support.real_agent import running_agent
from yurt.cli.options import declared_flags
from yurt.cli.registry import COMMANDS

FORMATS = {"json", "t"}
# Why a command prints nothing that could be JSON, and which commands that is true of.
EXCEPTIONS = {
    "it hands on what others wrote, byte by byte": (
        "action",
        "alloc exec",
        "alloc logs",
        "exec",
        "job action",
        "logs",
        "monitor",  # its -json is Nomad's: log lines as JSON
        "monitor export",
        "operator api",
        "var lock",
    ),
    "-json says what its input is, as it does in Nomad": (
        "job run",
        "job validate",
        "namespace apply",
        "node pool apply",
        "quota apply",
        "run",
        "validate",
    ),
    "it writes a file, or a text that is meant for a file": (
        "alloc cp",
        "complete-words",
        "completion",
        "debug",
        "fmt",
        "init",
        "job init",
        "node pool init",
        "operator debug",
        "operator gossip keyring generate",
        "operator snapshot save",
        "quota init",
        "tls ca create",
        "tls cert create",
        "var init",
        "volume init",
    ),
    "it runs until it is stopped, or tells of its progress": (
        "agent",
        "alloc port-forward",
        "job restart",
        "node drain",
        "node simulate",
        "node-drain",
    ),
    "its exit code is the answer": ("check", "config validate", "job wait"),
    "it opens a browser": ("ui",),
    "it does one thing and says at most that it is done": (
        "acl auth-method delete",
        "acl binding-rule delete",
        "acl policy apply",
        "acl policy delete",
        "acl role delete",
        "acl token delete",
        "alloc pause",
        "alloc restart",
        "alloc signal",
        "context delete",
        "context set",
        "context use",
        "eval delete",
        "job tag apply",
        "job tag unset",
        "namespace delete",
        "node eligibility",
        "node identity renew",
        "node meta apply",
        "node pool delete",
        "operator autopilot set-config",
        "operator gossip keyring install",
        "operator gossip keyring remove",
        "operator gossip keyring use",
        "operator raft remove-peer",
        "operator raft transfer-leadership",
        "operator root keyring remove",
        "operator scheduler set-config",
        "operator snapshot restore",
        "quota delete",
        "server force-leave",
        "server join",
        "server-force-leave",
        "server-join",
        "service delete",
        "system gc",
        "system reconcile summaries",
        "var purge",
        "volume claim delete",
        "volume delete",
        "volume deregister",
        "volume detach",
    ),
}


def _flags(module_name: str) -> set[str]:
    module = import_module(f"yurt.cli.commands.{module_name}")
    if module_name == "version":
        return {flag.lstrip("-") for flag in module.FORMAT_FLAGS}
    command = getattr(module, "COMMAND", None)
    return {declared.flag.name for declared in declared_flags(command.options)} if command else set()


def test_every_command_that_prints_data_takes_both_formats() -> None:
    without = {
        entry.path
        for entry in COMMANDS
        if entry.module != "not_offered" and not _flags(entry.module) >= FORMATS
    }
    assert without == {path for paths in EXCEPTIONS.values() for path in paths}


@pytest.fixture(scope="module")
def yurt(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealCommands]:
    directory: Path = tmp_path_factory.mktemp("work")
    with running_agent(tmp_path_factory.mktemp("agent")) as agent:
        commands = RealCommands(agent, directory)
        commands.write("web.nomad.hcl", shell_job("web", "sleep 1000"))
        commands.write(
            "ask.nomad.hcl", shell_job("ask", "true", more='parameterized {\n payload = "optional"\n }')
        )
        commands.write(
            "night.nomad.hcl", shell_job("night", "true", more='periodic {\n crons = ["0 0 1 1 *"]\n }')
        )
        commands.write(
            "volume.hcl",
            'name = "data"\ntype = "host"\nplugin_id = "mkdir"\n'
            'capability {\n access_mode = "single-node-writer"\n attachment_mode = "file-system"\n}\n',
        )
        for name in ("web", "ask", "night"):
            assert commands("run", "-detach", f"{name}.nomad.hcl").exit_code == 0
        assert commands("tls", "ca", "create").exit_code == 0
        assert commands("tls", "cert", "create", "-cli").exit_code == 0
        assert commands("operator", "snapshot", "save", "state.snap").exit_code == 0
        yield commands


# Commands that change something come first, and once, in an order in which each can.
ACTIONS = (
    ("job eval web", "{{.EvalID}}", "-"),
    ("job dispatch ask", "{{.DispatchedJobID}}", "ask/dispatch-"),
    ("job periodic force night", "{{.EvalID}}", "-"),
    ("job stop web night", "{{range .}}{{.JobID}} {{end}}", "web night"),
    ("job start web", "{{.EvalID}}", "-"),
    ("job scale web 0", "{{.EvalID}}", "-"),
    ("job revert web 0", "{{.EvalID}}", "-"),
    ("operator root keyring rotate -now", "{{.Key.State}}", "active"),
    ("var put -force app/x k=v", "{{.Items.k}}", "v"),
    ("volume create volume.hcl", "{{.Name}}", "data"),
)
QUESTIONS = (
    ("operator autopilot health", "{{.Healthy}}", "true"),
    ("node config -servers", "{{index . 0}}", "127.0.0.1"),
    ("status web", "{{range .}}{{.Summary.JobID}}{{end}}", "web"),
    ("status", "{{len .}}", ""),
    ("version", "{{.Version}}", ""),
    ("var get app/x", "{{.Items.k}}", "v"),
    ("var list", "{{range .}}{{.Path}}{{end}}", "app/x"),
    ("tls ca info nomad-agent-ca.pem", "{{.CommonName}}", "Nomad Agent CA"),
    ("tls cert info global-cli-nomad.pem", "{{.DNSNames}}", "cli.global.nomad"),
    ("operator snapshot inspect state.snap", "{{.Meta.Index}}", ""),
    ("namespace inspect default", "{{.Name}}", "default"),
    ("volume status -type host", "{{range .}}{{.Name}}{{end}}", "data"),
)


def _with(command: str, *flags: str) -> list[str]:
    """The words of a command with flags after its name."""
    words = command.split()
    names = {entry.path for entry in COMMANDS}
    count = next(count for count in range(len(words), 0, -1) if " ".join(words[:count]) in names)
    return [*words[:count], *flags, *words[count:]]


@pytest.mark.parametrize(("command", "template", "shows"), [*ACTIONS, *QUESTIONS])
def test_a_template_gets_the_answer(yurt: RealCommands, command: str, template: str, shows: str) -> None:
    both = yurt(*_with(command, "-json", "-t", template))
    assert (both.exit_code, both.stdout) == (1, "")
    assert "allowed" in both.stderr

    result = yurt(*_with(command, "-t", template))

    assert (result.exit_code, result.stderr) == (0, ""), result
    assert shows in result.stdout
    assert result.stdout.strip() not in {"", "<no value>"}


@pytest.mark.parametrize("command", [command for command, _, _ in QUESTIONS])
def test_json_gets_the_answer(yurt: RealCommands, command: str) -> None:
    result = yurt(*_with(command, "-json"))
    assert (result.exit_code, result.stderr) == (0, ""), result
    json.loads(result.stdout)


def test_a_volume_is_found_by_its_id_alone(yurt: RealCommands) -> None:
    volume_id = json.loads(yurt("volume", "status", "-type", "host", "-json").stdout)[0]["ID"]
    shown = yurt("status", volume_id[:8])
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert f"ID        = {volume_id}" in shown.stdout


def test_jobs_are_stopped_each_for_itself(yurt: RealCommands) -> None:
    result = yurt("job", "stop", "-t", "{{range .}}{{.JobID}}{{end}}", "nobody", "ask")
    assert result.exit_code == 1
    assert result.stdout == "ask\n"
    assert result.stderr == 'No job(s) with prefix or ID "nobody" found\n'


def test_files_of_an_allocation_are_listed_for_programs(yurt: RealCommands) -> None:
    done = yurt.agent.wait_for(
        "/v1/allocations", lambda allocs: any(alloc["ClientStatus"] == "complete" for alloc in allocs)
    )
    alloc_id = next(alloc["ID"] for alloc in done if alloc["ClientStatus"] == "complete")
    listed = json.loads(yurt("alloc", "fs", "-json", alloc_id, "alloc").stdout)
    assert "logs" in {entry["Name"] for entry in listed}
    described = yurt("alloc", "fs", "-stat", "-t", "{{.IsDir}}", alloc_id, "alloc/logs/t.stdout.0")
    assert described.stdout == "false\n"
    refused = yurt("alloc", "fs", "-json", alloc_id, "alloc/logs/t.stdout.0")
    assert refused.exit_code == 1
    assert "for directories and for -stat" in refused.stderr


def test_events_are_lines_for_programs(yurt: RealCommands) -> None:
    with yurt.started("event", "stream", "-topic", "Job:web", "-index", "1", "-json") as stream:
        first = json.loads(read_until(stream, "JobRegistered"))
        stream.send_signal(signal.SIGINT)
        assert stream.wait(COMMAND_TIMEOUT_S) == 0
    assert (first["Topic"], first["Key"]) == ("Job", "web")


def test_events_are_lines_for_people(yurt: RealCommands) -> None:
    with yurt.started("event", "stream", "-topic", "Job:web", "-index", "1") as stream:
        line = read_until(stream, "JobRegistered")
    assert line.split()[1:] == ["Job", "JobRegistered", "default", "web"]
