"""What of a changed configuration takes effect on SIGHUP."""

from collections.abc import Iterator

import msgspec

from yurt.config.blocks.agent import AgentConfig, FileConfig
from yurt.config.blocks.base import Block
from yurt.config.schema import Kind, keys_of

RELOADABLE = (
    "log_level",
    "tls",
    "server.num_schedulers",
    "server.enabled_schedulers",
    "server.raft_snapshot_threshold",
    "server.raft_snapshot_interval",
    "server.raft_trailing_logs",
)
"""Keys, or blocks with all they hold, that a running agent takes over."""


def reloadable_changes(old: AgentConfig, new: AgentConfig) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The changed keys that `reloaded` takes over, and those that need a restart."""
    changed = list(_changed_keys(FileConfig, old, new, ""))
    applied = tuple(key for key in changed if _is_reloadable(key))
    return applied, tuple(key for key in changed if key not in applied)


def reloaded(old: AgentConfig, new: AgentConfig) -> AgentConfig:
    """The configuration of a running agent after a reload: `old` with the reloadable keys of `new`."""
    server = msgspec.structs.replace(
        old.server,
        num_schedulers=new.server.num_schedulers,
        enabled_schedulers=new.server.enabled_schedulers,
        raft_snapshot_threshold=new.server.raft_snapshot_threshold,
        raft_snapshot_interval_s=new.server.raft_snapshot_interval_s,
        raft_trailing_logs=new.server.raft_trailing_logs,
    )
    return msgspec.structs.replace(old, log_level=new.log_level, tls=new.tls, server=server)


def _changed_keys(block: type[Block], old: Block, new: Block, prefix: str) -> Iterator[str]:
    for spec in keys_of(block).values():
        before, after = getattr(old, spec.field), getattr(new, spec.field)
        if before == after:
            continue
        if spec.kind is Kind.BLOCK and spec.block and before is not None and after is not None:
            yield from _changed_keys(spec.block, before, after, f"{prefix}{spec.key}.")
        else:
            yield f"{prefix}{spec.key}"


def _is_reloadable(key: str) -> bool:
    return any(key == name or key.startswith(f"{name}.") for name in RELOADABLE)
