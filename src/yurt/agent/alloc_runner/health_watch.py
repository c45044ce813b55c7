"""Decide about the health of an allocation while it runs, once for each deployment."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import assert_never

from yurt.agent import task_events
from yurt.agent.alloc_runner.context import AllocContext
from yurt.agent.alloc_runner.health import (
    HealthRules,
    Healthy,
    Undecided,
    Unhealthy,
    health_rules,
    judge_health,
    unhealthy_reasons,
)
from yurt.agent.alloc_runner.lifecycle import Role
from yurt.model.alloc import AllocDeploymentStatus
from yurt.model.times import time_text

NEVER = math.inf


class HealthWatch:
    """What was decided about an allocation, and why; `on_decision` is called when something was."""

    def __init__(
        self,
        context: AllocContext,
        roles: Mapping[str, Role],
        *,
        decided: AllocDeploymentStatus | None,
        on_decision: Callable[[], None],
    ) -> None:
        """Go on from what an earlier agent `decided`."""
        self._context = context
        self._roles = roles
        self._decided = decided
        self._on_decision = on_decision
        self._watched_since = context.node.clock.now_ns()
        self._untold: HealthRules | None = None  # decided, and to be told in events

    @property
    def decided(self) -> AllocDeploymentStatus | None:
        """The verdict; None while there is none."""
        return self._decided

    def begin_again(self) -> None:
        """Another deployment wants to know."""
        self._decided = None
        self._watched_since = self._context.node.clock.now_ns()

    def look(self, *, is_stopping: bool, is_killing: bool) -> float:
        """Judge the health while it is not decided; give the time of the next look.

        An allocation that stops because it was told to leaves no reasons; those of one whose tasks are
        being killed tell how they ended, and so wait for that.
        """
        if self._untold is not None and not is_killing:
            self._tell(self._untold)
            self._untold = None
        context = self._context
        rules = health_rules(context.alloc, context.group)
        if rules is None or self._decided is not None:
            return NEVER
        verdict = judge_health(
            rules,
            self._roles,
            context.states,
            checks_passing_since=context.checks.passing_since,
            watched_since=self._watched_since,
            now=context.node.clock.now_ns(),
        )
        match verdict:
            case Healthy():
                self._decide(healthy=True)
            case Unhealthy():
                self._decide(healthy=False)
                if not is_stopping:
                    self._untold = rules
                    return self.look(is_stopping=is_stopping, is_killing=is_killing)
            case Undecided(until=until):
                return until
            case _:
                assert_never(verdict)
        return NEVER

    def give_up(self) -> None:
        """Decide against an allocation of which a task that had done its part has it before it again."""
        rules = health_rules(self._context.alloc, self._context.group)
        if rules is not None:
            self._decide(healthy=False)
            self._tell(rules)

    def _decide(self, *, healthy: bool) -> None:
        known = self._context.alloc.deployment_status
        self._decided = AllocDeploymentStatus(
            healthy=healthy,
            timestamp=time_text(self._context.node.clock.now_ns()),
            canary=known is not None and known.canary,
        )
        self._on_decision()

    def _tell(self, rules: HealthRules) -> None:
        context = self._context
        if not context.alloc.deployment_id:
            return
        now = context.node.clock.now_ns()
        reasons = unhealthy_reasons(
            rules,
            self._roles,
            context.states,
            are_checks_passing=context.checks.passing_since is not None,
            now=now,
        )
        for name, reason in reasons.items():
            context.runners[name].emit(task_events.alloc_unhealthy(now, reason=reason))
