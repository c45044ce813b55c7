"""/ and /ui/: where the web pages would be."""

from __future__ import annotations

from yurt.api import needs
from yurt.api.answer import Answer
from yurt.api.call import Call
from yurt.api.redirect import redirect
from yurt.api.routes import ANY_METHOD, Route

PAGE = b"<html><p>Nomad UI is disabled</p></html>"


class UiHandlers:
    """The handlers of / and /ui/."""

    def routes(self) -> tuple[Route, ...]:
        """Their part of the route table."""
        return (
            Route(
                path="/",
                handlers=dict.fromkeys(ANY_METHOD, self.root),
                summary="Go to the web pages",
                success_status=307,
                content_type="text/html",
                needs=needs.ANYONE,
                is_local=True,
            ),
            Route(
                path="/ui/{page}",
                handlers=dict.fromkeys(ANY_METHOD, self.page),
                summary="Say that there are no web pages",
                content_type="text/html",
                needs=needs.ANYONE,
                is_local=True,
            ),
        )

    async def root(self, call: Call) -> Answer:
        """/: on to /ui/, with the query."""
        target = redirect("/ui/", call.raw_query)
        return Answer(
            body=bytes(target.body),
            status=target.status_code,
            headers={"Location": target.headers["Location"]},
            content_type="text/html; charset=utf-8",
        )

    async def page(self, _call: Call) -> Answer:
        """/ui/<anything>."""
        return Answer(body=PAGE, content_type="text/html; charset=utf-8")
