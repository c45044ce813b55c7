"""Time durable appends of the SQLite log, beside what plain SQLite does on the same disk."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
import tempfile
import time
from pathlib import Path
from statistics import median

import uvloop

from yurt.log import SqliteLog

APPENDERS = 64
ENTRY_BYTES = 1024
ROUNDS = 7
ROUND_S = 1.0
BUDGET_RATIO = 0.8  # of the rate of plain SQLite in a tight loop


def run() -> dict[str, float]:
    """Return appends a second by 64 concurrent appenders, and the rate of bare transactions of that size.

    The two take turns, and medians count: a disk's speed drifts while it is measured.
    """
    log_rates, raw_rates, batches = [], [], []
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory(prefix="yurt-bench-") as directory:
            log_rate, batch = uvloop.run(_log_rate(Path(directory) / "log"))
            log_rates.append(log_rate)
            batches.append(batch)
            raw_rates.append(_raw_rate(Path(directory) / "raw.db", batch=round(batch)))
    return {
        "log_appends_per_s": median(log_rates),
        "log_appends_per_commit": median(batches),
        "raw_sqlite_appends_per_s": median(raw_rates),
        "ratio": median(log / raw for log, raw in zip(log_rates, raw_rates, strict=True)),
    }


async def _log_rate(directory: Path) -> tuple[float, float]:
    log = await SqliteLog.open(directory)
    payload = os.urandom(ENTRY_BYTES)
    done = 0

    def count(_index: int) -> None:
        nonlocal done
        done += 1

    async def append_until(end: float) -> None:
        while time.perf_counter() < end:
            await log.append([payload], count)

    start = time.perf_counter()
    await asyncio.gather(*(append_until(start + ROUND_S) for _ in range(APPENDERS)))
    rate = done / (time.perf_counter() - start)
    batch = done / log.commits
    await log.close()
    return rate, batch


def _raw_rate(path: Path, *, batch: int) -> float:
    payload = os.urandom(ENTRY_BYTES)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("CREATE TABLE entries (id INTEGER PRIMARY KEY, crc INTEGER, payload BLOB)")
        done = 0
        start = time.perf_counter()
        while time.perf_counter() < start + ROUND_S:
            connection.execute("BEGIN")
            rows = [(index, 0, payload) for index in range(done, done + batch)]
            connection.executemany("INSERT INTO entries VALUES (?, ?, ?)", rows)
            connection.execute("COMMIT")
            done += batch
        return done / (time.perf_counter() - start)


def main() -> None:
    result = run()
    for name, value in result.items():
        print(f"{name:30} {value:12,.2f}")
    print("within budget" if result["ratio"] >= BUDGET_RATIO else f"BELOW the budget of {BUDGET_RATIO}")


if __name__ == "__main__":
    main()
