"""Allocation spread: instances are distributed over the values of attributes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from yurt.model.group import TaskGroup
from yurt.model.job import Job
from yurt.model.placement_rules import Spread
from yurt.scheduler.feasible.targets import target_column
from yurt.scheduler.rank.candidates import Floats
from yurt.scheduler.view import View

NAME = "allocation-spread"
ANY_OTHER = "*"

MISSING_BOOST = -1.0
LOWEST_BOOST_FIRST = -1.0


class EvenSpread:
    """As many instances for each value as for any other.

    `boosts` holds the score of each value, and of nodes without one at its end.
    """

    def __init__(
        self, view: View, attribute: str, placed: Mapping[int, int], slots: NDArray[np.intp]
    ) -> None:
        column = target_column(view.columns, attribute)
        self._size = len(column.values)
        missing = column.numbers.get(None, -1)
        codes = np.where(column.codes == missing, self._size, column.codes)
        self.index: NDArray[np.intp] = codes[slots].astype(np.intp)
        self._counts = [0] * (self._size + 1)
        for slot, count in placed.items():
            self._counts[codes[slot]] += count
        self.boosts: Floats = np.zeros(self._size + 1)
        self._work_out()

    def place(self, value: int) -> bool:
        """Count one more instance on a node with a value; say whether other values' boosts change, too.

        They do when the least or the greatest count does.
        """
        if value == self._size:
            return False
        before = self._counts[value]
        after = self._counts[value] = before + 1
        least = self._least
        if after > self._most or after < least or (before == least and self._at_least == 1):
            self._work_out()
            return True
        if after == least:
            self._at_least += 1
            self.boosts[value] = self._least_boost
        else:
            self._at_least -= before == least
            self.boosts[value] = (least - after) / least
        return False

    def _work_out(self) -> None:
        counts = np.asarray(self._counts[:-1], dtype=np.float64)
        used = counts[counts > 0]
        self.boosts[-1] = MISSING_BOOST
        if not used.size:
            self._least = self._most = self._at_least = 0
            self._least_boost = 0.0
            self.boosts[:-1] = 0.0
            return
        least, most = int(used.min()), int(used.max())
        self._least, self._most = least, most
        self._at_least = int(np.count_nonzero(counts == least))
        self._least_boost = -1.0 if least == most else (most - least) / least
        self.boosts[:-1] = np.where(counts == least, self._least_boost, (least - counts) / least)


class TargetSpread:
    """A share of the instances for each of some values; the rest may have a share, too."""

    def __init__(
        self,
        view: View,
        spread: Spread,
        count: int,
        share: float,
        placed: Mapping[int, int],
        slots: NDArray[np.intp],
    ) -> None:
        column = target_column(view.columns, spread.attribute)
        desired = desired_counts(spread, count)
        listed = [target.value for target in spread.spread_target or () if target.value != ANY_OTHER]
        numbers = {value: number for number, value in enumerate(listed)}
        other, missing = len(listed), len(listed) + 1
        of_code = np.asarray(
            [missing if value is None else numbers.get(value, other) for value in column.values],
            dtype=np.intp,
        )
        codes = of_code[column.codes]
        self.index: NDArray[np.intp] = codes[slots]
        self._desired = [desired.get(value, desired.get(ANY_OTHER)) for value in listed]
        self._desired.append(desired.get(ANY_OTHER))
        self._share = share
        self._counts = [0] * (missing + 1)
        for slot, number in placed.items():
            self._counts[codes[slot]] += number
        met = set(self.index.tolist())
        self._wanted = [value for value, number in enumerate(self._desired) if number and value in met]
        self._unwanted = [value for value, number in enumerate(self._desired) if number == 0]
        self._lowest = LOWEST_BOOST_FIRST
        self.boosts: Floats = np.full(missing + 1, MISSING_BOOST)
        for value in range(missing):
            self._set_boost(value)
        self._set_lowest()

    def place(self, value: int) -> bool:
        """Count one more instance on a node with a value; say whether other values' boosts change, too."""
        if value == len(self._desired):
            return False
        self._counts[value] += 1
        self._set_boost(value)
        return self._set_lowest()

    def _set_boost(self, value: int) -> None:
        desired = self._desired[value]
        if desired:
            used = self._counts[value] + 1
            self.boosts[value] = (desired - used) / desired * self._share

    def _set_lowest(self) -> bool:
        """Values that should get nothing are as bad as the worst that nodes have scored so far."""
        if not self._unwanted:
            return False
        lowest = min((float(self.boosts[value]) for value in self._wanted), default=self._lowest)
        if lowest >= self._lowest and self.boosts[self._unwanted[0]] == self._lowest:
            return False
        self._lowest = min(lowest, self._lowest)
        self.boosts[self._unwanted] = self._lowest
        return True


def desired_counts(spread: Spread, count: int) -> dict[str, float]:
    """How many of `count` instances each target should get; what targets leave is for all other values."""
    desired = {target.value: target.percent / 100 * count for target in spread.spread_target or ()}
    asked = sum(desired.values())
    if 0 < asked < count:
        desired[ANY_OTHER] = count - asked
    return desired


def spreads_of(
    view: View, job: Job, group: TaskGroup, slots: NDArray[np.intp]
) -> list[EvenSpread | TargetSpread]:
    """The spreads of a job and its group, with the instances as they are now."""
    spreads = (*(job.spreads or ()), *(group.spreads or ()))
    if not spreads:
        return []
    # Where job and group spread over the same attribute, the job's word counts.
    by_attribute = {spread.attribute: spread for spread in (*(group.spreads or ()), *(job.spreads or ()))}
    weights = sum(spread.weight for spread in spreads)
    placed = view.places(job).live(group.name)
    made: list[EvenSpread | TargetSpread] = []
    for attribute in (spread.attribute for spread in spreads):
        spread = by_attribute[attribute]
        if spread.spread_target:
            share = spread.weight / weights
            made.append(TargetSpread(view, spread, group.count, share, placed, slots))
        else:
            made.append(EvenSpread(view, attribute, placed, slots))
    return made
