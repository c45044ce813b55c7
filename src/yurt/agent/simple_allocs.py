"""The allocations of a node as the simple dialect tells of them."""

from __future__ import annotations

from typing import Any

from yurt.agent.agent import NodeAgent
from yurt.agent.alloc_runner.runner import AllocRunner
from yurt.agent.standalone_link import AllocWords
from yurt.model.alloc import CLIENT_COMPLETE
from yurt.model.simple.task_facts import STOPPED, life_times, task_facts


def alloc_view(runner: AllocRunner) -> dict[str, Any]:
    """An allocation, whoever placed it."""
    alloc = runner.alloc
    return {
        "allocation_id": alloc.id,
        "job_id": alloc.job.id,
        "task_group": alloc.task_group,
        **alloc_words(runner),
    }


def alloc_words(runner: AllocRunner) -> dict[str, Any]:
    """How an allocation is, as heartbeats say it."""
    states, status = runner.states, runner.status.status
    if status == CLIENT_COMPLETE and runner.is_told_to_stop:
        status = STOPPED
    return {
        "status": status,
        **life_times(states, over_at=runner.finished_ns if runner.is_over else None),
        "tasks": {name: task_facts(state) for name, state in states.items()},
    }


def alloc_words_of(agent: NodeAgent) -> AllocWords:
    """How all allocations of a node are, and what those that run use."""
    runners = agent.allocs
    live = [runner.alloc.resources for runner in runners.values() if not runner.is_over]
    return AllocWords(
        allocations={alloc_id: alloc_words(runner) for alloc_id, runner in runners.items()},
        cpu_used=sum(resources.cpu_mhz for resources in live),
        memory_used=sum(resources.memory_mb for resources in live),
    )
