"""Give the task its signed identities, and new ones before they expire."""

from __future__ import annotations

import asyncio

from yurt.agent import task_events
from yurt.agent.access.confined import PathEscapes, write_below
from yurt.agent.drivers import DriverError, TaskHandle
from yurt.agent.drivers.users import host_user
from yurt.agent.task_runner.hook import HookFailed, TaskContext, TaskHook, TaskNotRunning
from yurt.errors import YurtError
from yurt.model.client_protocol import IdentityWanted, SignedIdentity
from yurt.model.identity import DEFAULT_IDENTITY_NAME, WorkloadIdentity
from yurt.model.task import Task
from yurt.model.times import HOUR_NS, SECOND_NS
from yurt.model.wire import Nanoseconds
from yurt.observe.logger import get_logger

RESTART = "restart"
SIGNAL = "signal"
# A token is renewed when half of its life is over, but not more often than this.
RENEWAL_PAUSE_MIN: Nanoseconds = 10 * SECOND_NS
# Tasks that were started together must not all renew together.
RENEWAL_JITTER = 0.1
RETRY_S_FIRST = 5.0
RETRY_S_MAX = HOUR_NS / SECOND_NS
OWNED_MODE = 0o600
SHARED_MODE = 0o644

logger = get_logger("identity")


class IdentityHook(TaskHook):
    """Keeps the tokens of a task's identities current, in its environment and in files."""

    name = "identity"

    def __init__(self, context: TaskContext) -> None:
        self._context = context
        self._tokens: dict[str, SignedIdentity] = {}
        self._renewing: asyncio.Task[None] | None = None

    async def prestart(self) -> None:
        """Get the tokens; later starts find those that were renewed meanwhile."""
        if not self._tokens:
            try:
                await self._renew()
            except YurtError as error:
                raise HookFailed(f"failed to get signed identities: {error}", recoverable=True) from error
        self._keep_current()

    async def poststart(self, handle: TaskHandle) -> None:
        """A task that was found running gets new tokens beside it."""
        self._keep_current()

    async def stop(self) -> None:
        """Nobody needs the tokens any more."""
        if self._renewing is not None:
            self._renewing.cancel()

    # --- its work -------------------------------------------------------------------------------------

    def _keep_current(self) -> None:
        expires = any(identity.ttl for identity in delivered(self._context.task))
        if self._renewing is None and (expires or not self._tokens):
            self._renewing = self._context.spawn(self._watch(), name="identities")

    async def _watch(self) -> None:
        """Renew the tokens in time, and tell the task, for as long as any of them expires."""
        failures = 0
        while True:
            pause_s = self._pause_s() if not failures else min(RETRY_S_FIRST * 2.0**failures, RETRY_S_MAX)
            if pause_s is None:
                return
            await self._context.node.clock.sleep(pause_s)
            try:
                await self._renew()
            except YurtError as error:
                failures += 1
                logger.warning(
                    "identities.not_renewed",
                    alloc_id=self._context.alloc.id,
                    task=self._context.task.name,
                    error=str(error),
                )
                continue
            failures = 0
            await self._tell()

    def _pause_s(self) -> float | None:
        """How long the tokens can be left alone; None for ever."""
        node = self._context.node
        if not self._tokens:
            return 0.0
        ends = [token.expires for token in self._tokens.values() if token.expires]
        if not ends:
            return None
        left = min(ends) - node.clock.now_ns()
        return max(left / 2, RENEWAL_PAUSE_MIN) / SECOND_NS * (1 + RENEWAL_JITTER * node.rng.random())

    async def _renew(self) -> None:
        """Get all tokens anew and put them where they belong. Raises YurtError."""
        context = self._context
        identities = delivered(context.task)
        wanted = tuple(
            IdentityWanted(alloc_id=context.alloc.id, task=context.task.name, identity=identity.name)
            for identity in identities
        )
        signed = await context.node.identities.sign(wanted)
        tokens = {}
        for identity, token in zip(identities, signed, strict=True):
            if token is None:
                raise IdentityRefused(identity.name)
            tokens[identity.name] = token
            if identity.file:
                self._write(identity, token.token)
        self._tokens = tokens
        self._context.set_env(self.name, self._variables(identities))

    async def _tell(self) -> None:
        """Do what the identities' change modes say."""
        context = self._context
        identities = delivered(context.task)
        now = context.node.clock.now_ns()
        try:
            restarting = next((one.name for one in identities if one.change_mode == RESTART), None)
            if restarting is not None:
                context.restart(task_events.identity_restart(now, identity=restarting))
                return
            signals = {one.change_signal: one.name for one in identities if one.change_mode == SIGNAL}
            for signal, name in signals.items():
                await context.signal(task_events.identity_signal(now, identity=name, signal=signal), signal)
        except (TaskNotRunning, DriverError) as error:
            logger.info("identity.change_not_told", alloc_id=context.alloc.id, error=str(error))

    def _variables(self, identities: list[WorkloadIdentity]) -> dict[str, str]:
        found = {
            token_variable(identity): self._tokens[identity.name].token
            for identity in identities
            if identity.env
        }
        if found:
            secrets = self._context.env().variables["NOMAD_SECRETS_DIR"]
            found["NOMAD_UNIX_ADDR"] = f"unix://{secrets}/api.sock"
        return found

    def _write(self, identity: WorkloadIdentity, token: str) -> None:
        """Put a token in place at once; its readers never see half of one. Raises HookFailed."""
        context = self._context
        owner = host_user(context.task.user)
        mode = SHARED_MODE if owner is None else OWNED_MODE
        uid, gid = (-1, -1) if owner is None else owner
        try:
            write_below(context.dir.path, token_file(identity), token.encode(), mode=mode, uid=uid, gid=gid)
        except (OSError, PathEscapes) as error:
            raise HookFailed(f"failed to write identity {identity.name!r}: {error}") from error


class IdentityRefused(YurtError):
    """The servers do not give the node an identity."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"the servers refused identity {name!r}: the allocation is over, or not on this node"
        )


def delivered(task: Task) -> list[WorkloadIdentity]:
    """The identities that the task gets to see."""
    every = (task.identity, *(task.identities or ()))
    return [identity for identity in every if identity is not None and (identity.env or identity.file)]


def token_variable(identity: WorkloadIdentity) -> str:
    """The variable that holds an identity's token."""
    return "NOMAD_TOKEN" if identity.name == DEFAULT_IDENTITY_NAME else f"NOMAD_TOKEN_{identity.name}"


def token_file(identity: WorkloadIdentity) -> str:
    """Where an identity's token is written, below the task's directory."""
    if identity.filepath:
        return identity.filepath
    return (
        "secrets/nomad_token"
        if identity.name == DEFAULT_IDENTITY_NAME
        else f"secrets/nomad_{identity.name}.jwt"
    )


def make(context: TaskContext) -> TaskHook | None:
    """Only tasks that are to see an identity: all others never ask for a signature."""
    return IdentityHook(context) if delivered(context.task) else None
