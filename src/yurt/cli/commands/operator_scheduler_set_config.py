"""`yurt operator scheduler set-config`: change how the schedulers work."""

import json
from collections.abc import Sequence
from typing import Annotated, Any

from yurt.cli.arguments import no_arguments
from yurt.cli.command import Command, Session
from yurt.cli.errors import CommandError, failing_as
from yurt.cli.options import Flag, GeneralOptions
from yurt.sdk import operator

FIELDS = {
    "scheduler_algorithm": "SchedulerAlgorithm",
    "memory_oversubscription": "MemoryOversubscriptionEnabled",
    "reject_job_registration": "RejectJobRegistration",
    "pause_eval_broker": "PauseEvalBroker",
    "node_limit": "NodeLimitForFeasibilityChecks",
}
PREEMPTION_FIELDS = {
    "preempt_batch": "BatchSchedulerEnabled",
    "preempt_service": "ServiceSchedulerEnabled",
    "preempt_sysbatch": "SysBatchSchedulerEnabled",
    "preempt_system": "SystemSchedulerEnabled",
    "preempt_delta": "PriorityDelta",
}


class Options(GeneralOptions, frozen=True, kw_only=True):
    """The flags of `operator scheduler set-config`; what is not given stays as it is."""

    check_index: Annotated[
        int | None,
        Flag("check-index", "Change only if the configuration has this modify index.", "<n>", form="index"),
    ] = None
    scheduler_algorithm: Annotated[
        str | None, Flag("scheduler-algorithm", "binpack or spread.", "<algorithm>")
    ] = None
    memory_oversubscription: Annotated[
        bool | None, Flag("memory-oversubscription", "Let tasks use more memory than they reserve.")
    ] = None
    reject_job_registration: Annotated[
        bool | None, Flag("reject-job-registration", "Refuse job changes, except with management tokens.")
    ] = None
    pause_eval_broker: Annotated[bool | None, Flag("pause-eval-broker", "Stop handing out evaluations.")] = (
        None
    )
    preempt_batch: Annotated[
        bool | None, Flag("preempt-batch-scheduler", "Let batch jobs preempt work of lower priority.")
    ] = None
    preempt_service: Annotated[
        bool | None, Flag("preempt-service-scheduler", "Let service jobs preempt work of lower priority.")
    ] = None
    preempt_sysbatch: Annotated[
        bool | None, Flag("preempt-sysbatch-scheduler", "Let sysbatch jobs preempt work of lower priority.")
    ] = None
    preempt_system: Annotated[
        bool | None, Flag("preempt-system-scheduler", "Let system jobs preempt work of lower priority.")
    ] = None
    preempt_delta: Annotated[
        int | None,
        Flag("preempt-priority-delta", "How far below a job's priority its victims' must be.", "<n>"),
    ] = None
    node_limit: Annotated[
        int | None,
        Flag("node-limit-for-feasibility-checks", "How many nodes to look at for a placement.", "<n>"),
    ] = None


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Change the scheduler configuration."""
    no_arguments(arguments)
    with failing_as("Error querying for scheduler configuration"):
        config: dict[str, Any] = json.loads(operator.scheduler_config(session.client).body)["SchedulerConfig"]
    current_index = config.get("ModifyIndex", 0)
    _change(config, FIELDS, options)
    preemption = dict(config.get("PreemptionConfig") or {})
    _change(preemption, PREEMPTION_FIELDS, options)
    config["PreemptionConfig"] = preemption
    with failing_as("Error setting scheduler configuration"):
        is_updated = operator.set_scheduler_config(session.client, config, check_index=options.check_index)
    if options.check_index is not None and not is_updated:
        raise CommandError(
            f"Error performing check index set: check-index {options.check_index} does not match "
            f"does not match current state value {current_index}"
        )
    session.console.output("Scheduler configuration updated!")
    return 0


def _change(record: dict[str, Any], fields: dict[str, str], options: Options) -> None:
    for field, name in fields.items():
        value = getattr(options, field)
        if value is not None:
            record[name] = value


COMMAND = Command(
    path="operator scheduler set-config",
    options=Options,
    run=run,
    usage="[options]",
    description="""
        Modifies the current scheduler configuration. Only the settings that are given change.

        If ACLs are enabled, this command requires a token with the 'operator:write' capability.
    """,
)
