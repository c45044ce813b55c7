"""A server that controls access, with two teams in it: for tests of who may do what."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import msgspec

from tests.api.asgi import Reply, request
from tests.api.v1.served import Served
from tests.state.builders import Cluster, a_deployment, a_group, a_job, a_node, an_eval
from yurt.api.acl_rules import read_rules
from yurt.api.app import HttpApp
from yurt.api.simple.app import SimpleApp
from yurt.api.simple.table import simple_routes
from yurt.clock import SystemClock
from yurt.model.acl.policy import AclPolicy
from yurt.model.acl.token import MANAGEMENT, AclToken
from yurt.model.job import Job
from yurt.model.namespace import Namespace
from yurt.model.node import Node
from yurt.model.node_pool import NodePool
from yurt.model.policies import ScalingPolicy
from yurt.model.service_registration import ServiceRegistration
from yurt.model.wire import AllocID, JobID, NodeID
from yurt.server.server import Server
from yurt.server.settings import AclSettings, ServerSettings
from yurt.state import acl_entries, entries

TEAM, OTHER = "team", "other"
JOB, POOL = "web", "gpu"
NODE = a_node().id


class Owned(msgspec.Struct, frozen=True):
    """The ids of what a namespace has."""

    alloc: str
    eval: str
    deployment: str
    policy: str
    service: str


def owned(namespace: str) -> Owned:
    """What a namespace of the tests has."""
    digit = {TEAM: "a", OTHER: "b"}[namespace]
    return Owned(*(f"{digit * 8}-0000-4000-8000-00000000000{number}" for number in range(5)))


class Guarded(Served):
    """The API of such a server, and tokens for it."""

    def __init__(self, server: Server) -> None:
        super().__init__(server)
        self.server = server
        self.simple_table = simple_routes(self.deps)
        self._simple = SimpleApp(self.simple_table)
        self._secrets: dict[str, str] = {}
        self.root = ""

    async def token(self, rules: str, **more: Any) -> str:
        """The secret of a token with these rules; the same for the same rules."""
        if rules not in self._secrets or more:
            name = f"p{len(self._secrets)}"
            policy = AclPolicy(name=name, rules=rules, parsed=read_rules(rules))
            await self.propose(acl_entries.UpsertAclPolicies(at=1, policies=(policy,)))
            self._secrets[rules] = await self.bare_token(policies=(name,), **more)
        return self._secrets[rules]

    async def bare_token(self, **members: Any) -> str:
        """The secret of a new token with these members."""
        context = self.server.context
        token = AclToken(accessor_id=context.new_id(), secret_id=context.new_secret(), **members)
        await self.propose(acl_entries.UpsertAclTokens(at=1, tokens=(token,)))
        return token.secret_id

    async def propose(self, *more: entries.Entry) -> None:
        """Apply entries."""
        await self.server.committer.propose(*more)

    async def ask_simply(self, secret: str, method: str, path: str, body: Any = None) -> Reply:
        """Make one call in the simple dialect."""
        return await self._ask(self._simple, secret, method, path, body)

    async def ask(self, secret: str, method: str, path: str, body: Any = None) -> Reply:
        """Make one call with a token, or without one for an empty secret."""
        return await self._ask(self._app, secret, method, path, body)

    async def _ask(self, app: HttpApp, secret: str, method: str, path: str, body: Any) -> Reply:
        data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"content-length": str(len(data)), **({"X-Nomad-Token": secret} if secret else {})}
        return await request(app, method, path, data, headers=headers)


async def guarded() -> Guarded:
    """A server that controls access, with the same things in two namespaces."""
    settings = ServerSettings(name="node1", acl=AclSettings(is_enabled=True))
    api = Guarded(await Server.open(settings, SystemClock(), Random(2)))
    cluster = Cluster()
    node = cluster.add_node()
    cluster.apply(entries.UpsertNamespaces(at=1, namespaces=(Namespace(name=TEAM), Namespace(name=OTHER))))
    cluster.apply(entries.UpsertNodePools(at=1, node_pools=(NodePool(name=POOL),)))
    for namespace in (TEAM, OTHER):
        _fill(cluster, node, namespace)
    await api.propose(*(entries.decode_entry(one) for one in cluster.encoded))
    api.root = await api.bare_token(type=MANAGEMENT)
    return api


def _fill(cluster: Cluster, node: Node, namespace: str) -> None:
    ids = owned(namespace)
    target = {"Namespace": namespace, "Job": JOB, "Group": "g"}
    scaling = ScalingPolicy(id=ids.policy, min=1, max=3, enabled=True, type="horizontal", target=target)
    evaluation = an_eval(ids.eval, JOB, status="complete", namespace=namespace)
    job: Job = cluster.add_job(
        a_job(JOB, a_group(scaling=scaling), namespace=namespace, node_pool=POOL), evaluation
    )
    cluster.commit(deployment=a_deployment(ids.deployment, job))
    cluster.place(job, ids.alloc, node=node, deployment_id=ids.deployment)
    service = ServiceRegistration(
        id=ids.service,
        service_name="front",
        namespace=namespace,
        node_id=NodeID(node.id),
        datacenter="dc1",
        job_id=JobID(JOB),
        alloc_id=AllocID(ids.alloc),
        address="10.0.0.1",
        port=80,
    )
    cluster.apply(entries.UpsertServices(at=1, services=(service,)))
