"""`yurt scaling policy list`."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.arguments import no_arguments
from yurt.cli.command import Command, Session
from yurt.cli.common_options import VerboseFormatOptions
from yurt.cli.errors import failing_as
from yurt.cli.layout import short_id, table
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.options import Flag
from yurt.sdk import scaling
from yurt.sdk.scaling import ScalingPolicy


class Options(VerboseFormatOptions, frozen=True, kw_only=True):
    """The flags of `scaling policy list`."""

    job: Annotated[str, Flag("job", "Only show policies of this job.", "<job-id>")] = ""
    type: Annotated[str, Flag("type", "Only show policies of this type.", "<type>")] = ""


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """List scaling policies."""
    no_arguments(arguments)
    is_machine_output = wants_machine_output(options)
    with failing_as("Error listing scaling policies"):
        answer = scaling.listing(session.client, job=options.job, type=options.type)
    if is_machine_output:
        show_record(session.console, options, answer.body)
    elif answer.value:
        session.console.output(policy_table(answer.value, verbose=options.verbose))
    else:
        session.console.output("No policies found")
    return 0


def policy_table(policies: Sequence[ScalingPolicy], *, verbose: bool) -> str:
    """List policies by what they scale."""
    rows: list[list[object]] = [["ID", "Enabled", "Type", "Target"]]
    rows.extend(
        [short_id(policy.id, verbose=verbose), policy.enabled, policy.type, target_text(policy)]
        for policy in sorted(policies, key=target_text)
    )
    return table(rows)


def target_text(policy: ScalingPolicy) -> str:
    """What a policy scales, the widest scope first."""
    names = sorted(policy.target, key=lambda name: _SCOPES.index(name) if name in _SCOPES else len(_SCOPES))
    return ",".join(f"{name}:{policy.target[name]}" for name in names)


_SCOPES = ("Namespace", "Job", "Group", "Task")

COMMAND = Command(
    path="scaling policy list",
    options=Options,
    run=run,
    usage="[options]",
    description="""
        List is used to list the currently configured scaling policies.

        When ACLs are enabled, this command requires a token with the 'list-scaling-policies' capability
        for the policies' namespace, or 'read-job' and 'list-jobs'.
    """,
)
