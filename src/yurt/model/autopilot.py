"""How the servers look after each other."""

from __future__ import annotations

from yurt.model.wire import Wire


class AutopilotConfiguration(Wire, frozen=True, kw_only=True):
    """How the servers look after each other. Durations are texts here, as nowhere else."""

    cleanup_dead_servers: bool = True
    last_contact_threshold: str = "200ms"
    max_trailing_logs: int = 250
    min_quorum: int = 0
    server_stabilization_time: str = "10s"
    enable_redundancy_zones: bool = False
    disable_upgrade_migration: bool = False
    enable_custom_upgrades: bool = False
    create_index: int = 0
    modify_index: int = 0
