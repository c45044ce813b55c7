"""Updates of system jobs go node by node, canaries are a share of the nodes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.scheduler.kinds.recorded_cluster import RecordedCluster
from tests.scheduler.kinds.test_settled_clusters import a_node
from yurt.model.job import SYSTEM
from yurt.model.times import SECOND_NS


def a_cluster(nodes: int) -> RecordedCluster:
    return RecordedCluster({"Scenario": "system", "Nodes": [a_node(n) for n in range(nodes)]})


def submitted(version: int, *, constrained: bool = False, **update: int) -> dict[str, Any]:
    timing = {
        "HealthCheck": "task_states",
        "MinHealthyTime": SECOND_NS,
        "HealthyDeadline": 60 * SECOND_NS,
        "ProgressDeadline": 120 * SECOND_NS,
    }
    return {
        "ID": "sys",
        "Type": SYSTEM,
        "Constraints": (
            [{"LTarget": "${attr.rack}", "Operand": "=", "RTarget": "r1"}] if constrained else None
        ),
        "TaskGroups": [
            {
                "Name": "g",
                "Update": {**timing, **update},
                "Tasks": [{"Name": "t", "Driver": "mock_driver", "Env": {"V": str(version)}}],
            }
        ],
    }


def versions(cluster: RecordedCluster) -> list[int]:
    return sorted(alloc.job.version for alloc in cluster.state.allocs if not alloc.is_terminal)


@pytest.mark.parametrize(
    ("nodes", "canary", "max_parallel", "constrained", "canaries", "total"),
    [
        pytest.param(4, 50, 2, False, 2, 4, id="half of the nodes"),
        pytest.param(4, 100, 4, True, 2, 2, id="all, half of them fit"),
        pytest.param(2, 50, 1, True, 1, 1, id="half, rounded up, one fits"),
        pytest.param(4, 100, 1, False, 1, 4, id="no more than may be replaced at once"),
    ],
)
def test_canaries_are_a_share_of_the_nodes(
    nodes: int, canary: int, max_parallel: int, constrained: bool, canaries: int, total: int
) -> None:
    cluster = a_cluster(nodes)
    cluster.register_job(submitted(0, MaxParallel=max_parallel, Canary=canary))
    cluster.run_until(cluster.now + 5 * SECOND_NS)
    cluster.register_job(submitted(1, constrained=constrained, MaxParallel=max_parallel, Canary=canary))
    cluster.run_until(cluster.now + 5 * SECOND_NS)
    deployment = cluster.state.deployments.rows()[-1]
    state = deployment.task_groups["g"]
    assert (state.desired_canaries, state.desired_total) == (canaries, total)
    assert len(state.placed_canaries or ()) == canaries
    # Where the new version may not run, the old one is gone.
    assert versions(cluster) == [0] * (total - canaries) + [1] * canaries
    cluster.promote(deployment)
    cluster.run_until(cluster.now + 20 * SECOND_NS)
    assert versions(cluster) == [1] * total
    assert cluster.state.deployments[deployment.id].status == "successful"


def test_an_update_goes_on_as_instances_turn_healthy() -> None:
    cluster = a_cluster(5)
    cluster.register_job(submitted(0, MaxParallel=2))
    cluster.run_until(cluster.now + 5 * SECOND_NS)
    cluster.register_job(submitted(1, MaxParallel=2))
    cluster.run_until(cluster.now + SECOND_NS // 2)
    assert versions(cluster) == [0, 0, 0, 1, 1]
    cluster.run_until(cluster.now + 20 * SECOND_NS)
    assert versions(cluster) == [1] * 5


def test_without_a_limit_all_nodes_are_updated_at_once() -> None:
    cluster = a_cluster(5)
    cluster.register_job(submitted(0, MaxParallel=0))
    cluster.run_until(cluster.now + 5 * SECOND_NS)
    cluster.register_job(submitted(1, MaxParallel=0))
    cluster.run_until(cluster.now + SECOND_NS // 2)
    assert versions(cluster) == [1] * 5
    assert not cluster.state.deployments.rows()


def test_a_paused_deployment_holds_the_update() -> None:
    cluster = a_cluster(4)
    cluster.register_job(submitted(0, MaxParallel=1))
    cluster.run_until(cluster.now + 5 * SECOND_NS)
    cluster.register_job(submitted(1, MaxParallel=1))
    cluster.run_until(cluster.now + SECOND_NS // 5)
    deployment = cluster.state.deployments.rows()[-1]
    cluster.pause(deployment, pause=True)
    cluster.run_until(cluster.now + 10 * SECOND_NS)
    assert versions(cluster) == [0, 0, 0, 1]
    cluster.pause(cluster.state.deployments[deployment.id], pause=False)
    cluster.run_until(cluster.now + 20 * SECOND_NS)
    assert versions(cluster) == [1] * 4


def test_a_new_node_gets_its_instance() -> None:
    cluster = a_cluster(2)
    cluster.register_job(submitted(0, MaxParallel=1))
    cluster.run_until(cluster.now + 5 * SECOND_NS)
    cluster.register_nodes([a_node(7)])
    cluster.run_until(cluster.now + 5 * SECOND_NS)
    assert len(versions(cluster)) == 3
    assert cluster.state.deployments.rows()[0].task_groups["g"].desired_total == 3
