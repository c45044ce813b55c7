"""What an allocation makes of its checks in Consul: health for deployments, and restarts."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from yurt.agent.alloc_runner.context import AllocContext
from yurt.agent.consul.client import ConsulCheck
from yurt.agent.consul.registrar import POLL_INTERVAL_S, ConsulRegistrar
from yurt.agent.consul.registrations import ConsulServiceCheck
from yurt.agent.services import check_restarts
from yurt.agent.services.check_restarts import RestartTimer
from yurt.agent.services.checks import FAILURE, HEALTHINESS, IGNORE, PENDING, READINESS, SUCCESS, CheckResult
from yurt.model.times import SECOND_NS

PASSING, WARNING = "passing", "warning"
IGNORE_WARNINGS = "ignore_warnings"


async def watch_checks(
    context: AllocContext, registrar: ConsulRegistrar, checks: Callable[[], Iterable[ConsulServiceCheck]]
) -> None:
    """Follow the checks until cancelled: keep their results, and restart tasks whose checks say so."""
    clock = context.node.clock
    timers: dict[str, RestartTimer] = {}
    while True:
        current = {check.id: check for check in checks()}
        timers = {id_: timer for id_, timer in timers.items() if id_ in current}
        context.checks.retain_hidden(current)
        for id_, check in current.items():
            result = registrar.result(id_)
            context.checks.put(_as_result(check, result, at_s=clock.now_ns() // SECOND_NS), is_hidden=True)
            if not check_restarts.restarts(check.check):
                continue
            timer = timers.get(id_) or check_restarts.first_timer(check.check, clock.now_ns())
            status = _restart_status(check, result)
            timers[id_], must_restart = check_restarts.judge(check.check, timer, status, now=clock.now_ns())
            if must_restart:
                reason = f'healthcheck: check "{check.check.name}" unhealthy'
                context.restart_as_failed(check.task, reason=reason)
        await clock.sleep(POLL_INTERVAL_S)


def _as_result(made: ConsulServiceCheck, result: ConsulCheck | None, *, at_s: int) -> CheckResult:
    """A check's state as deployments see it."""
    is_ignored = made.check.on_update == IGNORE
    passing = (PASSING, WARNING) if made.check.on_update == IGNORE_WARNINGS else (PASSING,)
    status = PENDING if result is None else (SUCCESS if result.status in passing else FAILURE)
    return CheckResult(
        id=made.id,
        mode=READINESS if is_ignored else HEALTHINESS,
        status=status,
        output=result.output if result else "",
        timestamp=at_s,
        service=made.service.name,
        check=made.check.name,
    )


def _restart_status(made: ConsulServiceCheck, result: ConsulCheck | None) -> str:
    """A check's state as restarts see it; one that Consul does not know yet is no reason for one."""
    restart = made.check.check_restart
    is_passing = result is None or result.status == PASSING
    if restart is not None and restart.ignore_warnings and result is not None:
        is_passing = is_passing or result.status == WARNING
    return SUCCESS if is_passing else FAILURE
