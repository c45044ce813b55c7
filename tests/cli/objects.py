"""Answers of the API that lead to recorded output."""

from typing import Any

from tests.cli.transcripts import at

Json = dict[str, Any]

NODE_ID = "156a61b8-993b-5837-08a7-3aa72ade4f92"


def a_job(job_id: str, **members: Any) -> Json:  # any JSON
    return {
        "ID": job_id,
        "Name": job_id,
        "Namespace": "default",
        "Type": "service",
        "Priority": 50,
        "Datacenters": ["*"],
        "NodePool": "default",
        "Status": "running",
        "Stop": False,
        "Periodic": None,
        "ParameterizedJob": None,
        "TaskGroups": [],
        "Version": 0,
        **members,
    }


def a_job_stub(job_id: str, **members: Any) -> Json:  # any JSON
    return {
        "ID": job_id,
        "Name": job_id,
        "Namespace": "default",
        "Type": "service",
        "Priority": 50,
        "Status": "running",
        "Stop": False,
        "Periodic": False,
        "ParameterizedJob": False,
        "SubmitTime": 0,
        **members,
    }


def a_summary(job_id: str, groups: Json, children: Json | None = None) -> Json:
    zero = dict.fromkeys(("Queued", "Starting", "Running", "Failed", "Complete", "Lost", "Unknown"), 0)
    return {
        "JobID": job_id,
        "Namespace": "default",
        "Summary": {name: {**zero, **counts} for name, counts in groups.items()},
        "Children": children or {"Pending": 0, "Running": 0, "Dead": 0},
    }


def an_alloc_stub(alloc_id: str, group: str, **members: Any) -> Json:  # any JSON
    return {
        "ID": alloc_id,
        "EvalID": "",
        "Name": "",
        "NodeID": NODE_ID,
        "NodeName": "node1",
        "JobID": "",
        "JobVersion": 0,
        "TaskGroup": group,
        "DesiredStatus": "run",
        "ClientStatus": "running",
        "TaskStates": None,
        "CreateIndex": 10,
        "ModifyIndex": 10,
        "CreateTime": 0,
        "ModifyTime": 0,
        **members,
    }


def an_eval(eval_id: str, **members: Any) -> Json:  # any JSON
    return {
        "ID": eval_id,
        "Namespace": "default",
        "Priority": 50,
        "Type": "batch",
        "TriggeredBy": "job-register",
        "Status": "complete",
        "CreateIndex": 10,
        "ModifyIndex": 12,
        **members,
    }


def a_deployment(deployment_id: str, job_id: str, groups: Json, **members: Any) -> Json:
    return {
        "ID": deployment_id,
        "Namespace": "default",
        "JobID": job_id,
        "JobVersion": 0,
        "Status": "running",
        "StatusDescription": "Deployment is running",
        "TaskGroups": groups,
        **members,
    }


def a_group_state(*, desired: int, placed: int, healthy: int, deadline: str, **members: Any) -> Json:
    return {
        "AutoRevert": False,
        "Promoted": False,
        "DesiredCanaries": 0,
        "DesiredTotal": desired,
        "PlacedAllocs": placed,
        "HealthyAllocs": healthy,
        "UnhealthyAllocs": 0,
        "RequireProgressBy": deadline,
        **members,
    }


def seconds_before(text: str, seconds: int) -> int:
    return at(text) - seconds * 1_000_000_000
