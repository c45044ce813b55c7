"""`yurt acl binding-rule info`."""

from collections.abc import Sequence

from yurt.cli.arguments import one_argument
from yurt.cli.auth_view import binding_rule_record
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.options import FormatOptions
from yurt.sdk import acl


def run(session: Session, options: FormatOptions, arguments: Sequence[str]) -> int:
    """Show a binding rule."""
    rule_id = one_argument(arguments, "<acl_binding_rule_id>")
    is_machine_output = wants_machine_output(options)
    with failing_as("Error reading ACL binding rule"):
        answer = acl.read_binding_rule(session.client, rule_id)
    if is_machine_output:
        show_record(session.console, options, answer.body)
    else:
        session.console.output(binding_rule_record(answer.value))
    return 0


COMMAND = Command(
    path="acl binding-rule info",
    options=FormatOptions,
    run=run,
    usage="[options] <acl_binding_rule_id>",
    description="""
        Info is used to fetch information on an existing ACL binding rule. Requires a management token.
    """,
)
