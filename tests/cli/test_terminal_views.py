"""Views that are redrawn in place, in a real pseudo-terminal against a real agent."""

import json
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.real_commands import RealCommands, read_until, shell_job
from tests.support.pseudo_terminal import PseudoTerminal
from tests.support.real_agent import RealAgent, running_agent

FOREVER = "while true; do sleep 1; done"
HEALTHY_AT_ONCE = 'update {\n min_healthy_time = "0s"\n }'


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealAgent]:
    with running_agent(tmp_path_factory.mktemp("agent")) as agent:
        commands = RealCommands(agent, tmp_path_factory.mktemp("jobs"))
        for name in ("alpha", "beta"):
            job = shell_job(name, FOREVER, kind="service", count=2, more=HEALTHY_AT_ONCE)
            assert commands("run", "-detach", commands.write(f"{name}.nomad.hcl", job)).exit_code == 0
        for name in ("alpha", "beta"):
            agent.wait_for(
                f"/v1/job/{name}/allocations",
                lambda found: [alloc["ClientStatus"] for alloc in found] == ["running"] * 2,
            )
            agent.wait_for(f"/v1/job/{name}/deployment", lambda found: found["Status"] == "successful")
        yield agent


@pytest.fixture
def yurt(agent: RealAgent, tmp_path: Path) -> RealCommands:
    return RealCommands(agent, tmp_path)


def left_sane(terminal: PseudoTerminal) -> bool:
    """Whether the terminal is as the program found it."""
    screen = terminal.screen
    return terminal.is_as_before() and not screen.is_alternate and screen.is_cursor_shown


def test_top_is_driven_by_keys_and_fits_24_by_80(yurt: RealCommands) -> None:
    with yurt.on_terminal("top", "-interval", "500ms") as terminal:
        screen = terminal.wait_for("1/1 nodes ready, 4 running")
        assert re.search(r"node1 +default +ready +4 +\d+% of \d+ MHz +\d+% of \d+ MiB", screen)
        terminal.type("2")
        terminal.wait_for(r"alpha +default +service +running +0 +0 +2 +0")
        terminal.type("j")
        terminal.type("\r")
        screen = terminal.wait_for("of job beta")
        assert "alpha.g[0]" not in screen
        terminal.type("\r")
        terminal.wait_for("Task started by client")
        terminal.type("\033")
        terminal.wait_for(r"beta\.g\[1\] +node1 +running")
        terminal.type("\033")
        terminal.wait_for(r"alpha\.g\[0\] +node1 +running")
        terminal.type("/beta.g[1\r")
        terminal.wait_for("only lines with 'beta.g\\[1'")
        assert "alpha.g[0]" not in terminal.screen.text()
        terminal.type("?")
        terminal.wait_for("any key leaves this page")
        terminal.type("x")
        terminal.type("q")
        assert terminal.wait_for_end() == 0
        assert left_sane(terminal)


def test_top_redraws_when_the_window_changes(yurt: RealCommands) -> None:
    with yurt.on_terminal("top", "-interval", "1h", lines=30, columns=120) as terminal:
        terminal.wait_for("q ends")
        terminal.resize(10, 40)
        screen = terminal.wait_for("yurt top")
        lines = screen.splitlines()
        assert len(lines) == 10
        assert "enter opens" in lines[-1]
        terminal.type("\x03")
        assert terminal.wait_for_end() == 0
        assert left_sane(terminal)


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGHUP])
def test_top_gives_the_terminal_back_when_it_is_ended(yurt: RealCommands, ending: signal.Signals) -> None:
    with yurt.on_terminal("top") as terminal:
        terminal.wait_for("q ends")
        terminal.process.send_signal(ending)
        assert terminal.wait_for_end() == 0
        assert left_sane(terminal)


def test_top_without_colour_still_marks_the_chosen_line(yurt: RealCommands) -> None:
    with yurt.on_terminal("top", "-no-color") as terminal:
        terminal.wait_for("q ends")
        terminal.type("q")
        terminal.wait_for_end()
        assert b"\033[7m" in terminal.output
        assert not re.search(rb"\033\[[39]\dm", terminal.output)


def test_top_prints_once_on_a_pipe(yurt: RealCommands) -> None:
    printed = yurt("top").stdout
    assert "\033" not in printed
    assert [line for line in printed.splitlines() if line in ("Nodes", "Jobs", "Allocations")] == [
        "Nodes",
        "Jobs",
        "Allocations",
    ]
    found = json.loads(yurt("top", "-json").stdout)
    assert {job["Id"] for job in found["Jobs"]} == {"alpha", "beta"}
    assert len(found["Allocations"]) == 4


def test_watch_redraws_in_place_and_leaves_the_last_state(yurt: RealCommands) -> None:
    with yurt.on_terminal("job", "status", "-watch", "alpha", lines=40) as terminal:
        terminal.wait_for(r"g +0 +0 +2 +0 +0 +0 +0")
        yurt("job", "scale", "-detach", "alpha", "1")
        terminal.wait_for(r"g +0 +0 +1 +0 +1 +0 +0")
        assert terminal.screen.is_alternate
        terminal.type("\x03")
        assert terminal.wait_for_end() == 0
        assert left_sane(terminal)
        assert re.search(r"g +0 +0 +1 +0 +1 +0 +0", terminal.screen.text())


@pytest.mark.parametrize(
    "command",
    [
        ("node", "status"),
        ("node", "status", "node1"),
        ("alloc", "status", "ALLOC"),
        ("deployment", "status"),
        ("eval", "status", "EVAL"),
    ],
    ids=" ".join,
)
def test_status_commands_can_be_watched(yurt: RealCommands, command: tuple[str, ...]) -> None:
    words = {
        "ALLOC": yurt.agent.call("GET", "/v1/allocations").json[0]["ID"],
        "EVAL": yurt.agent.call("GET", "/v1/evaluations").json[0]["ID"],
    }
    with yurt.on_terminal(*command[:2], "-watch", *(words.get(word, word) for word in command[2:])) as view:
        view.wait_for("q ends")
        view.type("q")
        assert view.wait_for_end() == 0
        assert left_sane(view)


def test_watch_prints_changes_one_below_the_other_when_piped(yurt: RealCommands) -> None:
    with yurt.started("job", "status", "-watch", "beta") as watching:
        first = read_until(watching, "Allocations")
        assert first.startswith("==> ")
        assert "\033" not in first
        yurt("job", "stop", "-detach", "beta")
        again = read_until(watching, "dead (stopped)")
        assert "\n==> " in again
        watching.send_signal(signal.SIGINT)
        assert watching.wait(30) == 0


def test_interrupting_a_monitor_leaves_the_terminal_sane(yurt: RealCommands) -> None:
    nowhere = 'constraint {\n attribute = "${attr.kernel.name}"\n value = "plan9"\n }'
    job = shell_job("nowhere", FOREVER, kind="service", more=nowhere)
    with yurt.on_terminal("run", yurt.write("nowhere.nomad.hcl", job), columns=120) as terminal:
        terminal.wait_for("in progress")
        terminal.type("\x03")
        assert terminal.wait_for_end() == 130
        assert left_sane(terminal)
