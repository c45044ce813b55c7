"""Calls about deployments."""

from collections.abc import Sequence

from yurt.sdk.client import Answer, Client
from yurt.sdk.transport import Param, path_segment
from yurt.sdk.types.allocs import AllocStub
from yurt.sdk.types.deployments import Deployment, DeploymentChanged


def listing(client: Client, /, **params: Param) -> Answer[tuple[Deployment, ...]]:
    """List deployments; `prefix`, `filter`, paging and `reverse` may be given."""
    return client.get("/v1/deployments", tuple[Deployment, ...], **params)


def read(client: Client, deployment_id: str) -> Answer[Deployment]:
    """Read a deployment by its full id."""
    return client.get(_path("", deployment_id), Deployment)


def wait_past(client: Client, deployment_id: str, *, index: int, wait_s: float) -> Answer[Deployment]:
    """Read a deployment once it has changed since `index`, or after `wait_s`."""
    return client.wait_for_change(_path("", deployment_id), Deployment, index=index, wait_s=wait_s)


def allocations(client: Client, deployment_id: str) -> Answer[tuple[AllocStub, ...]]:
    """List the allocations of a deployment."""
    return client.get(_path("allocations/", deployment_id), tuple[AllocStub, ...])


def fail(client: Client, deployment_id: str) -> Answer[DeploymentChanged]:
    """Mark a deployment as failed; it rolls back when it is set to."""
    return client.put(_path("fail/", deployment_id), DeploymentChanged)


def pause(client: Client, deployment_id: str, *, pause: bool) -> Answer[DeploymentChanged]:
    """Pause or resume a deployment."""
    body = {"DeploymentID": deployment_id, "Pause": pause}
    return client.put(_path("pause/", deployment_id), DeploymentChanged, body=body)


def promote(client: Client, deployment_id: str, groups: Sequence[str] = ()) -> Answer[DeploymentChanged]:
    """Promote the canaries of the given groups, or of all."""
    body = {"DeploymentID": deployment_id, "All": not groups, "Groups": list(groups)}
    return client.put(_path("promote/", deployment_id), DeploymentChanged, body=body)


def unblock(client: Client, deployment_id: str) -> Answer[DeploymentChanged]:
    """Let a multi-region deployment go on."""
    return client.put(
        _path("unblock/", deployment_id), DeploymentChanged, body={"DeploymentID": deployment_id}
    )


def set_health(
    client: Client, deployment_id: str, *, healthy: Sequence[str] = (), unhealthy: Sequence[str] = ()
) -> Answer[DeploymentChanged]:
    """Say which allocations of a deployment are healthy, and which are not."""
    body = {
        "DeploymentID": deployment_id,
        "HealthyAllocationIDs": list(healthy),
        "UnhealthyAllocationIDs": list(unhealthy),
    }
    return client.put(_path("allocation-health/", deployment_id), DeploymentChanged, body=body)


def _path(action: str, deployment_id: str) -> str:
    return f"/v1/deployment/{action}{path_segment(deployment_id)}"
