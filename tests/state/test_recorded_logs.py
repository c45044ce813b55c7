"""Logs of earlier versions replay to the State that they made then."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from tests.recordings.record_log import DIRECTORY, ENTRIES_FILE, STATE_FILE
from tests.state.comparing import assert_counts_agree, described, replayed
from yurt.state.entries import Entry, decode_entry

RECORDINGS = sorted(DIRECTORY.glob("log-*"))


def _entries(recording: Path) -> list[bytes]:
    return [base64.b64decode(line) for line in (recording / ENTRIES_FILE).read_text().splitlines()]


def _differences(found: Any, recorded: Any, where: str = "state") -> list[str]:
    """Where what was found differs from what was recorded; members that are new since then may be there."""
    if isinstance(found, dict) and isinstance(recorded, dict):
        gone = [f"{where}.{name} is gone" for name in recorded if name not in found]
        shared = [name for name in recorded if name in found]
        return gone + [
            difference
            for name in shared
            for difference in _differences(found[name], recorded[name], f"{where}.{name}")
        ]
    if isinstance(found, list) and isinstance(recorded, list) and len(found) == len(recorded):
        return [
            difference
            for place, (one, other) in enumerate(zip(found, recorded, strict=True))
            for difference in _differences(one, other, f"{where}[{place}]")
        ]
    return [] if found == recorded else [f"{where} is {found!r}, was {recorded!r}"]


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda recording: recording.name)
def test_a_recorded_log_replays_to_the_same_state(recording: Path) -> None:
    state = replayed(_entries(recording))
    found = json.loads(msgspec.json.encode(described(state)))
    recorded = json.loads((recording / STATE_FILE).read_text())
    assert _differences(found, recorded) == [], (
        "an earlier log means something else now; if it was never released, record it again "
        "(see tests/recordings/record_log.py)"
    )
    assert_counts_agree(state)


def test_every_kind_of_entry_is_recorded() -> None:
    kinds = {type(decode_entry(entry)) for recording in RECORDINGS for entry in _entries(recording)}
    missing = {kind.__name__ for kind in get_args(Entry)} - {kind.__name__ for kind in kinds}
    assert missing == set(), "record them (see tests/recordings/record_log.py)"
