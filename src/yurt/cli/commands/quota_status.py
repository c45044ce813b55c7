"""`yurt quota status`: one quota, and what is used of it."""

from collections.abc import Sequence

from yurt.cli.arguments import one_argument
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.namespace_choice import find_quota
from yurt.cli.options import FormatOptions
from yurt.cli.quota_view import device_table, limit_table, quota_keys
from yurt.sdk import quotas


def run(session: Session, options: FormatOptions, arguments: Sequence[str]) -> int:
    """Show a quota."""
    is_machine_output = wants_machine_output(options)
    quota = find_quota(session, one_argument(arguments, "<quota>"))
    with failing_as("Error retrieving quota usage"):
        if is_machine_output:
            show_record(session.console, options, quotas.read(session.client, quota.name).body)
            return 0
        usage = quotas.usage(session.client, quota.name).value
    session.console.output(quota_keys(quota))
    session.console.heading("Quota Limits")
    session.console.output(limit_table(quota, usage))
    devices = device_table(quota, usage)
    if devices:
        session.console.heading("Quota Device Limits")
        session.console.output(devices)
    return 0


COMMAND = Command(
    path="quota status",
    options=FormatOptions,
    run=run,
    usage="[options] <quota>",
    description="""
        Status is used to view the status of a particular quota: its limits and what is used of them.

        If ACLs are enabled, this command requires a token with the 'quota:read' capability.
    """,
)
