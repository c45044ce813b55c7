"""`yurt alloc checks`: the health checks of an allocation."""

from collections.abc import Sequence

from yurt.cli.arguments import one_argument
from yurt.cli.command import Command, Session
from yurt.cli.common_options import VerboseFormatOptions
from yurt.cli.errors import failing_as
from yurt.cli.lookup import find_alloc
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.times import absolute
from yurt.model.times import SECOND_NS
from yurt.sdk import allocs
from yurt.sdk.types.allocs import CheckResult


def run(session: Session, options: VerboseFormatOptions, arguments: Sequence[str]) -> int:
    """Show checks."""
    is_machine_output = wants_machine_output(options)
    alloc = find_alloc(session, one_argument(arguments, "<allocation>"))
    with failing_as("Error querying allocation checks"):
        answer = allocs.checks(session.client, alloc.id)
    if is_machine_output:
        show_record(session.console, options, answer.body)
        return 0
    found = sorted((answer.value or {}).values(), key=lambda check: (check.service, check.check, check.id))
    blocks = [f"Status of {len(found)} Nomad Service Checks", *(_record(check) for check in found)]
    session.console.output("\n\n".join(blocks) + ("" if found else "\n"))
    return 0


def _record(check: CheckResult) -> str:
    pairs: list[tuple[str, object]] = [
        ("ID", check.id),
        ("Name", check.check),
        ("Group", check.group),
        ("Task", check.task),
        ("Service", check.service),
        ("Status", check.status),
    ]
    if check.status_code:
        pairs.append(("StatusCode", check.status_code))
    pairs += [
        ("Mode", check.mode),
        ("Timestamp", absolute(check.timestamp * SECOND_NS)),
        ("Output", check.output),
    ]
    width = max(len(key) for key, _ in pairs)
    # Two blanks follow the sign in this one list; programs split at them.
    return "\n".join(f"{key.ljust(width)} =  {value or '<none>'}" for key, value in pairs)


COMMAND = Command(
    path="alloc checks",
    options=VerboseFormatOptions,
    run=run,
    usage="[options] <allocation>",
    description="""
        Outputs the latest health check status information for services in the allocation that the
        cluster checks itself.

        When ACLs are enabled, this command requires a token with the 'read-job' capability for the
        allocation's namespace.
    """,
)
