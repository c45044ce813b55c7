"""The simple dialect's application: errors are JSON, and pages of other origins are kept in their place."""

from __future__ import annotations

from collections.abc import Collection

from starlette.responses import Response
from starlette.types import Receive, Scope

from yurt.api.answer import Answer
from yurt.api.app import HttpApp
from yurt.api.auditing import Auditor
from yurt.api.call import Call
from yurt.api.errors import status_of
from yurt.api.origins import is_foreign_page
from yurt.api.routes import Route, RouteTable
from yurt.errors import YurtError
from yurt.model.simple.fields import BadField
from yurt.server.commands.job_templates import TemplateNotFound
from yurt.server.commands.jobs import JobNotFound, JobRefused
from yurt.server.commands.node_checks import NodeRefused
from yurt.server.push.nodes import NotAPushNode, PushNodeUnknown

ALL_METHODS = ("GET", "POST", "PUT", "DELETE")
READS = ("GET", "HEAD")
UNAUTHORIZED, FORBIDDEN = 401, 403
ALLOWED_HEADERS = "content-type, authorization, x-nomad-token, x-yurt-token"

_STATUS: dict[type[YurtError], int] = {
    BadField: 400,
    JobRefused: 400,
    NodeRefused: 400,
    JobNotFound: 404,
    PushNodeUnknown: 404,
    TemplateNotFound: 404,
    NotAPushNode: 409,
}


class SimpleApp(HttpApp):
    """An ASGI application that speaks the simple dialect.

    Pages of `allowed_origins` may do everything that their users may; with `open_reads` all pages may read.
    """

    def __init__(
        self,
        table: RouteTable,
        *,
        allowed_origins: Collection[str] = (),
        open_reads: bool = False,
        auditor: Auditor | None = None,
    ) -> None:
        super().__init__(table, auditor=auditor)
        self._allowed_origins = frozenset(origin.rstrip("/") for origin in allowed_origins)
        self._open_reads = open_reads

    def failure(self, status: int, text: str) -> Answer:
        """Say what is wrong, as JSON."""
        return Answer(body={"error": text}, status=status)

    def status(self, error: YurtError) -> int:
        """The status that an operating error is answered with."""
        return next((code for kind, code in _STATUS.items() if isinstance(error, kind)), status_of(error))

    def _check_page(self, call: Call) -> None:
        """Nothing to do: what pages may do was decided when the request came in."""

    async def _handle(self, route: Route, call: Call) -> Answer:
        answer = await super()._handle(route, call)
        if answer.status == FORBIDDEN and not call.secret:
            return self.failure(UNAUTHORIZED, "a token is needed; send it in the header X-Nomad-Token")
        return answer

    async def _respond(self, scope: Scope, receive: Receive) -> Response:
        call = Call(scope, receive, {})
        if not is_foreign_page(call.headers, asked_at=call.asked_at):
            return await self._found_or_not(scope, receive)
        origin = call.headers.get("origin", "")
        methods = self._methods(origin)
        wanted = call.headers.get("access-control-request-method", "")
        if call.method == "OPTIONS" and wanted:
            response = Response(status_code=204)
            if wanted in methods:
                response.headers["Access-Control-Allow-Methods"] = ", ".join(methods)
                response.headers["Access-Control-Allow-Headers"] = ALLOWED_HEADERS
        elif call.method in READS or call.method in methods:
            response = await self._found_or_not(scope, receive)
        else:
            # A browser sends some requests without asking first; those of strange pages must do nothing.
            pages = f"pages of {origin}" if origin else "pages of another site"
            text = f"{pages} may not do this; add their origin to simple_api.allowed_origins"
            response = self._rendered(self.failure(FORBIDDEN, text), call)
        if methods and origin:
            response.headers["Access-Control-Allow-Origin"] = origin
        response.headers.append("Vary", "Origin")
        return response

    def _methods(self, origin: str) -> tuple[str, ...]:
        """What pages of an origin may do."""
        if origin in self._allowed_origins or "*" in self._allowed_origins:
            return ALL_METHODS
        return READS if self._open_reads else ()

    async def _found_or_not(self, scope: Scope, receive: Receive) -> Response:
        path = scope["path"].rstrip("/") or "/"
        match = self.table.find(path)
        call = Call(scope, receive, match.values if match is not None else {})
        if match is None:
            return self._rendered(self.failure(404, f"there is no {path} here"), call)
        return await self._serve(match.route, call)
