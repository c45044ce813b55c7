"""`yurt acl binding-rule create`."""

from collections.abc import Sequence
from typing import Annotated, Any

from yurt.cli.arguments import no_arguments
from yurt.cli.auth_view import binding_rule_record
from yurt.cli.command import Command, Session
from yurt.cli.errors import CommandError, failing_as
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.options import Flag, FormatOptions
from yurt.sdk import acl


class RuleOptions(FormatOptions, frozen=True, kw_only=True):
    """The flags that describe a binding rule."""

    description: Annotated[str, Flag("description", "What the rule is for.", "<text>")] = ""
    selector: Annotated[str, Flag("selector", "Which logins the rule is for.", "<expression>")] = ""
    bind_type: Annotated[str, Flag("bind-type", "role, policy or management.", "<type>")] = ""
    bind_name: Annotated[str, Flag("bind-name", "The role or policy that a login gets.", "<name>")] = ""


class Options(RuleOptions, frozen=True, kw_only=True):
    """The flags of `acl binding-rule create`."""

    auth_method: Annotated[str, Flag("auth-method", "The auth method of the logins. Required.", "<name>")] = (
        ""
    )


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Create a binding rule."""
    no_arguments(arguments)
    is_machine_output = wants_machine_output(options)
    if not options.auth_method:
        raise CommandError("ACL binding rule auth method must be specified using the -auth-method flag")
    if not options.bind_type:
        raise CommandError("ACL binding rule bind type must be specified using the -bind-type flag")
    rule = {"AuthMethod": options.auth_method, **described(options)}
    with failing_as("Error creating ACL binding rule"):
        answer = acl.write_binding_rule(session.client, rule)
    if is_machine_output:
        show_record(session.console, options, answer.body)
    else:
        session.console.output(binding_rule_record(answer.value))
    return 0


def described(options: RuleOptions) -> dict[str, Any]:
    """The members that flags give."""
    rule = {
        "Description": options.description,
        "Selector": options.selector,
        "BindType": options.bind_type,
        "BindName": options.bind_name,
    }
    return {name: value for name, value in rule.items() if value}


COMMAND = Command(
    path="acl binding-rule create",
    options=Options,
    run=run,
    usage="[options]",
    description="""
        Create is used to create new ACL binding rules. Use requires a management token.
    """,
)
