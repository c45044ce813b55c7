"""/v1/evaluations and /v1/evaluation."""

from __future__ import annotations

from yurt.api.answer import Answer
from yurt.api.call import ALL_NAMESPACES, Call
from yurt.api.deps import Deps
from yurt.api.ids import checked_prefix, checked_uuid
from yurt.api.routes import Route
from yurt.api.v1.alloc_views import AllocListStub, alloc_stub
from yurt.api.v1.found import found
from yurt.api.v1.paging import page
from yurt.model.evaluation import Evaluation
from yurt.model.job import JobKey
from yurt.model.wire import EvalID


class EvaluationHandlers:
    """The handlers of /v1/evaluations and /v1/evaluation."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    def routes(self) -> tuple[Route, ...]:
        """Their part of the route table."""
        return (
            Route(path="/v1/evaluations", handlers={"GET": self.list}, summary="List evaluations"),
            Route(
                path="/v1/evaluation/{eval_id}/allocations",
                handlers={"GET": self.allocations},
                summary="List the allocations that an evaluation placed",
            ),
            Route(path="/v1/evaluation/{eval_id}", handlers={"GET": self.read}, summary="Read an evaluation"),
        )

    async def list(self, call: Call) -> Answer:
        """GET /v1/evaluations."""
        prefix = checked_prefix("eval", call.query.get("prefix", ""))
        job_id, status = call.query.get("job", ""), call.query.get("status", "")
        state = self._deps.state

        def read() -> tuple[int, tuple[list[Evaluation], str]]:
            evals = [
                evaluation
                for evaluation in state.evals
                if call.namespace in (ALL_NAMESPACES, evaluation.namespace)
                and evaluation.id.startswith(prefix)
                and job_id in ("", evaluation.job_id)
                and status in ("", evaluation.status)
            ]
            shown = page(
                call,
                evals,
                order=(lambda e: (e.id,)) if prefix else (lambda e: (e.create_index, e.id)),
                token=(lambda e: e.id) if prefix else (lambda e: f"{e.create_index}.{e.id}"),
            )
            return state.evals.index, shown

        answer = await self._deps.read(call, [("evals", None)], read)
        answer.body, answer.next_token = answer.body
        return answer

    async def read(self, call: Call) -> Answer:
        """GET /v1/evaluation/<id>."""
        eval_id = EvalID(checked_uuid("eval", call.path["eval_id"], prefix="failed to lookup eval: "))
        state = self._deps.state

        def read() -> tuple[int, Evaluation | None]:
            evaluation = state.evals.get(eval_id)
            return (evaluation.modify_index if evaluation is not None else state.evals.index), evaluation

        return found(await self._deps.read(call, [("evals", eval_id)], read), "eval not found")

    async def allocations(self, call: Call) -> Answer:
        """GET /v1/evaluation/<id>/allocations."""
        eval_id = EvalID(checked_uuid("eval", call.path["eval_id"]))
        state = self._deps.state

        def read() -> tuple[int, list[AllocListStub]]:
            evaluation = state.evals.get(eval_id)
            if evaluation is None:
                return state.allocs.index, []
            key = JobKey(evaluation.namespace, evaluation.job_id)
            stubs = [alloc_stub(alloc) for alloc in state.allocs.of_job(key) if alloc.eval_id == eval_id]
            return state.allocs.index, stubs

        return await self._deps.read(call, [("allocs", None)], read)
