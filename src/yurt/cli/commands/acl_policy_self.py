"""`yurt acl policy self`."""

from collections.abc import Sequence

from yurt.cli.arguments import no_arguments
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.layout import table
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.options import FormatOptions
from yurt.sdk import acl
from yurt.sdk.types.acl import JobAcl

UNAVAILABLE = "<unavailable>"


def run(session: Session, options: FormatOptions, arguments: Sequence[str]) -> int:
    """List the policies of the token in use."""
    no_arguments(arguments)
    is_machine_output = wants_machine_output(options)
    with failing_as("Error fetching WI policies"):
        answer = acl.own_policies(session.client)
    if is_machine_output:
        show_record(session.console, options, answer.body)
    elif answer.value is None:
        session.console.output("This is a management token. No individual policies are assigned.")
    else:
        rows: list[list[object]] = [["Name", "Job ID", "Group Name", "Task Name"]]
        for policy in answer.value:
            bound = policy.job_acl or JobAcl()
            names = (bound.job_id, bound.group, bound.task)
            rows.append([policy.name, *(name or UNAVAILABLE for name in names)])
        session.console.output(table(rows))
    return 0


COMMAND = Command(
    path="acl policy self",
    options=FormatOptions,
    run=run,
    usage="[options]",
    description="""
        Self is used to fetch information about the policies assigned to the current workload identity or
        token.
    """,
)
