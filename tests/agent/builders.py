"""Jobs, allocations and nodes for tests of the agent."""

from __future__ import annotations

import msgspec

from yurt.model.allocated import (
    AllocatedCpu,
    AllocatedMemory,
    AllocatedPort,
    AllocatedResources,
    AllocatedShared,
    AllocatedTaskResources,
)
from yurt.model.client_protocol import ClientAlloc
from yurt.model.group import TaskGroup
from yurt.model.job import Job
from yurt.model.node import Node
from yurt.model.task import Task
from yurt.model.wire import AllocID, EvalID, JobID, NodeID

ALLOC_ID = "5b0c1a2d-0000-4000-8000-000000000001"


def a_node(**changes: object) -> Node:
    node = Node(id=NodeID("n1"), name="node1", cgroup_parent="nomad.slice")
    return msgspec.structs.replace(node, **changes)


def a_task(name: str = "t", **changes: object) -> Task:
    return msgspec.structs.replace(Task(name=name, driver="mock_driver", config={}), **changes)


def a_job(*tasks: Task, group: dict[str, object] | None = None, **changes: object) -> Job:
    made = TaskGroup(name="g", tasks=tasks or (a_task(),))
    made = msgspec.structs.replace(made, **(group or {}))
    job = Job(id=JobID("j"), name="j", type="batch", task_groups=(made,))
    return msgspec.structs.replace(job, **changes)


def an_alloc(
    job: Job | None = None, *, ports: tuple[AllocatedPort, ...] = (), **changes: object
) -> ClientAlloc:
    job = job or a_job()
    group = job.task_groups[0]
    resources = AllocatedResources(
        tasks={
            task.name: AllocatedTaskResources(
                cpu=AllocatedCpu(cpu_shares=task.resources.cpu),
                memory=AllocatedMemory(
                    memory_mb=task.resources.memory_mb, memory_max_mb=task.resources.memory_max_mb
                ),
            )
            for task in group.tasks
        },
        task_lifecycles={task.name: task.lifecycle for task in group.tasks},
        shared=AllocatedShared(disk_mb=group.ephemeral_disk.size_mb, ports=ports or None),
    )
    alloc = ClientAlloc(
        id=AllocID(ALLOC_ID),
        name=f"{job.id}.{group.name}[0]",
        namespace=job.namespace,
        node_id=NodeID("n1"),
        eval_id=EvalID("e1"),
        job=job,
        task_group=group.name,
        resources=resources,
        desired_status="run",
        alloc_modify_index=1,
    )
    return msgspec.structs.replace(alloc, **changes)
