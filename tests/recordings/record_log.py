"""Record a log of this version of Yurt, and the State that it makes.

    .venv/bin/python -m tests.recordings.record_log log-v1

A release must replay the logs of the releases before it to the same State, so recordings of released
versions stay as they are. Before a release, record again when entries or their meaning have changed.
"""

from __future__ import annotations

import base64
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

from tests.state.acl_history import acl_history
from tests.state.builders import Cluster
from tests.state.claim_history import claim_history
from tests.state.comparing import described
from tests.state.entry_maker import EntryMaker, RandomChoices
from tests.state.simple_history import simple_history
from tests.state.volume_history import volume_history
from yurt.state.entries import Entry

DIRECTORY = Path(__file__).parent
ENTRIES_FILE = "entries.txt"
STATE_FILE = "state.json"
SEED = 1
ENTRIES_AT_RANDOM = 60


def history() -> Cluster:
    """A cluster to which every kind of entry was applied, most of them to something that is there."""
    cluster = Cluster()
    maker = EntryMaker(cluster, RandomChoices(SEED))
    for _ in range(4):
        cluster.apply(maker.register_node())
        cluster.apply(maker.register_job())
    once: list[Callable[[], Entry]] = [maker.commit_plan, maker.report_allocs, *dict.fromkeys(maker.makers)]
    for make in once * 2:
        cluster.apply(make())
    for _ in range(ENTRIES_AT_RANDOM):
        cluster.apply(maker.entry())
    return cluster


# What each recording tells.
HISTORIES: dict[str, Callable[[], Cluster]] = {
    "log-v1": history,
    "log-v1-acl": acl_history,
    "log-v2": history,
    "log-v1-simple": simple_history,
    "log-v1-volumes": volume_history,
    "log-v1-claims": claim_history,
}


def record(name: str) -> None:
    """Write a recording, one entry a line."""
    cluster = HISTORIES[name]()
    target = DIRECTORY / name
    target.mkdir(exist_ok=True)
    lines = [base64.b64encode(entry).decode() for entry in cluster.encoded]
    (target / ENTRIES_FILE).write_text("\n".join(lines) + "\n")
    state = msgspec.json.format(msgspec.json.encode(described(cluster.state)), indent=1)
    (target / STATE_FILE).write_bytes(state + b"\n")


if __name__ == "__main__":
    record(sys.argv[1])
