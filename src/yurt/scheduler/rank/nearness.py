"""The nearness score: how close a node is to the job's other instances."""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

from yurt.model.coordinates import ATTRIBUTE, DIMENSIONS, parse_coordinate
from yurt.scheduler.rank.candidates import Candidates
from yurt.scheduler.rank.score import Score
from yurt.state.columns import NodeColumns

# A round trip of this many milliseconds is worth half of none at all.
HALF_AT_MS = 10.0
# The nodes with most instances stand for the others: each is compared with all candidates.
NEIGHBOURS_MAX = 32
_KEY = "network coordinates"


def nearness(candidates: Candidates) -> Score:
    """The closeness to the job's instances, on average: 1 next to all of them.

    Nodes that know their place in the network are compared by round-trip time, others by whether they
    share a datacenter. Instances placed in the same pass do not count: they would pull each other to
    wherever the first happened to get.
    """
    neighbours = candidates.field.neighbours
    if not neighbours:
        return Score(np.zeros(len(candidates.slots)))
    chosen = heapq.nlargest(NEIGHBOURS_MAX, neighbours.items(), key=lambda item: (item[1], -item[0]))
    slots = np.fromiter((slot for slot, _ in chosen), dtype=np.intp)
    weights = np.fromiter((count for _, count in chosen), dtype=np.float64)
    datacenters = candidates.nodes.datacenters.column
    close = (datacenters[candidates.slots][:, None] == datacenters[slots][None, :]).astype(np.float64)
    places = _places(candidates.nodes)
    if places is not None:
        here, there = places[candidates.slots], places[slots]
        away = here[:, None, :DIMENSIONS] - there[None, :, :DIMENSIONS]
        trip_ms = np.sqrt((away * away).sum(axis=2)) + here[:, None, DIMENSIONS] + there[None, :, DIMENSIONS]
        by_trip = HALF_AT_MS / (HALF_AT_MS + trip_ms)
        close = np.where(np.isnan(by_trip), close, by_trip)
    return Score(np.asarray(close @ weights / weights.sum()))


def _places(columns: NodeColumns) -> NDArray[np.float64] | None:
    """Each slot's place and height, NaN where it is not known; None where no node knows its own."""
    if _KEY in columns.memo:
        known: NDArray[np.float64] | None = columns.memo[_KEY]
        return known
    rows = np.full((len(columns.nodes), DIMENSIONS + 1), np.nan)
    for slot, node in enumerate(columns.nodes):
        text = node.attributes.get(ATTRIBUTE, "") if node is not None else ""
        found = parse_coordinate(text) if text else None
        if found is not None:
            rows[slot] = (*found.place, found.height)
    places = None if np.isnan(rows).all() else rows
    columns.keep(_KEY, places)
    return places
