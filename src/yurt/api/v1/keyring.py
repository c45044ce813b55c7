"""/v1/operator/keyring: root keys, never their secrets."""

from __future__ import annotations

from yurt.api import needs
from yurt.api.answer import Answer
from yurt.api.call import INT64_MAX, Call
from yurt.api.deps import Deps
from yurt.api.errors import HttpError
from yurt.api.parameters import BLOCKING, COUNT, Parameter, flag, text
from yurt.api.routes import ANY_METHOD, WRITE, Route
from yurt.api.rows import Rows
from yurt.model.root_key import RootKeyMeta, meta_of


class KeyringHandlers:
    """The handlers of /v1/operator/keyring."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    def routes(self) -> tuple[Route, ...]:
        """Their part of the route table."""
        return (
            Route(
                path="/v1/operator/keyring/keys",
                handlers={"GET": self.list},
                summary="List the root keys",
                takes=BLOCKING,
                needs=needs.OperatorCapability("keyring-read"),
                response=list[RootKeyMeta],
            ),
            Route(
                path="/v1/operator/keyring/rotate",
                handlers=dict.fromkeys(WRITE, self.rotate),
                summary="Make a new root key",
                takes=(
                    flag("full", "Encrypt all variables anew."),
                    text("algo", "Ignored: there is one algorithm."),
                    Parameter("publish_time", "When the key is first used, in nanoseconds.", COUNT),
                ),
                needs=needs.OperatorCapability("keyring-rotate"),
            ),
            Route(
                path="/v1/operator/keyring/key/{key_id}",
                handlers={"DELETE": self.remove},
                summary="Remove a root key",
                takes=(flag("force", "Remove it though it is in use."),),
                needs=needs.OperatorCapability("keyring-delete"),
            ),
            Route(
                path="/v1/operator/keyring/{action}",
                handlers=dict.fromkeys(ANY_METHOD, self.unknown),
                summary="Refuse unknown actions",
                needs=needs.KNOWN_CALLER,
            ),
        )

    async def list(self, call: Call) -> Answer:
        """GET /v1/operator/keyring/keys."""
        keys = self._deps.state.root_keys

        def read() -> tuple[int, Rows]:
            return max(keys.index, 1), Rows(keys.rows(), meta_of)

        return await self._deps.read(call, [("root-keys", None)], read)

    async def rotate(self, call: Call) -> Answer:
        """PUT /v1/operator/keyring/rotate."""
        text = call.query.get("publish_time", "")
        if text and not (text.isascii() and text.isdigit() and int(text[:20]) <= INT64_MAX):
            raise HttpError(500, f'invalid publish_time: strconv.ParseInt: parsing "{text}": invalid syntax')
        is_full = "full" in call.query and call.query["full"] not in ("false", "0")
        key, index = await self._deps.server.keyring.rotate(
            full=is_full, publish_time=int(text) if text else 0
        )
        return Answer(body={"Key": key, "Index": index}, index=index)

    async def remove(self, call: Call) -> Answer:
        """DELETE /v1/operator/keyring/key/<id>."""
        try:
            force = call.flag("force")
        except HttpError:
            raise HttpError(422, "invalid force parameter") from None
        index = await self._deps.server.keyring.remove(call.path["key_id"], force=force)
        return Answer(body={"Index": index}, index=index)

    async def unknown(self, _call: Call) -> Answer:
        """/v1/operator/keyring/<anything else>."""
        raise HttpError(405, "Invalid method")
