"""Calls about why jobs are placed where they are."""

from yurt.sdk.client import Answer, Client
from yurt.sdk.transport import path_segment
from yurt.sdk.types.placements import Placements


def of_job(client: Client, job_id: str, *, group: str = "", node: str = "") -> Answer[Placements]:
    """Ask every node, or one, what it says to one more instance of a job's groups, or of one."""
    return client.get(f"/v1/job/{path_segment(job_id)}/placements", Placements, group=group, node=node)


def of_evaluation(client: Client, eval_id: str, *, group: str = "", node: str = "") -> Answer[Placements]:
    """Ask the same for the job of an evaluation."""
    return client.get(
        f"/v1/evaluation/{path_segment(eval_id)}/placements", Placements, group=group, node=node
    )
