"""/v1/vars and /v1/var: variables."""

from __future__ import annotations

from typing import Any

import msgspec

from yurt.api import needs
from yurt.api.answer import TEXT_TYPE, Answer, text_answer
from yurt.api.call import ALL_NAMESPACES, Call, uint64
from yurt.api.deps import Deps
from yurt.api.errors import HttpError
from yurt.api.listing import by_namespace
from yurt.api.parameters import BLOCKING, CHECK_INDEX, PAGED, PREFIX, Parameter
from yurt.api.routes import WRITE, Route
from yurt.api.v1.found import found
from yurt.model.acl.capabilities import DESTROY, LIST, READ
from yurt.model.acl.capabilities import WRITE as WRITE_VARIABLE
from yurt.model.multi_error import multi_error_text
from yurt.model.variable import (
    VariableDecryptedForm,
    VariableKey,
    VariableMetadata,
    VariableView,
    lock_times,
    metadata_of,
    view_of,
)
from yurt.model.wire import Wire
from yurt.server.commands.variables import RenewRefused, VariableRefused
from yurt.state.apply_variables import VariableOutcome

READABLE = ("HEAD", "GET")
CHANGEABLE = ("HEAD", "GET", "PUT", "DELETE")
LOCK_OPERATIONS = ("lock-acquire", "lock-release", "lock-renew")
# Nomad's own layers each put their status in front.
_REFUSED = "RPC Error:: 400,"
BY_PATH = by_namespace(lambda row: row.variable_metadata.namespace, lambda row: row.variable_metadata.path)

_encode = msgspec.json.Encoder().encode


_LOCKING = (
    Parameter("lock-acquire", "Take the variable's lock."),
    Parameter("lock-release", "Give the variable's lock back."),
    Parameter("lock-renew", "Keep the variable's lock for another time to live."),
)


class ListedVariable(Wire, frozen=True, kw_only=True):
    """A variable as filters of lists see it: one level down."""

    variable_metadata: VariableMetadata


