"""`yurt scaling policy info`: one scaling policy."""

from collections.abc import Sequence

from yurt.cli.arguments import one_argument
from yurt.cli.command import Command, Session
from yurt.cli.commands.scaling_policy_list import policy_table, target_text
from yurt.cli.common_options import VerboseFormatOptions
from yurt.cli.errors import CommandError, failing_as
from yurt.cli.layout import key_list, short_id
from yurt.cli.machine_output import json_text, show_record, wants_machine_output
from yurt.sdk import scaling


def run(session: Session, options: VerboseFormatOptions, arguments: Sequence[str]) -> int:
    """Show a scaling policy."""
    is_machine_output = wants_machine_output(options)
    if not arguments and is_machine_output:
        with failing_as("Error listing scaling policies"):
            show_record(session.console, options, scaling.listing(session.client).body)
        return 0
    text = one_argument(arguments, "<policy_id>")
    with failing_as("Error querying scaling policy"):
        found = scaling.listing(session.client, prefix=text).value
    if not found:
        raise CommandError(f'No scaling policies with prefix or id "{text}" found')
    if len(found) > 1:
        candidates = policy_table(found, verbose=options.verbose)
        raise CommandError(f"Prefix matched multiple scaling policies\n\n{candidates}")
    with failing_as("Error querying scaling policy"):
        answer = scaling.read(session.client, found[0].id)
    if is_machine_output:
        show_record(session.console, options, answer.body)
        return 0
    policy = answer.value
    keys = key_list(
        [
            ("ID", short_id(policy.id, verbose=options.verbose)),
            ("Enabled", policy.enabled),
            ("Target", target_text(policy)),
            ("Min", policy.min),
            ("Max", policy.max),
        ]
    )
    document = json_text(policy.policy) if policy.policy else "<empty>"
    session.console.output(f"{keys}\n\n{session.console.bold('Policy:')}\n{document}")
    return 0


COMMAND = Command(
    path="scaling policy info",
    options=VerboseFormatOptions,
    run=run,
    usage="[options] <policy_id>",
    description="""
        Info is used to return detailed information on the specified scaling policy.

        When ACLs are enabled, this command requires a token with the 'read-scaling-policy' capability for
        the policy's namespace, or 'read-job' and 'list-jobs'.
    """,
)
