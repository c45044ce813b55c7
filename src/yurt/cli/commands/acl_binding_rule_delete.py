"""`yurt acl binding-rule delete`."""

from collections.abc import Sequence

from yurt.cli.arguments import one_argument
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.options import GeneralOptions
from yurt.sdk import acl


def run(session: Session, _options: GeneralOptions, arguments: Sequence[str]) -> int:
    """Delete a binding rule."""
    rule_id = one_argument(arguments, "<acl_binding_rule_id>")
    with failing_as("Error deleting ACL binding rule"):
        acl.delete_binding_rule(session.client, rule_id)
    session.console.output(f"ACL binding rule {rule_id} successfully deleted")
    return 0


COMMAND = Command(
    path="acl binding-rule delete",
    options=GeneralOptions,
    run=run,
    usage="[options] <acl_binding_rule_id>",
    description="""
        Delete is used to delete an existing ACL binding rule. Use requires a management token.
    """,
)
