"""What namespaces and node pools allow, and how pools are scheduled."""

from __future__ import annotations

from random import Random

import pytest

from tests.state.builders import a_job
from yurt.clock import SystemClock
from yurt.log import MemoryLog
from yurt.model.namespace import Namespace, NamespaceNodePools
from yurt.model.node_pool import NodePool, NodePoolScheduling
from yurt.model.validate import JobRules, job_errors
from yurt.scheduler.configuration import effective_configuration
from yurt.server.commands.namespaces import NamespaceCommands, NamespaceRefused
from yurt.server.commands.node_pools import NodePoolCommands, NodePoolInvalid
from yurt.server.server import Server
from yurt.server.settings import ServerSettings
from yurt.state.state import State


@pytest.fixture
def server() -> Server:
    return Server(ServerSettings(name="test"), MemoryLog(), State(), SystemClock(), Random(1))


@pytest.mark.parametrize(
    ("pools", "pool", "is_allowed"),
    [
        (NamespaceNodePools(), "gpu", True),
        (NamespaceNodePools(allowed=("gpu-*", "edge")), "gpu-1", True),
        (NamespaceNodePools(allowed=("gpu-*", "edge")), "edge", True),
        (NamespaceNodePools(allowed=("gpu-*", "edge")), "default", False),
        (NamespaceNodePools(default="default", allowed=("gpu-*",)), "default", True),
        (NamespaceNodePools(denied=("gpu*",)), "gpu-1", False),
        (NamespaceNodePools(denied=("gpu*",)), "default", True),
    ],
)
def test_a_namespace_chooses_its_pools(pools: NamespaceNodePools, pool: str, is_allowed: bool) -> None:
    errors = job_errors(a_job(node_pool=pool), JobRules(node_pools=pools))
    refusals = [item for item in (errors.items if errors else ()) if "node pool" in item]
    assert refusals == (
        []
        if is_allowed
        else [f'job "web" is in node pool "{pool}", which is not allowed in namespace "default"']
    )


async def test_pools_are_allowed_or_denied_but_not_both(server: Server) -> None:
    both = NamespaceNodePools(allowed=("a",), denied=("b",))
    with pytest.raises(NamespaceRefused, match="either allowed or denied"):
        await NamespaceCommands(server.context).upsert(Namespace(name="x", node_pool_configuration=both))


async def test_a_pool_has_an_algorithm_of_its_own(server: Server) -> None:
    pools = NodePoolCommands(server.context)
    own = NodePoolScheduling(scheduler_algorithm="spread", memory_oversubscription_enabled=True)
    await pools.upsert(NodePool(name="gpu", scheduler_configuration=own))
    state = server.state
    inside = effective_configuration(state, a_job(node_pool="gpu"), state.scheduler_configuration)
    outside = effective_configuration(state, a_job(), state.scheduler_configuration)
    assert (inside.scheduler_algorithm, inside.memory_oversubscription_enabled) == ("spread", True)
    assert (outside.scheduler_algorithm, outside.memory_oversubscription_enabled) == ("binpack", False)
    unknown = NodePoolScheduling(scheduler_algorithm="nope")
    with pytest.raises(NodePoolInvalid, match="invalid scheduler configuration"):
        await pools.upsert(NodePool(name="gpu", scheduler_configuration=unknown))
