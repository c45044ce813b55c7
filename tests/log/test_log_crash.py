"""An agent killed while it appends loses nothing that it acknowledged."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

from tests.log.logs import read_all
from yurt.log import SqliteLog

KILLS = 20

# Appends without end and prints each entry that was acknowledged; compacts now and then.
APPENDER = """
import asyncio, hashlib, os, random, sys
from pathlib import Path
from yurt.log import SqliteLog

async def main():
    rng = random.Random(sys.argv[2])
    log = await SqliteLog.open(Path(sys.argv[1]))

    async def append():
        while True:
            entries = [rng.randbytes(rng.choice([1, 100, 3000, 20000])) for _ in range(rng.choice([1, 1, 4]))]
            first = await log.append(entries, lambda first: None)
            lines = [f"{first + at} {hashlib.sha256(e).hexdigest()}\\n" for at, e in enumerate(entries)]
            os.write(1, "".join(lines).encode())

    async def compact():
        while True:
            await asyncio.sleep(0.01)
            await log.compact(max(0, log.last_index - 200))

    await asyncio.gather(compact(), *(append() for _ in range(8)))

asyncio.run(main())
"""


def kill_after(directory: Path, acknowledgements: int, seed: int) -> dict[int, str]:
    """Run an appender, kill it after so many acknowledgements, and return all that it printed."""
    command = [sys.executable, "-c", APPENDER, str(directory), str(seed)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as appender:
        assert appender.stdout is not None
        lines = [appender.stdout.readline() for _ in range(acknowledgements)]
        appender.kill()
        lines += appender.stdout.readlines()
    # The last line may be cut: whoever reads it cannot know that it was an acknowledgement.
    whole = [line.split() for line in lines if line.endswith(b"\n")]
    return {int(index): digest.decode() for index, digest in whole}


async def test_acknowledged_entries_survive_kill_9(tmp_path: Path) -> None:
    acknowledged: dict[int, str] = {}
    for kill in range(KILLS):
        news = kill_after(tmp_path, 1 + 37 * kill % 300, seed=kill)
        assert not acknowledged.keys() & news.keys()
        acknowledged |= news
        log = await SqliteLog.open(tmp_path)
        kept = {index: hashlib.sha256(payload).hexdigest() for index, payload in read_all(log)}
        assert list(kept) == list(range(log.first_index, log.last_index + 1))
        assert log.last_index >= max(acknowledged)
        expected = {index: digest for index, digest in acknowledged.items() if index >= log.first_index}
        assert {index: kept[index] for index in expected} == expected
        await log.close()
