"""Signed identities, as the node gets them from the servers."""

from __future__ import annotations

import base64
from typing import Any, Protocol

import msgspec

from yurt.agent.node_identity import NodeIdentity
from yurt.agent.server_link import ServerLink
from yurt.clock import Clock
from yurt.errors import YurtError
from yurt.model.client_protocol import IdentityWanted, SignedIdentity, SignIdentities, SignNodeIdentity


class NoServers(YurtError):
    """Nobody is there to sign identities."""

    def __init__(self) -> None:
        super().__init__("this node has no servers that could sign identities")


class IdentitySource(Protocol):
    """Where signed identities come from."""

    async def sign(self, wanted: tuple[IdentityWanted, ...]) -> tuple[SignedIdentity | None, ...]:
        """Get tokens, in order; None where the servers refuse one. Raises YurtError."""


class NoIdentities:
    """A node without servers."""

    async def sign(self, wanted: tuple[IdentityWanted, ...]) -> tuple[SignedIdentity | None, ...]:
        """There are none."""
        raise NoServers


class ServerIdentities:
    """Identities of tasks and of the node itself, over a ServerLink."""

    def __init__(self, link: ServerLink, identity: NodeIdentity, *, clock: Clock) -> None:
        self._link = link
        self._identity = identity
        self._clock = clock
        self._own: SignedIdentity | None = None

    async def sign(self, wanted: tuple[IdentityWanted, ...]) -> tuple[SignedIdentity | None, ...]:
        """Get tokens, in order; None where the servers refuse one. Raises YurtError."""
        request = SignIdentities(
            node_id=self._identity.node_id, secret_id=self._identity.secret_id, wanted=wanted
        )
        return (await self._link.sign_identities(request)).signed

    async def own_claims(self) -> dict[str, Any]:
        """What the node's own token says; a token past half of its life is replaced. Raises YurtError."""
        own = self._own
        if own is None or (own.expires and self._clock.now_ns() > (own.issued + own.expires) // 2):
            own = await self.renew_own()
        return claims_of(own.token)

    async def renew_own(self) -> SignedIdentity:
        """Get a new token for the node itself. Raises YurtError."""
        request = SignNodeIdentity(node_id=self._identity.node_id, secret_id=self._identity.secret_id)
        self._own = await self._link.sign_node_identity(request)
        return self._own


def claims_of(token: str) -> dict[str, Any]:
    """What a token of our own servers says."""
    encoded = token.split(".")[1]
    plain = base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4))
    return msgspec.json.decode(plain, type=dict[str, Any])
