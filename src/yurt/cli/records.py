"""Members that the API leaves out of an answer when they are empty.

With `-json` and `-t` they are shown with their empty value, so that programs can count on them.
"""

from typing import Any

ALLOC_MEMBERS: dict[str, object] = {
    "ID": "",
    "Namespace": "",
    "EvalID": "",
    "Name": "",
    "NodeID": "",
    "NodeName": "",
    "JobID": "",
    "Job": None,
    "TaskGroup": "",
    "Resources": None,
    "TaskResources": None,
    "AllocatedResources": None,
    "Services": None,
    "Metrics": None,
    "DesiredStatus": "",
    "DesiredDescription": "",
    "DesiredTransition": {"Migrate": None, "Reschedule": None},
    "ClientStatus": "",
    "ClientDescription": "",
    "TaskStates": None,
    "DeploymentID": "",
    "DeploymentStatus": None,
    "FollowupEvalID": "",
    "PreviousAllocation": "",
    "NextAllocation": "",
    "RescheduleTracker": None,
    "NetworkStatus": None,
    "PreemptedAllocations": None,
    "PreemptedByAllocation": "",
    "CreateIndex": 0,
    "ModifyIndex": 0,
    "AllocModifyIndex": 0,
    "CreateTime": 0,
    "ModifyTime": 0,
}

EVALUATION_MEMBERS: dict[str, object] = {
    "ID": "",
    "Priority": 0,
    "Type": "",
    "TriggeredBy": "",
    "Namespace": "",
    "JobID": "",
    "JobModifyIndex": 0,
    "NodeID": "",
    "NodeModifyIndex": 0,
    "DeploymentID": "",
    "Status": "",
    "StatusDescription": "",
    "Wait": 0,
    "WaitUntil": "0001-01-01T00:00:00Z",
    "NextEval": "",
    "PreviousEval": "",
    "BlockedEval": "",
    "RelatedEvals": None,
    "FailedTGAllocs": None,
    "PlanAnnotations": None,
    "ClassEligibility": None,
    "EscapedComputedClass": False,
    "QuotaLimitReached": "",
    "AnnotatePlan": False,
    "QueuedAllocations": None,
    "MissingNonNodeResources": None,
    "SnapshotIndex": 0,
    "CreateIndex": 0,
    "ModifyIndex": 0,
    "CreateTime": 0,
    "ModifyTime": 0,
}


def job_record(job: dict[str, Any]) -> dict[str, Any]:
    """A stored job in the form that job files have: with the members that only requests know."""
    for group in job.get("TaskGroups") or ():
        for task in group.get("Tasks") or ():
            if task.get("CSIPluginConfig") is None:
                task.pop("CSIPluginConfig", None)
            if isinstance(task.get("LogConfig"), dict):
                task["LogConfig"].setdefault("Enabled", None)
    return {"Migrate": None, "Reschedule": None, **job}
