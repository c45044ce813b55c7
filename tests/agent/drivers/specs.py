"""Task specs for driver tests, and what Nomad told in a recorded scenario."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec

from yurt.agent.drivers import ExitResult, TaskSpec


def a_spec(task_dir: Path, config: dict[str, Any], **changes: object) -> TaskSpec:
    spec = TaskSpec(
        alloc_id="5b0c1a2d-0000-4000-8000-000000000001",
        task="t",
        attempt=0,
        config=config,
        env={"PATH": os.environ["PATH"]},
        task_dir=str(task_dir),
        log_dir=str(task_dir.parent / "logs"),
    )
    return msgspec.structs.replace(spec, **changes)


def shell(task_dir: Path, script: str, **changes: object) -> TaskSpec:
    return a_spec(task_dir, {"command": "/bin/sh", "args": ["-c", script]}, **changes)


def stdout(task_dir: Path) -> str:
    return (task_dir.parent / "logs" / "t.stdout.0").read_text()


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def event(recorded: dict[str, Any], scenario: str, kind: str) -> dict[str, Any]:
    """The first event of a kind in a scenario."""
    events = recorded[scenario]["Tasks"]["t"]["Events"]
    return dict(next(entry for entry in events if entry["Type"] == kind))


def terminated(recorded: dict[str, Any], scenario: str) -> tuple[str, str, str, str]:
    """Exit code, signal, out of memory and message of the end, as texts."""
    details = event(recorded, scenario, "Terminated")["Details"]
    names = ("exit_code", "signal", "oom_killed", "exit_message")
    code, number, oom, message = (details.get(name, "") for name in names)
    return code, number, oom, message


def as_recorded(result: ExitResult) -> tuple[str, str, str, str]:
    oom_killed = "true" if result.oom_killed else "false"
    return str(result.exit_code), str(result.signal), oom_killed, result.error
