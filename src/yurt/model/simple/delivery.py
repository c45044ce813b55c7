"""What a push node is sent for an allocation."""

from __future__ import annotations

from typing import Any

from yurt.model.alloc import Allocation
from yurt.model.simple.tasks import written


def delivered_form(alloc: Allocation) -> dict[str, Any]:
    """An allocation as push nodes take it: its tasks as their submitter wrote them."""
    group = alloc.job.group(alloc.task_group)
    assert group is not None, f"allocation {alloc.id} is of no group of its job"
    tasks = []
    for task in group.tasks:
        said = written(task, group)
        tasks.append({"name": task.name, "resources": said.resources, "config": said.config})
    return {
        "allocation_id": alloc.id,
        "job_id": alloc.job_id,
        "task_group": {"name": group.name, "tasks": tasks},
        "status": "pending",
    }


def host_ports(alloc: Allocation) -> tuple[int, ...]:
    """The ports that an allocation takes on its node."""
    return tuple(port.value for port in alloc.resources.shared.ports or ())
