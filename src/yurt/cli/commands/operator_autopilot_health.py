"""`yurt operator autopilot health`: how the servers fare."""

from collections.abc import Sequence

from yurt.cli.arguments import no_arguments
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.layout import table, yes_no
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.options import FormatOptions
from yurt.sdk import ApiError, operator
from yurt.sdk.operator import ClusterHealth
from yurt.sdk.wire import decode


def run(session: Session, options: FormatOptions, arguments: Sequence[str]) -> int:
    """Show the servers' health."""
    no_arguments(arguments)
    is_machine_output = wants_machine_output(options)
    with failing_as("Error checking Autopilot health"):
        status, _, body = operator.cluster_health(session.client)
        # An unhealthy cluster is an answer, too.
        if status >= 400 and status != 429:
            raise ApiError(status, body.decode(errors="replace"))
    if options.json:
        # One line, as it comes: that is how scripts have always got it.
        session.console.output(body.decode(errors="replace").strip())
    elif is_machine_output:
        show_record(session.console, options, body)
    else:
        session.console.output(_text(decode(body, ClusterHealth)))
    return 0


def _text(health: ClusterHealth) -> str:
    lines = [
        f"Healthy: {yes_no(health.healthy)}",
        f"FailureTolerance: {health.failure_tolerance}",
        f"Leader: {health.leader}",
        "Voters:",
        *(f"\t{voter}" for voter in health.voters),
        "Servers:",
    ]
    header: list[object] = ["ID", "Name", "Address", "SerfStatus", "Version", "Leader", "Voter", "Healthy"]
    rows = [[*header, "LastContact", "LastTerm", "LastIndex", "StableSince"]]
    rows.extend(
        [
            server.id,
            server.name,
            server.address,
            server.serf_status,
            server.version,
            server.leader,
            server.voter,
            server.healthy,
            server.last_contact,
            server.last_term,
            server.last_index,
            server.stable_since,
        ]
        for server in health.servers
    )
    return "\n".join(lines) + "\n" + table(rows)


COMMAND = Command(
    path="operator autopilot health",
    options=FormatOptions,
    run=run,
    usage="[options]",
    description="""
        Displays the current Autopilot state: the health of the servers and how many may fail.

        If ACLs are enabled, this command requires a token with the 'operator:read' capability.
    """,
)
