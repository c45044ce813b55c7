"""`yurt operator scheduler get-config`."""

from collections.abc import Sequence

from yurt.cli.arguments import no_arguments
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.layout import key_list
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.options import FormatOptions
from yurt.sdk import operator


def run(session: Session, options: FormatOptions, arguments: Sequence[str]) -> int:
    """Show the scheduler configuration."""
    no_arguments(arguments)
    is_machine_output = wants_machine_output(options)
    with failing_as("Error querying scheduler configuration"):
        answer = operator.scheduler_config(session.client)
    if is_machine_output:
        show_record(session.console, options, answer.body)
        return 0
    config = answer.value.scheduler_config
    preemption = config.preemption_config
    session.console.output(
        key_list(
            [
                ("Scheduler Algorithm", config.scheduler_algorithm),
                ("Memory Oversubscription", config.memory_oversubscription_enabled),
                ("Reject Job Registration", config.reject_job_registration),
                ("Pause Eval Broker", config.pause_eval_broker),
                ("Preemption System Scheduler", preemption.system_scheduler_enabled),
                ("Preemption Service Scheduler", preemption.service_scheduler_enabled),
                ("Preemption Batch Scheduler", preemption.batch_scheduler_enabled),
                ("Preemption SysBatch Scheduler", preemption.sys_batch_scheduler_enabled),
                *(
                    [("Preemption Priority Delta", preemption.priority_delta)]
                    if preemption.priority_delta is not None
                    else []
                ),
                ("Node Limit For Feasibility Checks", config.node_limit_for_feasibility_checks),
                ("Modify Index", config.modify_index),
            ]
        )
    )
    return 0


COMMAND = Command(
    path="operator scheduler get-config",
    options=FormatOptions,
    run=run,
    usage="[options]",
    description="""
        Displays the current scheduler configuration.

        If ACLs are enabled, this command requires a token with the 'operator:read' capability.
    """,
)
