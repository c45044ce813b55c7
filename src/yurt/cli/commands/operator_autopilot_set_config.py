"""`yurt operator autopilot set-config`: change how dead servers are dealt with."""

import json
from collections.abc import Sequence
from typing import Annotated, Any

from yurt.cli.arguments import no_arguments
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.options import Flag, GeneralOptions
from yurt.model.durations import duration_text
from yurt.sdk import operator

FIELDS = {
    "cleanup_dead_servers": "CleanupDeadServers",
    "max_trailing_logs": "MaxTrailingLogs",
    "min_quorum": "MinQuorum",
    "enable_redundancy_zones": "EnableRedundancyZones",
    "disable_upgrade_migration": "DisableUpgradeMigration",
    "enable_custom_upgrades": "EnableCustomUpgrades",
}
DURATION_FIELDS = {
    "last_contact_threshold": "LastContactThreshold",
    "server_stabilization_time": "ServerStabilizationTime",
}


class Options(GeneralOptions, frozen=True, kw_only=True):
    """The flags of `operator autopilot set-config`; what is not given stays as it is."""

    cleanup_dead_servers: Annotated[
        bool | None, Flag("cleanup-dead-servers", "Remove dead servers when new ones join.")
    ] = None
    last_contact_threshold: Annotated[
        int | None,
        Flag("last-contact-threshold", "How long a server may be silent.", "<duration>", form="duration"),
    ] = None
    max_trailing_logs: Annotated[
        int | None, Flag("max-trailing-logs", "How far a server may lag behind.", "<n>")
    ] = None
    min_quorum: Annotated[
        int | None, Flag("min-quorum", "How many servers must stay when dead ones are removed.", "<n>")
    ] = None
    server_stabilization_time: Annotated[
        int | None,
        Flag(
            "server-stabilization-time",
            "How long a server must be well before it votes.",
            "<duration>",
            form="duration",
        ),
    ] = None
    enable_redundancy_zones: Annotated[
        bool | None, Flag("enable-redundancy-zones", "Keep one voter for each zone.")
    ] = None
    disable_upgrade_migration: Annotated[
        bool | None, Flag("disable-upgrade-migration", "Let servers of a new version vote at once.")
    ] = None
    enable_custom_upgrades: Annotated[
        bool | None, Flag("enable-custom-upgrades", "Compare configured versions instead of the program's.")
    ] = None


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Change the autopilot configuration."""
    no_arguments(arguments)
    with failing_as("Error querying Autopilot configuration"):
        config: dict[str, Any] = json.loads(operator.autopilot_config(session.client).body)
    for field, name in {**FIELDS, **DURATION_FIELDS}.items():
        value = getattr(options, field)
        if value is not None:
            config[name] = duration_text(value) if field in DURATION_FIELDS else value
    with failing_as("Error setting Autopilot configuration"):
        operator.set_autopilot_config(session.client, config)
    session.console.output("Configuration updated!")
    return 0


COMMAND = Command(
    path="operator autopilot set-config",
    options=Options,
    run=run,
    usage="[options]",
    description="""
        Modifies the current Autopilot configuration. Only the settings that are given change.

        If ACLs are enabled, this command requires a token with the 'operator:write' capability.
    """,
)
