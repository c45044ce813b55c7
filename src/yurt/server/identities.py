"""Identities: signed tokens that say which task or node somebody is."""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from collections.abc import Mapping

import msgspec

from yurt.model.acl.caller import IdentityClaims
from yurt.model.alloc import Allocation
from yurt.model.client_protocol import (
    IdentitiesSigned,
    IdentityWanted,
    SignedIdentity,
    SignIdentities,
)
from yurt.model.identity import DEFAULT_IDENTITY_AUDIENCE, DEFAULT_IDENTITY_NAME, WorkloadIdentity
from yurt.model.node import Node
from yurt.model.times import SECOND_NS
from yurt.model.wire import AllocID, Nanoseconds
from yurt.server.commands.node_checks import NodeRefused
from yurt.server.context import ServerContext
from yurt.state.secret_entries import SetNodeIdentityKey

IDENTITIES_MAX = 1000
"""How many identities one call may ask for."""

# A signature takes a quarter of a millisecond; others get their turn after each of so many.
SIGNED_PER_TURN = 4
VERIFIED_KEPT_MAX = 4096

_REFERENCE = re.compile(r"\$\{([a-z_.]+)\}")


class TokenClaims(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The claims of a token, by their names in it; times are in seconds."""

    sub: str
    aud: str | tuple[str, ...] = ""
    iat: int = 0
    nbf: int = 0
    exp: int = 0
    jti: str = ""
    iss: str = ""
    nomad_namespace: str = ""
    nomad_job_id: str = ""
    nomad_allocation_id: str = ""
    nomad_task: str = ""
    nomad_service: str = ""
    nomad_node_id: str = ""
    nomad_node_name: str = ""
    nomad_node_pool: str = ""
    nomad_node_datacenter: str = ""
    extra_claims: dict[str, str] = {}


class Identities:
    """Signs identities when nodes ask for them, and recognises them again."""

    def __init__(self, context: ServerContext, *, issuer: str = "") -> None:
        self._context = context
        self._issuer = issuer
        self._verified: OrderedDict[str, tuple[str, TokenClaims]] = OrderedDict()

    # --- signing --------------------------------------------------------------------------------------

    async def sign_workloads(self, node: Node, request: SignIdentities) -> IdentitiesSigned:
        """Sign identities of the node's own allocations that are not over. Raises NodeRefused."""
        if len(request.wanted) > IDENTITIES_MAX:
            raise NodeRefused(
                f"{len(request.wanted)} identities in one call; ask for at most {IDENTITIES_MAX} at a time"
            )
        signed = []
        for number, wanted in enumerate(request.wanted, start=1):
            signed.append(self._sign_workload(node, wanted))
            if number % SIGNED_PER_TURN == 0:
                await asyncio.sleep(0)
        return IdentitiesSigned(signed=tuple(signed))

    async def sign_node(self, node: Node) -> SignedIdentity:
        """Sign the node's own identity, and remember with which key."""
        pool = self._context.state.node_pools.get(node.node_pool)
        claims = TokenClaims(
            sub=f"node:{self._context.region}:{node.node_pool}:{node.id}:{DEFAULT_IDENTITY_NAME}",
            aud=DEFAULT_IDENTITY_AUDIENCE,
            nomad_node_id=node.id,
            nomad_node_pool=node.node_pool,
            nomad_node_datacenter=node.datacenter,
        )
        signed = self.sign(claims, ttl=pool.node_identity_ttl if pool is not None else 0)
        key = self._context.state.root_keys.active
        if key is not None and key.key_id != node.identity_signing_key_id:
            entry = SetNodeIdentityKey(at=self._context.clock.now_ns(), node_id=node.id, key_id=key.key_id)
            await self._context.committer.propose(entry)
        return signed

    def sign(self, claims: TokenClaims, *, ttl: Nanoseconds = 0) -> SignedIdentity:
        """Make a token of some claims, valid from now on for `ttl`; 0 is for ever. Raises NoActiveKey."""
        context = self._context
        now = context.clock.now_ns()
        seconds = now // SECOND_NS
        whole = msgspec.structs.replace(
            claims,
            iat=seconds,
            nbf=seconds,
            exp=(now + ttl) // SECOND_NS if ttl else 0,
            jti=context.new_id(),
            iss=self._issuer,
        )
        token = context.keyring.sign(msgspec.json.encode(whole))
        return SignedIdentity(token=token, issued=now, expires=now + ttl if ttl else 0)

    def _sign_workload(self, node: Node, wanted: IdentityWanted) -> SignedIdentity | None:
        alloc = self._context.state.allocs.get(wanted.alloc_id)
        if alloc is None or alloc.node_id != node.id or alloc.is_client_terminal:
            return None
        identity = _identity(alloc, wanted)
        if identity is None:
            return None
        return self.sign(self._workload_claims(node, alloc, wanted, identity), ttl=identity.ttl)

    def _workload_claims(
        self, node: Node, alloc: Allocation, wanted: IdentityWanted, identity: WorkloadIdentity
    ) -> TokenClaims:
        job = alloc.job
        job_id = job.parent_id or job.id
        workload = wanted.service or wanted.task
        audience = identity.audience or ()
        parts = (self._context.region, alloc.namespace, job_id, alloc.task_group, workload, identity.name)
        return TokenClaims(
            sub=":".join(parts),
            aud=audience[0] if len(audience) == 1 else audience,
            nomad_namespace=alloc.namespace,
            nomad_job_id=job_id,
            nomad_allocation_id=alloc.id,
            nomad_task="" if wanted.service else wanted.task,
            nomad_service=wanted.service,
            extra_claims=self._extra_claims(node, alloc, wanted, identity),
        )

    def _extra_claims(
        self, node: Node, alloc: Allocation, wanted: IdentityWanted, identity: WorkloadIdentity
    ) -> dict[str, str]:
        """Those that the namespace demands, and those of its optional ones that the identity names."""
        namespace = self._context.state.namespaces.get(alloc.namespace)
        if namespace is None:
            return {}
        optional = namespace.optional_extra_claims or {}
        named = {name: optional[name] for name in identity.extra_claims or () if name in optional}
        templates = {**named, **(namespace.required_extra_claims or {})}
        if not templates:
            return {}
        job = alloc.job
        values = {
            "job.region": self._context.region,
            "job.namespace": alloc.namespace,
            "job.id": job.parent_id or job.id,
            "job.name": job.name,
            "job.node_pool": job.node_pool,
            "group.name": alloc.task_group,
            "alloc.id": alloc.id,
            "task.name": wanted.task,
            "node.id": node.id,
            "node.name": node.name,
            "node.pool": node.node_pool,
            "node.class": node.node_class,
            "node.datacenter": node.datacenter,
        }
        return {name: _filled_in(text, values) for name, text in templates.items()}

    def now(self) -> Nanoseconds:
        """The time by which tokens are judged."""
        return self._context.clock.now_ns()

    # --- recognising ----------------------------------------------------------------------------------

    def verify(self, token: str, now: Nanoseconds) -> IdentityClaims | None:
        """Say whose token this is; None unless it is ours, meant for us and in time, and its owner lives."""
        claims = self.recognised(token, now)
        if claims is None:
            return None
        alloc = self._context.state.allocs.get(AllocID(claims.nomad_allocation_id))
        if alloc is None or alloc.is_client_terminal or alloc.namespace != claims.nomad_namespace:
            return None
        return IdentityClaims(
            namespace=claims.nomad_namespace,
            job_id=claims.nomad_job_id,
            group=alloc.task_group,
            task=claims.nomad_task,
            alloc_id=alloc.id,
        )

    def recognised(self, token: str, now: Nanoseconds) -> TokenClaims | None:
        """What a token says; None unless it is ours, meant for us and in time."""
        claims = self._claims(token)
        if claims is None:
            return None
        audience = (claims.aud,) if isinstance(claims.aud, str) else claims.aud
        # What is meant for somebody else's eyes must not open our doors: they could show it here.
        if DEFAULT_IDENTITY_AUDIENCE not in audience:
            return None
        if now < claims.nbf * SECOND_NS or (claims.exp and now >= claims.exp * SECOND_NS):
            return None
        return claims

    def _claims(self, token: str) -> TokenClaims | None:
        """What a token that one of the keys signed says; while its key is there, that is checked once."""
        known = self._verified.get(token)
        if known is not None:
            return known[1] if known[0] in self._context.state.root_keys else None
        signed = self._context.keyring.verified(token)
        if signed is None:
            return None
        key_id, encoded = signed
        try:
            claims = msgspec.json.decode(encoded, type=TokenClaims)
        except msgspec.MsgspecError:
            return None
        self._verified[token] = key_id, claims
        if len(self._verified) > VERIFIED_KEPT_MAX:
            self._verified.popitem(last=False)
        return claims


def _identity(alloc: Allocation, wanted: IdentityWanted) -> WorkloadIdentity | None:
    """The identity as the allocation's job has it."""
    group = alloc.job.group(alloc.task_group)
    if group is None:
        return None
    task = group.task(wanted.task)
    if wanted.service:
        services = (task.services if task is not None else group.services) or ()
        found = next((one for one in services if one.name == wanted.service), None)
        return found.identity if found is not None else None
    if task is None:
        return None
    every = (task.identity, *(task.identities or ()))
    return next((one for one in every if one is not None and one.name == wanted.identity), None)


def _filled_in(text: str, values: Mapping[str, str]) -> str:
    """Replace every `${name}` that has a value; others stay as they are."""
    return _REFERENCE.sub(lambda found: values.get(found[1], found[0]), text)
