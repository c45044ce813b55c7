"""`yurt namespace inspect`: one namespace as JSON."""

import json
from collections.abc import Sequence

from yurt.cli.arguments import one_argument
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.machine_output import show_value, wants_machine_output
from yurt.cli.namespace_choice import find_namespace
from yurt.cli.options import FormatOptions
from yurt.sdk import namespaces


def run(session: Session, options: FormatOptions, arguments: Sequence[str]) -> int:
    """Show a namespace."""
    wants_machine_output(options)
    namespace = find_namespace(session, one_argument(arguments, "<namespace>"))
    with failing_as("Error retrieving namespace"):
        record = json.loads(namespaces.read(session.client, namespace.name).body)
    # The hash is the servers' own affair.
    record.pop("Hash", None)
    show_value(session.console, options, record)
    return 0


COMMAND = Command(
    path="namespace inspect",
    options=FormatOptions,
    run=run,
    usage="[options] <namespace>",
    description="""
        Inspect is used to view raw information about a particular namespace.

        If ACLs are enabled, this command requires a management ACL token or a token that has a capability
        associated with the namespace.
    """,
)
