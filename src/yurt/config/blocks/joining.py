"""How an agent finds the servers of its cluster: `server_join`."""

from yurt.config.blocks.base import Block, Count, Seconds


class JoinConfig(Block, frozen=True, kw_only=True):
    """`server_join`: `retry_max` 0 means forever."""

    start_join: tuple[str, ...] = ()
    retry_join: tuple[str, ...] = ()
    retry_max: Count = 0
    retry_interval_s: Seconds = 30.0


JOIN_ALIASES = {
    key: f"server_join.{key}" for key in ("start_join", "retry_join", "retry_max", "retry_interval")
}
"""The keys of `server_join` may also stand in its parent."""
