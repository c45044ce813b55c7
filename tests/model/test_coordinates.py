"""Coordinates whose distances come to agree with measured round-trip times."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yurt.model.coordinates import Coordinate, moved, parse_coordinate, round_trip_ms

# Three sites: ways within one take 0.5 ms, between them 10, 40 and 45 ms.
SITES = {"a": 0, "b": 1, "c": 2}
BETWEEN_MS = [[0.5, 10.0, 40.0], [10.0, 0.5, 45.0], [40.0, 45.0, 0.5]]


def settled(seed: int) -> list[tuple[int, Coordinate]]:
    """Twelve nodes, four at each site, after some hundred measurements each."""
    rng = Random(seed)
    nodes = [(number % 3, Coordinate()) for number in range(12)]
    for _ in range(300):
        for number, (site, own) in enumerate(nodes):
            other_site, other = rng.choice([one for at, one in enumerate(nodes) if at != number])
            took = BETWEEN_MS[site][other_site] * rng.uniform(0.95, 1.2)
            nodes[number] = (site, moved(own, other, took, rng))
    return nodes


@pytest.mark.parametrize("seed", range(5))
def test_distances_become_the_measured_times(seed: int) -> None:
    nodes = settled(seed)
    for number, (site, own) in enumerate(nodes):
        for other_site, other in nodes[number + 1 :]:
            expected = round_trip_ms(own, other)
            real = BETWEEN_MS[site][other_site]
            assert abs(expected - real) < max(4.0, 0.35 * real), (site, other_site, expected)


def test_a_coordinate_survives_its_text() -> None:
    own = Coordinate(place=(1.5, -2.25, 0.0), height=0.125, error=0.5)
    assert parse_coordinate(own.text()) == own


@pytest.mark.parametrize("text", ["", "1,2,3", "a,b,c,d,e", "nan,0,0,0,0", "inf,0,0,0,0", "1,2,3,4,5,6"])
def test_what_is_no_coordinate_is_none(text: str) -> None:
    assert parse_coordinate(text) is None


@given(
    place=st.tuples(*[st.floats(-1e4, 1e4)] * 3),
    measured=st.floats(1e-3, 1e4),
    seed=st.integers(0, 2**32),
)
def test_no_measurement_breaks_a_coordinate(
    place: tuple[float, float, float], measured: float, seed: int
) -> None:
    made = moved(Coordinate(), Coordinate(place=place), measured, Random(seed))
    assert parse_coordinate(made.text()) is not None
    assert made.height > 0
