"""Introductions: short-lived tokens by which new nodes show that somebody expects them."""

from __future__ import annotations

from collections.abc import Iterable

from yurt.errors import YurtError
from yurt.model.identity import DEFAULT_IDENTITY_AUDIENCE, DEFAULT_IDENTITY_NAME
from yurt.model.node import Node
from yurt.model.wire import DEFAULT_NODE_POOL, Nanoseconds
from yurt.observe.logger import get_logger
from yurt.server.commands.node_checks import NodeRefused
from yurt.server.context import ServerContext
from yurt.server.identities import Identities, TokenClaims
from yurt.server.settings import WARN, IntroductionSettings

STRICT = "strict"
_SUBJECT = "node-introduction"

logger = get_logger("introductions")


class IntroductionRefused(YurtError):
    """Such an introduction is not made."""


class Introductions:
    """Introduces nodes, and knows those that were introduced."""

    def __init__(
        self,
        context: ServerContext,
        identities: Identities,
        settings: IntroductionSettings,
        *,
        is_acl_enabled: bool,
    ) -> None:
        self._context = context
        self._identities = identities
        self._settings = settings
        self._is_acl_enabled = is_acl_enabled

    def make(self, *, node_name: str, node_pool: str, ttl: Nanoseconds) -> str:
        """A token for one new node, of any name if none is given. Raises IntroductionRefused."""
        if ttl < 0:
            raise IntroductionRefused("TTL must not be negative")
        pool = node_pool or DEFAULT_NODE_POOL
        parts = (_SUBJECT, self._context.region, pool, node_name, DEFAULT_IDENTITY_NAME)
        claims = TokenClaims(
            sub=":".join(parts),
            aud=DEFAULT_IDENTITY_AUDIENCE,
            nomad_node_name=node_name,
            nomad_node_pool=pool,
        )
        life = min(ttl or self._settings.default_ttl, self._settings.ttl_max)
        return self._identities.sign(claims, ttl=life).token

    def check(self, nodes: Iterable[Node], token: str) -> None:
        """Check that nodes which are new were introduced, where that is asked for. Raises NodeRefused."""
        if self._settings.enforcement not in (WARN, STRICT):
            return
        if self._settings.enforcement == WARN and not self._is_acl_enabled:
            # Where nobody needs a token, nobody expects nodes to have one.
            return
        known = self._context.state.nodes
        for node in nodes:
            problem = None if node.id in known else self._problem(node, token)
            if problem is None:
                continue
            if self._settings.enforcement == STRICT:
                raise NodeRefused(
                    f"node {node.name} {problem}; make an introduction with 'yurt node intro create' "
                    "and give it to the node as client.intro_token"
                )
            logger.warning("node.not_introduced", node_id=node.id, name=node.name, problem=problem)

    def _problem(self, node: Node, token: str) -> str | None:
        if not token:
            return "was not introduced"
        claims = self._identities.recognised(token, self._context.clock.now_ns())
        if claims is None or not claims.sub.startswith(f"{_SUBJECT}:") or claims.nomad_allocation_id:
            return "has an introduction that is not valid, or no longer"
        if claims.nomad_node_pool != node.node_pool:
            return f"was introduced to node pool {claims.nomad_node_pool}, not {node.node_pool}"
        if claims.nomad_node_name not in ("", node.name):
            return "has the introduction of another node"
        return None
