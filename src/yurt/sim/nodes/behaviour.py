"""How the work of simulated nodes behaves: by rules, or as the mock driver's options say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from yurt.model.durations import parse_duration
from yurt.model.job import BATCH, SYSBATCH, Job

RUN = "run"
COMPLETE = "complete"
FAIL = "fail"
HOLD = "hold"

START_S = 0.02
END_S_MIN = 0.4
HEALTH_S_MIN = 0.3
STOP_S = 0.05

_MOCK_DRIVER = "mock_driver"


class Rule(msgspec.Struct, frozen=True, kw_only=True, rename="pascal"):
    """What becomes of matching allocations; of several rules the first match counts."""

    job: str = "*"
    group: str = ""
    name: str = ""
    node: str = ""
    version: int | None = None
    times: int = 0
    action: str = RUN
    after_ms: int = 0
    health: str = ""
    health_after_ms: int = 0


class Behaviour(msgspec.Struct, frozen=True, kw_only=True):
    """What an allocation will do. Times count from its start; None means never."""

    starts: bool = True
    ends_after_s: float | None = None
    exit_code: int = 0
    healthy: bool | None = True
    healthy_after_s: float = 0.0
    start_error: str = ""


class Behaviours:
    """Decides what each new allocation will do. Remembers how often a rule with `Times` was used."""

    def __init__(self, rules: Sequence[Rule], *, only_sleep: bool = False) -> None:
        self._rules = tuple(rules)
        self._uses: dict[int, int] = {}
        # Benchmarks measure the servers: report `running` at once, and no health.
        self._only_sleep = only_sleep

    def decide(self, *, job: Job, group: str, name: str, node_name: str) -> Behaviour:
        """Say what an allocation will do."""
        if self._only_sleep:
            return Behaviour(healthy=None)
        for number, rule in enumerate(self._rules):
            if not _matches(rule, job=job, group=group, name=name, node_name=node_name):
                continue
            used = self._uses.get(number, 0)
            if rule.times and used >= rule.times:
                continue
            self._uses[number] = used + 1
            return _by_rule(rule)
        return _by_driver(job, group)


def _matches(rule: Rule, *, job: Job, group: str, name: str, node_name: str) -> bool:
    by_job = job.id.startswith(rule.job[:-1]) if rule.job.endswith("*") else job.id == rule.job
    return (
        by_job
        and rule.group in ("", group)
        and rule.name in ("", name)
        and rule.node in ("", node_name)
        and rule.version in (None, job.version)
    )


def _by_rule(rule: Rule) -> Behaviour:
    if rule.action == HOLD:
        return Behaviour(starts=False)
    ends = rule.action in (COMPLETE, FAIL)
    health = rule.health or ("healthy" if rule.action == RUN else "none")
    return Behaviour(
        ends_after_s=max(END_S_MIN, rule.after_ms / 1000) if ends else None,
        exit_code=1 if rule.action == FAIL else 0,
        healthy={"healthy": True, "unhealthy": False}.get(health),
        healthy_after_s=max(HEALTH_S_MIN, rule.health_after_ms / 1000),
    )


def _by_driver(job: Job, group: str) -> Behaviour:
    """What the first task's driver options say; other drivers run until they are stopped."""
    found = job.group(group)
    task = found.tasks[0] if found is not None and found.tasks else None
    if task is None or task.driver != _MOCK_DRIVER:
        return Behaviour(healthy_after_s=HEALTH_S_MIN)
    options = task.config or {}
    error = str(options.get("start_error", ""))
    run_for_s = _seconds(options.get("run_for", ""))
    ends = run_for_s is not None or job.type in (BATCH, SYSBATCH)
    return Behaviour(
        ends_after_s=(run_for_s or 0.0) if ends else None,
        exit_code=int(options.get("exit_code", 0)),
        healthy_after_s=HEALTH_S_MIN,
        start_error=error,
    )


def _seconds(value: Any) -> float | None:  # noqa: ANN401 - driver options are free
    if isinstance(value, (int, float)):
        return float(value) / 1e9
    if not value:
        return None
    try:
        return parse_duration(str(value)) / 1e9
    except ValueError:
        return None
