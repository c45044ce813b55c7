"""How many nodes a mixed workload takes: all nodes looked at, a sample of them, and the least possible."""

from __future__ import annotations

from math import ceil, log2
from random import Random
from typing import NamedTuple

from benchmarks.scheduler.cluster import a_cluster, a_job, place
from yurt.model.resources import Resources
from yurt.scheduler.view import View

NODES = 2_000
CPU_MHZ, MEMORY_MB = 4_000, 8_192
INSTANCES = 6_000
# CPU and memory of what is asked for: small, even, hungry for CPU, hungry for memory, large.
SHAPES = ((100, 128), (500, 1_024), (1_500, 512), (300, 3_000), (1_900, 3_800))
TARGETS = {"nodes_over_sampling": "<= 1"}


class _Ask(NamedTuple):
    cpu: int
    memory: int


def run() -> dict[str, float]:
    """Return nodes in use once all instances are placed, one after the other, on alike and empty nodes."""
    rng = Random(7)
    asks = [_Ask(*rng.choice(SHAPES)) for _ in range(INSTANCES)]
    used, sampled = _placed(asks), _sampled(asks, rng)
    least = max(
        ceil(sum(ask.cpu for ask in asks) / CPU_MHZ), ceil(sum(ask.memory for ask in asks) / MEMORY_MB)
    )
    return {
        "nodes": used,
        "nodes_with_sampling": sampled,
        "nodes_least_possible": least,
        "nodes_over_least_possible": used / least,
        "nodes_over_sampling": used / sampled,
    }


def _placed(asks: list[_Ask]) -> int:
    view = View(a_cluster(NODES, sizes=(1,), allocs_per_node=0))
    nodes = set()
    for number, ask in enumerate(asks):
        job = a_job(f"job-{number}", resources=Resources(cpu=ask.cpu, memory_mb=ask.memory))
        (placed,) = place(view, job, 1, seed=number).placed
        nodes.add(placed.node_id)
    return len(nodes)


def _sampled(asks: list[_Ask], rng: Random) -> int:
    """The same workload, each instance on the fullest of log2(nodes) nodes with room, met in random order."""
    cpu, memory = [0] * NODES, [0] * NODES
    for ask in asks:
        best, best_score, met = -1, -1.0, 0
        for node in rng.sample(range(NODES), NODES):
            after_cpu, after_memory = cpu[node] + ask.cpu, memory[node] + ask.memory
            if after_cpu > CPU_MHZ or after_memory > MEMORY_MB:
                continue
            met += 1
            emptiness = 10 ** (1 - after_cpu / CPU_MHZ) + 10 ** (1 - after_memory / MEMORY_MB)
            if 20 - emptiness > best_score:
                best, best_score = node, 20 - emptiness
            if met == ceil(log2(NODES)):
                break
        assert best >= 0, "there is room for all"
        cpu[best] += ask.cpu
        memory[best] += ask.memory
    return sum(amount > 0 for amount in cpu)
