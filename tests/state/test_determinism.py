"""The same entries make the same State in every process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec

from tests.state.builders import Cluster
from tests.state.entry_maker import EntryMaker, RandomChoices

ROOT = Path(__file__).parents[2]
SEED, STEPS = 42, 250

REPLAY = """
import hashlib, sys, msgspec
from tests.state.comparing import described, replayed
from yurt.state.snapshot import dump
entries = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=list[bytes])
state = replayed(entries)
print(hashlib.sha256(msgspec.json.encode(described(state))).hexdigest())
print(hashlib.sha256(b"".join(dump(state))).hexdigest())
"""


def _replay_elsewhere(entries: bytes, hash_seed: int) -> str:
    env = {**os.environ, "PYTHONHASHSEED": str(hash_seed), "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    done = subprocess.run(
        [sys.executable, "-c", REPLAY], input=entries, env=env, capture_output=True, check=True
    )
    return done.stdout.decode()


def test_replay_does_not_depend_on_the_order_of_hashes() -> None:
    cluster = Cluster()
    maker = EntryMaker(cluster, RandomChoices(SEED))
    for _ in range(STEPS):
        cluster.apply(maker.entry())
    entries = msgspec.msgpack.encode(cluster.encoded)
    assert _replay_elsewhere(entries, 0) == _replay_elsewhere(entries, 12345)
