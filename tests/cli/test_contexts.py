"""Named clusters: saving, switching and where settings come from."""

import json
from pathlib import Path

import pytest

from tests.cli.command_line import CommandLine


@pytest.fixture
def contexts(yurt: CommandLine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The file that commands of this test use."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    yurt.server.on("GET", "/v1/jobs", [])
    return tmp_path / "yurt" / "contexts.json"


def test_first_context_is_used_and_others_are_switched_to(yurt: CommandLine, contexts: Path) -> None:
    assert yurt("yurt context show").stdout.startswith("No context is in use")
    first = yurt("yurt context set -address http://a:1 -token secret -namespace apps a")
    second = yurt("yurt context set -address http://b:2 b")

    assert first.stdout == 'Saved context "a", which is the current one\n'
    assert second.stdout == 'Saved context "b"\n'
    assert contexts.stat().st_mode & 0o777 == 0o600
    assert yurt("yurt context use b").stdout == 'Using context "b" at http://b:2\n'
    assert yurt("yurt context list").stdout.splitlines() == [
        "Current  Name  Address     Namespace  Region  Token",
        "-        a     http://a:1  apps       <none>  set",
        "*        b     http://b:2  <none>     <none>  <none>",
    ]
    listed = json.loads(yurt("yurt context list -json").stdout)
    assert [(item["Name"], item["Current"], item["HasToken"]) for item in listed] == [
        ("a", False, True),
        ("b", True, False),
    ]
    assert "secret" not in yurt("yurt context show a").stdout + yurt("yurt context show -json a").stdout


def test_set_changes_only_what_is_given(yurt: CommandLine, contexts: Path) -> None:
    yurt("yurt context set -address http://a:1 -token secret a")
    yurt("yurt context set -namespace apps a")
    yurt("yurt context set -token= a")
    saved = json.loads(contexts.read_text())["contexts"]["a"]
    assert saved == {"address": "http://a:1", "namespace": "apps"}


@pytest.mark.usefixtures("contexts")
def test_where_settings_come_from(yurt: CommandLine) -> None:
    address = yurt.server.address
    yurt(f"yurt context set -address {address} -namespace saved -token saved a")

    yurt("YURT_NAMESPACE= NOMAD_ADDR= yurt job status")
    yurt("YURT_NAMESPACE=env NOMAD_ADDR= yurt job status")
    yurt("YURT_NAMESPACE=env NOMAD_ADDR=http://127.0.0.1:1 yurt job status -context a")
    yurt("YURT_CONTEXT=a NOMAD_ADDR= yurt job status -namespace flag")

    asked = [request for request in yurt.server.requests if request.path == "/v1/jobs"]
    assert [request.query["namespace"] for request in asked] == ["saved", "env", "saved", "flag"]
    assert {request.headers["X-Nomad-Token"] for request in asked} == {"saved"}


def test_deleting_the_current_context_leaves_none(yurt: CommandLine, contexts: Path) -> None:
    yurt("yurt context set -address http://a:1 a")
    assert yurt("yurt context delete a").exit_code == 0
    assert json.loads(contexts.read_text()) == {"current": "", "contexts": {}}
    assert yurt("yurt context list").stdout.startswith("No contexts")
    assert yurt("yurt context list -json").stdout == "[]\n"


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("yurt context use nowhere", 'No context "nowhere" (there are: none)'),
        ("yurt context delete nowhere", 'No context "nowhere"'),
        ("yurt context show nowhere", 'No context "nowhere"'),
        ("yurt job status -context nowhere", 'No context "nowhere"'),
        ("YURT_CONTEXT=nowhere yurt job status", 'No context "nowhere"'),
        ("yurt context set a", "A new context needs an address"),
        ("yurt context set -address host:1 a", "has no usable scheme"),
        ("yurt context set -address http://a ../a", "cannot name a context"),
    ],
)
def test_bad_calls_change_nothing(yurt: CommandLine, contexts: Path, command: str, problem: str) -> None:
    result = yurt(command)
    assert result.exit_code == 1
    assert problem in result.stderr
    assert not contexts.exists()


def test_a_damaged_file_is_reported_and_left_alone(yurt: CommandLine, contexts: Path) -> None:
    contexts.parent.mkdir()
    contexts.write_text("{")
    result = yurt("yurt job status")
    assert result.exit_code == 1
    assert str(contexts) in result.stderr
    assert yurt("yurt context set -address http://a a").exit_code == 1
    assert contexts.read_text() == "{"
