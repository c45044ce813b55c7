"""`yurt operator autopilot get-config`."""

from collections.abc import Sequence

from yurt.cli.arguments import no_arguments
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.layout import yes_no
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.options import FormatOptions
from yurt.sdk import operator


def run(session: Session, options: FormatOptions, arguments: Sequence[str]) -> int:
    """Show the autopilot configuration."""
    no_arguments(arguments)
    is_machine_output = wants_machine_output(options)
    with failing_as("Error querying Autopilot configuration"):
        answer = operator.autopilot_config(session.client)
    if is_machine_output:
        show_record(session.console, options, answer.body)
        return 0
    config = answer.value
    pairs = (
        ("CleanupDeadServers", yes_no(config.cleanup_dead_servers)),
        ("LastContactThreshold", config.last_contact_threshold),
        ("MaxTrailingLogs", config.max_trailing_logs),
        ("MinQuorum", config.min_quorum),
        ("ServerStabilizationTime", config.server_stabilization_time),
        ("EnableRedundancyZones", yes_no(config.enable_redundancy_zones)),
        ("DisableUpgradeMigration", yes_no(config.disable_upgrade_migration)),
        ("EnableCustomUpgrades", yes_no(config.enable_custom_upgrades)),
    )
    session.console.output("\n".join(f"{name} = {value}" for name, value in pairs))
    return 0


COMMAND = Command(
    path="operator autopilot get-config",
    options=FormatOptions,
    run=run,
    usage="[options]",
    description="""
        Displays the current Autopilot configuration.

        If ACLs are enabled, this command requires a token with the 'operator:read' capability.
    """,
)
