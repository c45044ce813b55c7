"""`yurt acl policy info`."""

from collections.abc import Sequence

from yurt.cli.arguments import one_argument
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.layout import key_list
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.options import FormatOptions
from yurt.sdk import acl


def run(session: Session, options: FormatOptions, arguments: Sequence[str]) -> int:
    """Show a policy and its rules."""
    name = one_argument(arguments, "<name>")
    is_machine_output = wants_machine_output(options)
    with failing_as("Error fetching info on ACL policy"):
        answer = acl.read_policy(session.client, name)
    policy, console = answer.value, session.console
    if is_machine_output:
        show_record(console, options, answer.body)
        return 0
    console.output(
        key_list(
            [
                ("Name", policy.name),
                ("Description", policy.description),
                ("CreateIndex", policy.create_index),
                ("ModifyIndex", policy.modify_index),
            ]
        )
    )
    if policy.job_acl is not None:
        console.heading("Associated Workload")
        console.output(
            key_list(
                [
                    ("Namespace", policy.job_acl.namespace),
                    ("JobID", policy.job_acl.job_id),
                    ("Group", policy.job_acl.group),
                    ("Task", policy.job_acl.task),
                ]
            )
        )
    console.heading("Rules")
    console.output(f"\n{policy.rules}")
    return 0


COMMAND = Command(
    path="acl policy info",
    options=FormatOptions,
    run=run,
    usage="[options] <name>",
    description="""
        Info is used to fetch information on an existing ACL policy.

        This command requires a management ACL token or a token that has the associated policy.
    """,
)
