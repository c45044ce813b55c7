"""What a command may import before it runs: start-up is felt at every prompt."""

import json
import subprocess
import sys

import pytest

HEAVY = {
    "aiohttp",
    "asyncio",
    "cryptography",
    "h2",
    "jwt",
    "multiprocessing",
    "numpy",
    "psutil",
    "starlette",
    "structlog",
    "tarfile",
    "tempfile",
    "uvicorn",
    "uvloop",
    "webbrowser",
    "websockets",
    "yurt.agent",
    "yurt.api",
    "yurt.cli.go_template",
    "yurt.cli.terminal_screen",
    "yurt.jobspec",
    "yurt.log",
    "yurt.model.cron",
    "yurt.scheduler",
    "yurt.server",
    "yurt.state",
}


def imported(*arguments: str) -> set[str]:
    """The modules that a command has loaded when it ends, and the packages they are in."""
    script = (
        "import json, sys; from yurt.cli.main import main; main(sys.argv[1:]); "
        "sys.stderr.write('\\n' + json.dumps(sorted(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, timeout=60, check=True
    )
    found: set[str] = set()
    for module in json.loads(done.stderr.splitlines()[-1]):
        parts = module.split(".")
        found |= {".".join(parts[:count]) for count in range(1, len(parts) + 1)}
    return found


@pytest.mark.parametrize(
    "arguments",
    [
        ("job", "status", "-address", "http://127.0.0.1:1"),
        ("job", "status", "-address", "http://127.0.0.1:1", "web"),
        ("node", "status", "-address", "http://127.0.0.1:1"),
        ("alloc", "status", "-address", "http://127.0.0.1:1", "abcd"),
        ("complete-words", "job", "st"),
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_short_commands_import_nothing_heavy(arguments: tuple[str, ...]) -> None:
    assert imported(*arguments) & HEAVY == set()


@pytest.mark.parametrize("command", ["version", "completion"])
def test_the_lightest_commands_do_without_codecs_and_clients(command: str) -> None:
    arguments = (command, "bash") if command == "completion" else (command,)
    assert imported(*arguments) & (HEAVY | {"msgspec", "http", "ssl", "yurt.sdk"}) == set()
