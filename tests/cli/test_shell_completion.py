"""Completion in the shells themselves."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command_line import CommandLine
from tests.cli.real_commands import clean_environment
from tests.sdk.replay_server import ReplayServer

# Each asks its shell what the line `yurt WORDS...` may go on with.
SHELLS = {
    "bash": (
        "source <(yurt completion bash); "
        'COMP_WORDS=(yurt "$@"); COMP_CWORD=$#; _yurt; printf "%s\\n" "${COMPREPLY[@]}"'
    ),
    "zsh": (
        "source <(yurt completion zsh); "
        "compadd() { shift; print -l -- $@ }; _files() { }; "
        'words=(yurt "$@"); CURRENT=$#words; _yurt'
    ),
    "fish": 'yurt completion fish | source; complete -C "yurt $argv"',
}


def completed(shell: str, words: tuple[str, ...], environment: dict[str, str]) -> list[str]:
    """What a shell offers for the last word."""
    command = {
        "bash": ["bash", "--norc", "-c", SHELLS["bash"], "bash", *words],
        "zsh": ["zsh", "-f", "-c", SHELLS["zsh"], "zsh", *words],
        "fish": ["fish", "--no-config", "-c", SHELLS["fish"], *words],
    }[shell]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return [line.partition("\t")[0] for line in done.stdout.splitlines() if line]


@pytest.fixture
def environment(server: ReplayServer, tmp_path: Path) -> dict[str, str]:
    server.on("PUT", "/v1/search", {"Matches": {"jobs": ["web", "web-2"]}, "Truncations": {}})
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return clean_environment(tmp_path) | {"NOMAD_ADDR": server.address, "PATH": path}


@pytest.mark.parametrize("shell", SHELLS)
def test_shells_complete_commands_flags_and_names(environment: dict[str, str], shell: str) -> None:
    assert completed(shell, ("job", "st"), environment) == ["start", "status", "stop"]
    assert completed(shell, ("job", "run", "-detac"), environment) == ["-detach"]
    assert completed(shell, ("job", "status", "we"), environment) == ["web", "web-2"]


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("''", {"job", "alloc", "top", "why"}),
        ("operator sn", {"snapshot"}),
        ("operator snapshot ''", {"save", "restore", "inspect"}),
        ("job run --det", {"--detach"}),
        ("job run ''", set()),
        ("nonsense ''", set()),
        ("completion ''", {"bash", "zsh", "fish"}),
        ("-help", set()),
    ],
)
def test_candidates(yurt: CommandLine, words: str, offered: set[str]) -> None:
    result = yurt(f"yurt complete-words {words}")
    assert result.exit_code == 0
    assert offered <= {*result.stdout.split()}
    assert offered or "Usage" in result.stdout or not result.stdout


def test_an_unreachable_server_is_silent(yurt: CommandLine) -> None:
    result = yurt("NOMAD_ADDR=http://127.0.0.1:1 yurt complete-words job status we")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")


def test_unknown_shells_are_refused(yurt: CommandLine) -> None:
    assert yurt("yurt completion tcsh").exit_code == 1


def _flag(name: str, home: Path) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "yurt.cli.main", name],
        env=clean_environment(home),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_completion_is_installed_for_the_shells_in_use(tmp_path: Path) -> None:
    (tmp_path / ".bashrc").write_text("alias ll='ls -l'\n")
    (tmp_path / ".config" / "fish").mkdir(parents=True)
    fish = tmp_path / ".config" / "fish" / "completions" / "yurt.fish"

    assert _flag("-autocomplete-install", tmp_path) == (0, "", "")

    assert (tmp_path / ".bashrc").read_text() == "alias ll='ls -l'\nsource <(yurt completion bash)\n"
    assert fish.read_text() == "yurt completion fish | source\n"
    assert not (tmp_path / ".zshrc").exists()
    code, _, error = _flag("-autocomplete-install", tmp_path)
    assert (code, "installed already" in error) == (1, True)

    assert _flag("--autocomplete-uninstall", tmp_path) == (0, "", "")

    assert (tmp_path / ".bashrc").read_text() == "alias ll='ls -l'\n"
    assert not fish.exists()
    assert _flag("-autocomplete-uninstall", tmp_path)[0] == 1


def test_completion_for_no_shell_says_what_to_do(tmp_path: Path) -> None:
    code, _, error = _flag("-autocomplete-install", tmp_path)
    assert code == 1
    assert "yurt completion -help" in error
