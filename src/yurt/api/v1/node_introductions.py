"""/v1/acl/identity/client-introduction-token."""

from __future__ import annotations

from typing import Any

from yurt.api import needs
from yurt.api.answer import Answer
from yurt.api.call import Call
from yurt.api.deps import Deps
from yurt.api.errors import HttpError
from yurt.api.routes import WRITE, Route
from yurt.api.v1.acl_common import duration_of, if_enabled
from yurt.model.wire import Wire, wire_names
from yurt.server.introductions import IntroductionRefused


class IntroductionForm(Wire, frozen=True, kw_only=True):
    """Which node is introduced, and for how long; the time is a text such as `10m`."""

    ttl: Any = None
    node_name: str = ""
    node_pool: str = ""


class IntroductionView(Wire, frozen=True, kw_only=True, rename=wire_names(jwt="JWT")):
    """An introduction."""

    jwt: str


class NodeIntroductionHandlers:
    """The handlers of introductions of nodes."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    def routes(self) -> tuple[Route, ...]:
        """Their part of the route table."""
        return (
            Route(
                path="/v1/acl/identity/client-introduction-token",
                handlers=dict.fromkeys(WRITE, if_enabled(self._deps, self.make)),
                summary="Make a token that introduces a new node",
                needs=needs.node("write"),
                request=IntroductionForm,
                response=IntroductionView,
            ),
        )

    async def make(self, call: Call) -> Answer:
        """PUT /v1/acl/identity/client-introduction-token."""
        form: IntroductionForm = await call.read(IntroductionForm)
        try:
            token = self._deps.server.introductions.make(
                node_name=form.node_name, node_pool=form.node_pool, ttl=duration_of(form.ttl)
            )
        except IntroductionRefused as error:
            raise HttpError(400, str(error)) from None
        return Answer(body=IntroductionView(jwt=token))