class VariableHandlers:
    """The handlers of /v1/vars and /v1/var."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    def routes(self) -> tuple[Route, ...]:
        """Their part of the route table."""
        return (
            Route(
                path="/v1/vars",
                handlers={"GET": self.list},
                summary="List variables, without their items",
                takes=(PREFIX, *PAGED),
                needs=needs.KNOWN_CALLER,
                response=list[VariableMetadata],
                cors=READABLE,
            ),
            Route(
                path="/v1/var/{path}",
                handlers={"GET": self.read, **dict.fromkeys(WRITE, self.write), "DELETE": self.delete},
                summary="Read, write, lock or delete a variable",
                takes={
                    "GET": BLOCKING,
                    **dict.fromkeys(WRITE, (CHECK_INDEX, *_LOCKING)),
                    "DELETE": (CHECK_INDEX,),
                },
                success_status={"DELETE": 204},
                wrong_method=(400, "Invalid method"),
                needs={
                    "GET": _may(READ),
                    **dict.fromkeys(WRITE, _may(WRITE_VARIABLE)),
                    "DELETE": _may(DESTROY),
                },
                request=dict.fromkeys(WRITE, VariableDecryptedForm),
                response={"GET": VariableView, **dict.fromkeys(WRITE, VariableMetadata)},
                cors=CHANGEABLE,
            ),
        )

    async def list(self, call: Call) -> Answer:
        """GET /v1/vars."""
        prefix, namespace = call.query.get("prefix", ""), call.namespace
        table, permissions = self._deps.state.variables, call.permissions

        def rows() -> list[ListedVariable]:
            return [
                ListedVariable(variable_metadata=metadata_of(variable, with_lock=permissions.is_management))
                for variable in table
                if namespace in (ALL_NAMESPACES, variable.namespace)
                and variable.path.startswith(prefix)
                and permissions.allows_variable(variable.namespace, variable.path, LIST)
            ]

        return await self._deps.list(
            call,
            [("variables", None)],
            lambda: (max(table.index, 1), rows()),
            BY_PATH,
            view=lambda row: row.variable_metadata,
        )

    async def read(self, call: Call) -> Answer:
        """GET /v1/var/<path>."""
        key = _key(call)
        table = self._deps.state.variables

        def read() -> tuple[int, VariableView | None]:
            variable = table.get(key)
            if variable is None:
                return max(table.index, 1), None
            items = self._deps.commands.variables.items_of(variable)
            return variable.modify_index, view_of(variable, items, with_lock=call.permissions.is_management)

        return found(await self._deps.read(call, [("variables", key)], read), "variable not found")

    async def write(self, call: Call) -> Answer:
        """PUT /v1/var/<path>, also with a lock operation."""
        form: VariableDecryptedForm = await call.read(VariableDecryptedForm)
        key = await _target(call)
        operations = [name for name in LOCK_OPERATIONS if name in call.query]
        if len(operations) > 1:
            raise HttpError(400, "multiple lock operations")
        if operations and "cas" in call.query:
            raise HttpError(400, "CAS can't be used with lock operations")
        try:
            match operations:
                case ["lock-acquire"]:
                    return await self._acquire(call, key, form)
                case ["lock-release"]:
                    return await self._release(key, form)
                case ["lock-renew"]:
                    return self._renew(key, form)
                case _:
                    return await self._put(call, key, form)
        except VariableRefused as error:
            return _refused(str(error))

    async def delete(self, call: Call) -> Answer:
        """DELETE /v1/var/<path>."""
        key, check_index = _key(call), _check_index(call)
        try:
            outcome = await self._deps.commands.variables.delete(key, check_index=check_index)
        except VariableRefused as error:
            return _refused(str(error))
        if not outcome.is_done:
            return self._conflict(call, key, outcome)
        return Answer(body=b"", status=204, content_type="", index=self._deps.state.index)

    async def _put(self, call: Call, key: VariableKey, form: VariableDecryptedForm) -> Answer:
        check_index = _check_index(call)
        if not form.items:
            raise HttpError(400, "variable missing required Items object")
        lock = form.lock
        if lock is not None and (lock.ttl or lock.lock_delay):
            return _refused(_REFUSED + "variable should not contain lock definition")
        outcome = await self._deps.commands.variables.put(
            key, form.items, lock_id=lock.id if lock is not None else "", check_index=check_index
        )
        if not outcome.is_done:
            return self._conflict(call, key, outcome)
        return _done(outcome, form.items)

    async def _acquire(self, call: Call, key: VariableKey, form: VariableDecryptedForm) -> Answer:
        try:
            ttl, delay = lock_times(form.lock)
        except ValueError as error:
            raise HttpError(400, str(error)) from None
        variables = self._deps.commands.variables
        outcome = await variables.acquire(key, form.items, ttl=ttl, delay=delay)
        if not outcome.is_done:
            return _hidden_conflict(key)
        items = form.items
        if items is None and call.permissions.allows_variable(key.namespace, key.path, READ):
            assert outcome.variable is not None
            items = variables.items_of(outcome.variable)
        return _done(outcome, items)

    async def _release(self, key: VariableKey, form: VariableDecryptedForm) -> Answer:
        if form.lock is None or not form.lock.id:
            raise VariableRefused("missing lock information")
        if form.items:
            raise VariableRefused("lock release operation doesn't take variable items")
        outcome = await self._deps.commands.variables.release(key, form.lock.id)
        return _done(outcome, {}) if outcome.is_done else _hidden_conflict(key)

    def _renew(self, key: VariableKey, form: VariableDecryptedForm) -> Answer:
        if form.lock is None or not form.lock.id:
            raise HttpError(500, multi_error_text(["missing lock ID"]))
        try:
            variable = self._deps.commands.variables.renew(key, form.lock.id)
        except RenewRefused as error:
            raise HttpError(error.status, str(error)) from None
        return Answer(body=metadata_of(variable))

    def _conflict(self, call: Call, key: VariableKey, outcome: VariableOutcome) -> Answer:
        """409 with what is stored, as far as the caller may see it; a lock hides everything."""
        variable = outcome.variable
        if variable is None or outcome.is_locked:
            answer = _hidden_conflict(key)
            answer.index = 0
            return answer
        items = None
        if call.permissions.allows_variable(key.namespace, key.path, READ):
            items = self._deps.commands.variables.items_of(variable)
        view = view_of(variable, items, with_lock=call.permissions.is_management)
        answer = _conflict_answer(view)
        answer.index = variable.modify_index
        return answer


def _may(capability: str) -> needs.Checked:
    async def check(call: Call) -> bool:
        key = await _target(call)
        is_allowed = call.permissions.allows_variable(key.namespace, key.path, capability)
        if not is_allowed and call.method != "GET":
            # As all refused writes of variables, this one names an index.
            raise HttpError(*needs.PERMISSION_DENIED, index=0)
        return is_allowed

    return needs.Checked(told=f"{capability} for the variable's path", check=check)


def _key(call: Call) -> VariableKey:
    path = call.path["path"]
    if not path:
        raise HttpError(400, "missing variable path")
    return VariableKey(call.namespace, path)


async def _target(call: Call) -> VariableKey:
    """The variable that a call is about: a namespace in the body wins over that of the query."""
    key = _key(call)
    if call.method not in WRITE:
        return key
    form: VariableDecryptedForm = await call.read(VariableDecryptedForm)
    return VariableKey(form.namespace or key.namespace, key.path)


def _check_index(call: Call) -> int | None:
    text = call.query.get("cas")
    if text is None:
        return None
    index = uint64(text)
    if index is None:
        raise HttpError(400, f'can not parse cas: strconv.ParseUint: parsing "{text}": invalid syntax')
    return index


def _done(outcome: VariableOutcome, items: dict[str, str] | None) -> Answer:
    variable = outcome.variable
    assert variable is not None
    return Answer(body=view_of(variable, items), index=variable.modify_index)


def _refused(text: str) -> Answer:
    answer = text_answer(400, _REFUSED + text)
    answer.index = 0
    return answer


def _hidden_conflict(key: VariableKey) -> Answer:
    return _conflict_answer(VariableView(namespace=key.namespace, path=key.path))


def _conflict_answer(view: Any) -> Answer:  # noqa: ANN401 - any JSON
    return Answer(body=_encode(view), status=409, content_type=TEXT_TYPE)
