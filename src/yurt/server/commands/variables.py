"""Variables: read, written, deleted and locked."""

from __future__ import annotations

import msgspec

from yurt.errors import YurtError
from yurt.model.multi_error import multi_error_text
from yurt.model.variable import (
    VARIABLE_BYTES_MAX,
    Variable,
    VariableKey,
    VariableLock,
    lock_problems,
    path_problem,
    size_of,
)
from yurt.model.wire import Nanoseconds
from yurt.server.context import ServerContext
from yurt.state.apply_variables import VariableOutcome
from yurt.state.entries import Entry
from yurt.state.secret_entries import DeleteVariable, LockVariable, PutVariable, UnlockVariable

ALL_NAMESPACES = "*"
BYTES_PER_MB = 1024 * 1024

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(dict[str, str]).decode


class VariableRefused(YurtError):
    """The variable cannot be written as asked."""


class QuotaReached(VariableRefused):
    """The namespace may not store more."""

    def __init__(self) -> None:
        super().__init__(
            "quota limit reached: the variables of the namespace take all that its quota allows; "
            "delete some, or raise VariablesMB of the quota"
        )


class RenewRefused(YurtError):
    """A lock cannot be renewed; `status` is the answer's."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class VariableCommands:
    """What can be asked about variables. Items are in clear here, and nowhere else."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context

    def items_of(self, variable: Variable) -> dict[str, str]:
        """Decrypt a variable. Raises what the keyring raises."""
        return _decode(self._context.keyring.decrypt(variable.key_id, variable.data, _place(variable.key)))

    async def put(
        self, key: VariableKey, items: dict[str, str], *, lock_id: str = "", check_index: int | None = None
    ) -> VariableOutcome:
        """Write a variable. Raises VariableRefused; a conflict is an outcome."""
        variable = self._encrypted(key, items)
        entry = PutVariable(
            at=self._now(),
            variable=variable,
            lock_id=lock_id,
            check_index=check_index,
            bytes_max=self._bytes_max(key.namespace),
        )
        return await self._propose(entry)

    async def delete(
        self, key: VariableKey, *, lock_id: str = "", check_index: int | None = None
    ) -> VariableOutcome:
        """Delete a variable. Raises VariableRefused; a conflict is an outcome."""
        _check_namespace(key.namespace)
        return await self._propose(
            DeleteVariable(
                at=self._now(),
                namespace=key.namespace,
                path=key.path,
                lock_id=lock_id,
                check_index=check_index,
            )
        )

    async def acquire(
        self, key: VariableKey, items: dict[str, str] | None, *, ttl: Nanoseconds, delay: Nanoseconds
    ) -> VariableOutcome:
        """Lock a variable, writing its items if there are any. Raises VariableRefused."""
        problems = lock_problems(ttl, delay)
        if problems:
            raise VariableRefused(multi_error_text(problems))
        lock = VariableLock(id=self._context.new_secret(), ttl=ttl, lock_delay=delay)
        variable = msgspec.structs.replace(self._encrypted(key, items or {}), lock=lock)
        return await self._propose(
            LockVariable(
                at=self._now(),
                variable=variable,
                keeps_items=items is None,
                bytes_max=self._bytes_max(key.namespace),
            )
        )

    async def release(self, key: VariableKey, lock_id: str) -> VariableOutcome:
        """Give a lock back."""
        entry = UnlockVariable(at=self._now(), namespace=key.namespace, path=key.path, lock_id=lock_id)
        return await self._propose(entry)

    def renew(self, key: VariableKey, lock_id: str) -> Variable:
        """Keep a lock for longer. Raises RenewRefused."""
        variable = self._context.state.variables.get(key)
        if variable is None:
            raise RenewRefused(404, "variable doesn't exist")
        if variable.lock is None:
            raise RenewRefused(409, "variable doesn't hold a lock")
        if variable.lock.id != lock_id:
            raise RenewRefused(409, "attempting to modify locked variable")
        self._context.variable_locks.renew(variable, now=self._context.clock.monotonic())
        return variable

    def _encrypted(self, key: VariableKey, items: dict[str, str]) -> Variable:
        _check_namespace(key.namespace)
        problem = path_problem(key.path)
        if problem:
            raise VariableRefused(problem)
        if size_of(items) > VARIABLE_BYTES_MAX:
            raise VariableRefused("variables are limited to 64KiB in total size")
        key_id, data = self._context.keyring.encrypt(_encode(items), _place(key))
        return Variable(namespace=key.namespace, path=key.path, key_id=key_id, data=data)

    async def _propose(self, entry: Entry) -> VariableOutcome:
        outcome = (await self._context.committer.propose(entry)).outcome
        assert isinstance(outcome, VariableOutcome)
        if outcome.is_over_quota:
            raise QuotaReached
        return outcome

    def _bytes_max(self, namespace: str) -> int | None:
        state = self._context.state
        quota = state.quota_uses.quota_of(namespace)
        spec = state.quotas.get(quota) if quota else None
        limit = spec.limit_in(self._context.region) if spec is not None else None
        megabytes = limit.storage.variables_mb if limit is not None and limit.storage is not None else 0
        return max(megabytes, 0) * BYTES_PER_MB if megabytes else None

    def _now(self) -> Nanoseconds:
        return self._context.clock.now_ns()


def encrypted_anew(context: ServerContext, variable: Variable) -> Variable:
    """The same items, encrypted with the active key. Raises what the keyring raises."""
    plain = context.keyring.decrypt(variable.key_id, variable.data, _place(variable.key))
    key_id, data = context.keyring.encrypt(plain, _place(variable.key))
    return msgspec.structs.replace(variable, key_id=key_id, data=data)


def _place(key: VariableKey) -> bytes:
    """What binds encrypted items to their variable: they cannot be moved to a path that others may read."""
    return f"{key.namespace}\0{key.path}".encode()


def _check_namespace(namespace: str) -> None:
    if namespace == ALL_NAMESPACES:
        raise VariableRefused('can not target wildcard ("*")namespace')
