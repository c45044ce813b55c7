"""What a scheduler hands to its worker."""

from __future__ import annotations

import msgspec

from yurt.model.evaluation import Evaluation
from yurt.model.plan import Plan


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One pass over an evaluation.

    The worker submits `plan` if there is one. What of it is committed takes `follow_ups` along: the
    allocations it changes name them. If all of it was committed, `evaluation` and `new_evals` are
    written in the same append, and the evaluation is done. If not, the worker asks for another
    attempt on a fresher State, with `resume`.

    With `has_more` the plan is only a slice of what there is to do: once it is committed the worker
    asks for the next with `resume`, and nothing else is written.

    With `reblock` the evaluation stays blocked, and goes back to the tracker of blocked ones;
    `evaluation` is written only with `writes_evaluation`.
    """

    evaluation: Evaluation
    resume: Evaluation
    plan: Plan | None = None
    follow_ups: tuple[Evaluation, ...] = ()
    new_evals: tuple[Evaluation, ...] = ()
    has_more: bool = False
    reblock: bool = False
    writes_evaluation: bool = True
