"""Reads of one server: single jobs, long lists, filters, and what they do to its loop."""

from __future__ import annotations

import http.client
import socket
import time
from urllib.parse import quote

from benchmarks.api.served import STALL_PATH, served_process
from benchmarks.http_load import load, request
from tests.support.real_agent import cpu_seconds

NODES = 1_000
JOBS = 100
ALLOCS = 100_000
READS = 20_000
CONNECTIONS = 8
READ_BYTES = 2**20
FILTER = 'ClientStatus == "running" and JobID matches "^job-7$"'
# Matches nothing, so that only looking is timed.
FILTER_NOTHING = 'ClientStatus == "failed"'

TARGETS = {
    "job_reads_per_server_cpu_s": ">= 6000",
    "list_100000_allocations_s": "<= 1",
    "list_100000_worst_stall_ms": "<= 50",
    "filter_100000_allocations_ms": "<= 300",
}


def run() -> dict[str, float]:
    """Measure a server with a hundred thousand allocations."""
    with served_process(nodes=NODES, jobs=JOBS, per_job=ALLOCS // JOBS) as served:
        reads = [request("GET", f"/v1/job/job-{n % JOBS}") for n in range(READS)]
        load("127.0.0.1", served.port, reads[:2000], CONNECTIONS)
        used = cpu_seconds(served.pid)
        answered = load("127.0.0.1", served.port, reads, CONNECTIONS)
        used = cpu_seconds(served.pid) - used
        assert not answered.failures
        figures = {
            "job_reads_per_server_cpu_s": READS / used,
            "job_reads_per_s": answered.per_second,
            "job_reads_p50_ms": answered.percentile_ms(0.5),
            "job_reads_p99_ms": answered.percentile_ms(0.99),
        }
        _stall_ms(served.port)
        used = cpu_seconds(served.pid)
        whole_s, first_s, size = _timed(served.port, "/v1/allocations")
        figures |= {
            "list_100000_allocations_s": whole_s,
            "list_100000_first_byte_ms": first_s * 1e3,
            "list_100000_server_cpu_s": cpu_seconds(served.pid) - used,
            "list_100000_mib": size / 2**20,
            "list_100000_worst_stall_ms": _stall_ms(served.port),
        }
        for name, expression in (
            ("filter_100000_allocations_ms", FILTER_NOTHING),
            ("filter_regex_100000_ms", FILTER),
        ):
            used = cpu_seconds(served.pid)
            best = min(
                _timed(served.port, f"/v1/allocations?filter={quote(expression)}")[0] for _ in range(3)
            )
            figures[name] = best * 1e3
            figures[name.replace("_ms", "_server_cpu_ms")] = (cpu_seconds(served.pid) - used) / 3 * 1e3
        figures["filter_100000_worst_stall_ms"] = _stall_ms(served.port)
        return figures


def _timed(port: int, path: str) -> tuple[float, float, int]:
    """Seconds to the last and to the first byte of an answer, and its size; read by a light client."""
    buffer = bytearray(READ_BYTES)
    began = time.perf_counter()
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n\r\n".encode())
        size = connection.recv_into(buffer)
        first_s = time.perf_counter() - began
        assert buffer.startswith(b"HTTP/1.1 200"), bytes(buffer[:200])
        while count := connection.recv_into(buffer):
            size += count
    return time.perf_counter() - began, first_s, size


def _stall_ms(port: int) -> float:
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("GET", STALL_PATH)
    return float(connection.getresponse().read())
