"""The base set: the ready nodes of a job's pool and datacenters."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from yurt.model.job import Job
from yurt.model.wire import ALL_NODE_POOL
from yurt.state.columns import NodeColumns


class BaseSet(NamedTuple):
    """Ready nodes of a job's pool and datacenters, and what placement metrics say about them."""

    mask: NDArray[np.bool_]
    nodes: int
    nodes_available: dict[str, int]


def base_set(columns: NodeColumns, job: Job) -> BaseSet:
    """The nodes that may be looked at for a job; kept until nodes or their readiness change."""
    key = ("base", job.node_pool, job.datacenters)
    known: BaseSet | None = columns.ready_memo.get(key)
    if known is not None:
        return known
    size = columns.size
    mask = columns.ready[:size].copy()
    if job.node_pool not in ("", ALL_NODE_POOL):
        mask &= columns.node_pools.column[:size] == columns.node_pools.code(job.node_pool)
    texts = columns.datacenters.texts
    wanted = np.fromiter((in_datacenters(text, job.datacenters) for text in texts), dtype=np.bool_)
    mask &= wanted[columns.datacenters.column[:size]]
    counts = np.bincount(columns.datacenters.column[:size][mask], minlength=len(texts)).tolist()
    available = {text: count for text, count in zip(texts, counts, strict=True) if count}
    found = BaseSet(mask, int(np.count_nonzero(mask)), available)
    columns.keep_ready(key, found)
    return found


def in_datacenters(datacenter: str, wanted: tuple[str, ...] | None) -> bool:
    """Whether a datacenter is among those a job names; `*` stands for any run of characters."""
    return not wanted or any(
        glob == datacenter
        or ("*" in glob and re.fullmatch(".*".join(map(re.escape, glob.split("*"))), datacenter, re.DOTALL))
        for glob in wanted
    )
