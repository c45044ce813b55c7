"""The record of a started task, as the agent reads it."""

from __future__ import annotations

from yurt.agent.launcher.daemon.records import EXITED, read_record
from yurt.agent.launcher.spec import ExitResult, TaskKey


class Record:
    """What a supervisor wrote about its task; see `daemon.records`."""

    def __init__(self, facts: dict[str, str]) -> None:
        self.key = TaskKey(facts["alloc"], facts["task"], int(facts["attempt"]))
        self.boot_id = facts["boot"]
        self.supervisor = (int(facts["supervisor"]), int(facts["supervisor_start"]))
        # Of a task whose supervisor was killed while it started it, these are not known.
        self.pid = int(facts.get("pid", 0))
        self.pid_ticks = int(facts.get("pid_start", 0))
        self.started_ns = int(facts.get("started_ns", 0))
        self.cgroups = facts.get("cgroups", "").split("\0") if facts.get("cgroups") else []
        self.exit: ExitResult | None = None
        if facts["part"] == EXITED:
            self.exit = ExitResult(
                exit_code=int(facts["exit_code"]),
                signal=int(facts["signal"]),
                oom_killed=facts["oom_killed"] == "1",
                ended_ns=int(facts["ended_ns"]),
            )


def load(path: str) -> Record | None:
    """The record at `path`, None where there is none."""
    facts = read_record(path)
    return Record(facts) if facts else None
