"""Needs: what a caller must be allowed to do for a route to serve it, as the route table states it.

A route has one Need for all its methods, or one each. `api/access.py` checks them, before any handler runs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

import msgspec

from yurt.api.call import ALL_NAMESPACES, Call

NamespaceOf: TypeAlias = Callable[[Call], Awaitable[str | None]]
"""Finds the namespace that a call is about; None when it names something that is not there."""

NameOf: TypeAlias = Callable[[Call], Awaitable[str]]

Refusal: TypeAlias = tuple[int, str]
PERMISSION_DENIED: Refusal = (403, "Permission denied")


class Anyone(msgspec.Struct, frozen=True):
    """Nothing: not even a token that is known."""

    async def is_met(self, call: Call) -> bool:
        """Always."""
        return True


class KnownCaller(msgspec.Struct, frozen=True):
    """No token, or one that is valid; the handler shows only what its caller may see.

    With `with_token` there must be one.
    """

    with_token: bool = False

    async def is_met(self, call: Call) -> bool:
        """Whether a token was sent, where one is needed."""
        return not (self.with_token and call.caller.is_anonymous)


class Management(msgspec.Struct, frozen=True):
    """A management token."""

    async def is_met(self, call: Call) -> bool:
        """Whether the caller manages the cluster."""
        return call.permissions.is_management


class InNamespace(msgspec.Struct, frozen=True, kw_only=True):
    """One of some capabilities, in the namespace that the call is about.

    That is the one of the query, unless `of` finds it. Lists may be asked for all namespaces at once: a
    capability in any of them lets the call through, and `call.sees` says which ones to show.
    """

    any_of: tuple[str, ...]
    of: NamespaceOf | None = None
    is_list: bool = False
    # Whether a workload may do this in its own namespace, whatever rules apply to it.
    or_own_workload: bool = False

    async def is_met(self, call: Call) -> bool:
        """Whether a capability is granted there; what is not there is the handler's to say."""
        namespace = call.namespace if self.of is None else await self.of(call)
        if namespace is None:
            return True
        if namespace == ALL_NAMESPACES and self.is_list:
            return call.permissions.allows_somewhere(*self.any_of) or self._is_own(call)
        return self.allows(call, namespace)

    def allows(self, call: Call, namespace: str) -> bool:
        """Whether a capability is granted in a namespace."""
        return call.permissions.allows(namespace, *self.any_of) or self._is_own(call, namespace)

    def _is_own(self, call: Call, namespace: str | None = None) -> bool:
        identity = call.caller.identity
        return self.or_own_workload and identity is not None and namespace in (None, identity.namespace)


class InArea(msgspec.Struct, frozen=True):
    """A level of an area without names: agent, node, operator, quota or plugin."""

    area: str
    level: str

    async def is_met(self, call: Call) -> bool:
        """Whether that level is granted."""
        return call.permissions.allows_area(self.area, self.level)


class OperatorCapability(msgspec.Struct, frozen=True):
    """One of an operator's capabilities."""

    capability: str

    async def is_met(self, call: Call) -> bool:
        """Whether it is granted."""
        return call.permissions.allows_operator(self.capability)


class InNodePool(msgspec.Struct, frozen=True, kw_only=True):
    """A capability for the node pool that the call is about."""

    capability: str
    of: NameOf

    async def is_met(self, call: Call) -> bool:
        """Whether it is granted for that pool."""
        # Whoever has it nowhere is refused before a body is read.
        if not call.permissions.allows_node_pools_somewhere(self.capability):
            return False
        return call.permissions.allows_node_pool(await self.of(call), self.capability)


class All(msgspec.Struct, frozen=True):
    """Several needs at once."""

    needs: tuple[Need, ...]

    async def is_met(self, call: Call) -> bool:
        """Whether all are met."""
        for need in self.needs:
            if not await need.is_met(call):
                return False
        return True


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """What only one route needs, found out by a function of its own; `told` says in words what that is."""

    told: str
    check: Callable[[Call], Awaitable[bool]]

    async def is_met(self, call: Call) -> bool:
        """What the function says."""
        return await self.check(call)


Need: TypeAlias = (
    Anyone | KnownCaller | Management | InNamespace | InArea | OperatorCapability | InNodePool | All | Checked
)

ANYONE = Anyone()
KNOWN_CALLER = KnownCaller()
TOKEN = KnownCaller(with_token=True)
MANAGEMENT = Management()


def namespace(*any_of: str, of: NamespaceOf | None = None) -> InNamespace:
    """One of some capabilities in the namespace of the query, or the one that `of` finds."""
    return InNamespace(any_of=any_of, of=of)


def listed(*any_of: str, of: NamespaceOf | None = None) -> InNamespace:
    """One of some capabilities in the namespace of the query; all namespaces at once will do, too."""
    return InNamespace(any_of=any_of, of=of, is_list=True)


def agent(level: str) -> InArea:
    """A level of what is about this agent."""
    return InArea("agent", level)


def node(level: str) -> InArea:
    """A level of what is about nodes."""
    return InArea("node", level)


def operator(level: str) -> InArea:
    """A level of what is about the cluster as a whole."""
    return InArea("operator", level)


def plugin(level: str) -> InArea:
    """A level of what is about storage plugins."""
    return InArea("plugin", level)
