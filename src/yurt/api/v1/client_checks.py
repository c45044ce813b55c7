"""The results of checks that nodes run themselves."""

from __future__ import annotations

from yurt.api.answer import Answer
from yurt.api.call import Call
from yurt.api.errors import HttpError
from yurt.api.v1.local_node import ClientDeps, checked_alloc_id, known_alloc, node_of_alloc


class CheckReader:
    """Reads the results of an allocation's checks."""

    def __init__(self, deps: ClientDeps) -> None:
        self._deps = deps

    async def read(self, call: Call) -> Answer:
        """/v1/allocation/<id>/checks and /v1/client/allocation/<id>/checks."""
        if "/" in call.path["alloc_id"]:
            raise HttpError(404, "resource not found")
        alloc = known_alloc(self._deps, checked_alloc_id(call.path["alloc_id"]))
        return Answer(body=node_of_alloc(self._deps, alloc).checks(alloc.id))
