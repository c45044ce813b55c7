"""Turn a task of an allocation into what its driver is asked to start."""

from __future__ import annotations

from yurt.agent import task_events
from yurt.agent.alloc_dir import TaskDir
from yurt.agent.config_template.evaluate import evaluate_config
from yurt.agent.drivers import Driver, FsIsolation, TaskResources, TaskSpec, config_error_text
from yurt.agent.node_context import NodeContext
from yurt.agent.task_env import ISOLATED_PATHS, TaskEnv, TaskEnvParts, task_env
from yurt.errors import YurtError
from yurt.model.client_protocol import ClientAlloc
from yurt.model.task import Task
from yurt.model.task_state import TaskEvent


class CannotStart(YurtError):
    """The task could not be started; `event` says why."""

    def __init__(self, event: TaskEvent, *, recoverable: bool) -> None:
        super().__init__(event.type)
        self.event = event
        self.recoverable = recoverable


def environment(
    alloc: ClientAlloc,
    task: Task,
    *,
    node: NodeContext,
    driver: Driver,
    directory: TaskDir,
    hook_variables: dict[str, str],
) -> TaskEnv:
    """The task's environment: paths as its driver shows them, the agent's own only without an image."""
    isolation = driver.capabilities.fs_isolation
    parts = TaskEnvParts(
        paths=directory.paths if isolation is FsIsolation.NONE else ISOLATED_PATHS,
        host={} if isolation is FsIsolation.IMAGE else node.host_env,
        hooks=hook_variables,
    )
    return task_env(alloc, task, node=node.node, region=node.settings.region, parts=parts)


def task_spec(
    alloc: ClientAlloc,
    task: Task,
    *,
    driver: Driver,
    directory: TaskDir,
    env: TaskEnv,
    attempt: int,
    now: int,
) -> TaskSpec:
    """Resolve and check the task's config. Raises CannotStart for one that its driver cannot use."""
    config, problems = evaluate_config(task.config or {}, env)
    problems = problems or driver.validate_config(config)
    if problems:
        event = task_events.failed_validation(now, error=config_error_text(problems))
        raise CannotStart(event, recoverable=False)
    given = alloc.resources.tasks.get(task.name)
    logs = task.log_config
    return TaskSpec(
        alloc_id=alloc.id,
        task=task.name,
        attempt=attempt,
        config=config,
        env=env.variables,
        task_dir=directory.path,
        user=task.user,
        log_dir="" if logs.disabled else directory.logs,
        log_files_max=logs.max_files,
        log_file_mb_max=logs.max_file_size_mb,
        resources=TaskResources(
            cpu_shares=given.cpu.cpu_shares,
            memory_mb=given.memory.memory_mb,
            memory_max_mb=given.memory.memory_max_mb,
            cores=given.cpu.reserved_cores or (),
        )
        if given
        else TaskResources(),
    )
