"""How the cluster schedules, and how its servers look after each other."""

from __future__ import annotations

import msgspec

from yurt.errors import YurtError
from yurt.model.autopilot import AutopilotConfiguration
from yurt.model.job import SERVICE
from yurt.model.scheduler_configuration import PRIORITY_DELTA_DEFAULT, SchedulerConfiguration
from yurt.scheduler.rank.algorithms import AlgorithmError, algorithm_for
from yurt.server.context import ServerContext
from yurt.state.entries import SetAutopilotConfiguration, SetSchedulerConfiguration


class ConfigurationInvalid(YurtError):
    """The configuration is not as it must be."""


class ConfigurationSet(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a configuration was stored: not if it is no longer the one that the caller knew."""

    is_updated: bool
    index: int


class OperatorCommands:
    """What operators can ask about the whole cluster."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context

    async def set_scheduler_configuration(
        self, configuration: SchedulerConfiguration, *, check_index: int | None = None
    ) -> ConfigurationSet:
        """Change how the cluster schedules. Raises ConfigurationInvalid."""
        try:
            algorithm_for(configuration.scheduler_algorithm, SERVICE)
        except AlgorithmError:
            raise ConfigurationInvalid(
                f"invalid scheduler algorithm: {configuration.scheduler_algorithm}"
            ) from None
        delta = configuration.preemption_config.priority_delta_min
        if delta < 1:
            raise ConfigurationInvalid(
                f"PreemptionConfig.PriorityDelta: {delta} is less than 1, so that equals would displace each "
                f"other; set 1 or more, or leave it out for {PRIORITY_DELTA_DEFAULT}"
            )
        committed = await self._context.committer.propose(
            SetSchedulerConfiguration(
                at=self._context.clock.now_ns(), configuration=configuration, check_index=check_index
            )
        )
        return ConfigurationSet(is_updated=committed.outcome is True, index=committed.index)

    async def set_autopilot_configuration(
        self, configuration: AutopilotConfiguration, *, check_index: int | None = None
    ) -> ConfigurationSet:
        """Change how the servers look after each other."""
        committed = await self._context.committer.propose(
            SetAutopilotConfiguration(
                at=self._context.clock.now_ns(), configuration=configuration, check_index=check_index
            )
        )
        return ConfigurationSet(is_updated=committed.outcome is True, index=committed.index)
