"""How the keys of the keyring are shown."""

from collections.abc import Sequence

from yurt.cli.layout import short_id, table
from yurt.cli.times import absolute
from yurt.sdk.operator import RootKey


def key_table(keys: Sequence[RootKey], *, verbose: bool) -> str:
    """List keys."""
    rows: list[list[object]] = [["Key", "State", "Create Time", "Publish Time"]]
    rows.extend(
        [
            short_id(key.key_id, verbose=verbose),
            key.state,
            absolute(key.create_time),
            absolute(key.publish_time),
        ]
        for key in keys
    )
    return table(rows)
