"""What a scheduler hands to its worker."""

from __future__ import annotations

import msgspec

from yurt.model.evaluation import Evaluation
from yurt.model.plan import Plan


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One pass over an evaluation.

    The worker stores `new_evals`, submits `plan` if there is one, and if all of it was committed
    writes `evaluation`, all in one append. If not, it asks for another attempt on a fresher State.
    With `reblock` the evaluation stays blocked, and goes back to the tracker of blocked ones.
    """

    evaluation: Evaluation
    plan: Plan | None = None
    new_evals: tuple[Evaluation, ...] = ()
    reblock: bool = False

    @property
    def writes_evaluation(self) -> bool:
        """Whether the evaluation itself changes in State; a reblocked one only if its plan did something."""
        return not self.reblock or self.plan is not None
