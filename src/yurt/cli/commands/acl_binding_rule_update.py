"""`yurt acl binding-rule update`."""

import json
from collections.abc import Sequence
from typing import Annotated, Any

from yurt.cli.arguments import one_argument
from yurt.cli.auth_view import binding_rule_record
from yurt.cli.command import Command, Session
from yurt.cli.commands.acl_binding_rule_create import RuleOptions, described
from yurt.cli.errors import failing_as
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.options import Flag
from yurt.sdk import acl


class Options(RuleOptions, frozen=True, kw_only=True):
    """The flags of `acl binding-rule update`."""

    no_merge: Annotated[bool, Flag("no-merge", "Replace the rule instead of changing what is given.")] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Change a binding rule."""
    rule_id = one_argument(arguments, "<acl_binding_rule_id>")
    is_machine_output = wants_machine_output(options)
    with failing_as("Error reading ACL binding rule"):
        current: dict[str, Any] = json.loads(acl.read_binding_rule(session.client, rule_id).body)
    kept = {"ID": rule_id, "AuthMethod": current["AuthMethod"]} if options.no_merge else current
    with failing_as("Error updating ACL binding rule"):
        answer = acl.write_binding_rule(session.client, {**kept, **described(options)}, rule_id)
    if is_machine_output:
        show_record(session.console, options, answer.body)
    else:
        session.console.output(binding_rule_record(answer.value))
    return 0


COMMAND = Command(
    path="acl binding-rule update",
    options=Options,
    run=run,
    usage="[options] <acl_binding_rule_id>",
    description="""
        Update is used to update an existing ACL binding rule. Use requires a management token.
    """,
)
