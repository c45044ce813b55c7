"""`yurt quota inspect`: one quota and its use as JSON."""

import json
from collections.abc import Sequence

from yurt.cli.arguments import one_argument
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.machine_output import show_value, wants_machine_output
from yurt.cli.namespace_choice import find_quota
from yurt.cli.options import FormatOptions
from yurt.sdk import quotas


def run(session: Session, options: FormatOptions, arguments: Sequence[str]) -> int:
    """Show a quota."""
    wants_machine_output(options)
    quota = find_quota(session, one_argument(arguments, "<quota>"))
    with failing_as("Error retrieving quota"):
        record = {
            "Spec": json.loads(quotas.read(session.client, quota.name).body),
            "Usage": json.loads(quotas.usage(session.client, quota.name).body),
        }
    show_value(session.console, options, record)
    return 0


COMMAND = Command(
    path="quota inspect",
    options=FormatOptions,
    run=run,
    usage="[options] <quota>",
    description="""
        Inspect is used to view raw information about a particular quota, and what is used of it.

        If ACLs are enabled, this command requires a token with the 'quota:read' capability.
    """,
)
