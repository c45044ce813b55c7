"""Commands inside tasks: /v1/client/allocation/<id>/exec, and the actions that jobs name for it."""

from __future__ import annotations

import json

from yurt.api import needs
from yurt.api.answer import Answer
from yurt.api.call import Call
from yurt.api.errors import HttpError
from yurt.api.routes import ANY_METHOD, Route
from yurt.api.v1.exec_streams import carry
from yurt.api.v1.local_node import ClientDeps, checked_alloc_id, known_alloc, node_of_alloc
from yurt.api.websocket import WebSocket
from yurt.model.alloc import Allocation
from yurt.model.task import Task
from yurt.model.task_parts import Action
from yurt.observe.logger import get_logger

EXEC, EXEC_ON_HOST = "alloc-exec", "alloc-node-exec"
# Their tasks have a root of their own, on every node that the servers place them on.
ISOLATING_DRIVERS = ("docker", "exec", "java")
NO_WEBSOCKET = "websocket connection not found in context"

logger = get_logger("exec")


class ExecHandlers:
    """The handlers of exec sessions."""

    def __init__(self, deps: ClientDeps) -> None:
        self._deps = deps

    def routes(self) -> tuple[Route, ...]:
        """Their part of the route table."""
        return (
            Route(
                path="/v1/client/allocation/{alloc_id}/exec",
                handlers=dict.fromkeys(ANY_METHOD, self.refuse),
                websocket=self.run_command,
                summary="Run a command in a task, over a WebSocket",
                needs=needs.namespace(EXEC, of=self._deps.namespace_of.alloc),
                cors=("HEAD", "GET"),
            ),
            Route(
                path="/v1/job/{job_id}/action",
                handlers={"GET": self.refuse_action},
                websocket=self.run_action,
                summary="Run an action of a job, over a WebSocket",
                needs=needs.namespace(EXEC),
            ),
        )

    async def refuse(self, call: Call) -> Answer:
        """/v1/client/allocation/<id>/exec as a plain request."""
        _command(call)
        raise HttpError(500, NO_WEBSOCKET)

    async def refuse_action(self, _call: Call) -> Answer:
        """GET /v1/job/<id>/action as a plain request."""
        raise HttpError(500, NO_WEBSOCKET)

    async def run_command(self, call: Call, socket: WebSocket) -> None:
        """/v1/client/allocation/<id>/exec."""
        argv = _command(call)
        tty = _tty(call)
        task = _task(call)
        if not argv:
            raise HttpError(400, "command is not present")
        alloc = known_alloc(self._deps, checked_alloc_id(call.path["alloc_id"]))
        await self._run(call, socket, alloc, task=task, argv=argv, tty=tty)

    async def run_action(self, call: Call, socket: WebSocket) -> None:
        """/v1/job/<id>/action."""
        job_id, alloc_id = call.path["job_id"], call.query.get("allocID", "")
        tty = _tty(call)
        if not alloc_id:
            raise HttpError(400, "missing AllocID")
        task = _task(call)
        alloc = known_alloc(self._deps, checked_alloc_id(alloc_id))
        if alloc.job_id != job_id or alloc.namespace != call.namespace:
            raise HttpError(404, f"job {job_id} does not have allocation {alloc_id}")
        action = _action(alloc, task, call.query.get("action", ""))
        argv = (action.command, *(action.args or ()))
        await self._run(call, socket, alloc, task=task, argv=argv, tty=tty)

    async def _run(
        self,
        call: Call,
        socket: WebSocket,
        alloc: Allocation,
        *,
        task: str,
        argv: tuple[str, ...],
        tty: bool,
    ) -> None:
        if not call.permissions.allows(alloc.namespace, EXEC_ON_HOST) and not _is_isolated(alloc, task):
            # Such a command sees the whole machine, so it takes more than a right to the task.
            raise HttpError(*needs.PERMISSION_DENIED)
        node = node_of_alloc(self._deps, alloc)
        session = await node.open_session(alloc.id, task=task, argv=argv, tty=tty)
        # What is run may hold secrets, so the log tells only where.
        logger.info("exec.opened", alloc_id=alloc.id, task=task, tty=tty)
        await carry(socket, session)
        logger.info("exec.closed", alloc_id=alloc.id, task=task)


def _task(call: Call) -> str:
    task = call.query.get("task", "")
    if not task:
        raise HttpError(400, "must provide task name")
    return task


def _tty(call: Call) -> bool:
    try:
        return call.flag("tty")
    except HttpError:
        text = call.query["tty"]
        raise HttpError(
            500, f'tty value is not a boolean: strconv.ParseBool: parsing "{text}": invalid syntax'
        ) from None


def _command(call: Call) -> tuple[str, ...]:
    """The command as a caller gives it, a JSON list of texts. Raises HttpError with Go's words."""
    text = call.query.get("command", "")
    try:
        command = json.loads(text)
    except ValueError:
        what = f"invalid character '{text[:1]}' looking for beginning of value"
        if not text:
            what = "unexpected end of JSON input"
        raise HttpError(500, f"failed to marshal command into json: {what}") from None
    if command is None:
        return ()
    if not isinstance(command, list) or not all(isinstance(part, str) for part in command):
        what = "json: cannot unmarshal a value that is no list of strings into Go value of type []string"
        raise HttpError(500, f"failed to marshal command into json: {what}")
    return tuple(command)


def _is_isolated(alloc: Allocation, task_name: str) -> bool:
    """Whether a task has a root of its own; one that does not exist has."""
    task = _find_task(alloc, task_name)
    return task is None or task.driver in ISOLATING_DRIVERS


def _action(alloc: Allocation, task_name: str, name: str) -> Action:
    task = _find_task(alloc, task_name)
    for action in (task.actions if task is not None else None) or ():
        if action.name == name:
            return action
    raise HttpError(404, f"action {name} not found in task {task_name}")


def _find_task(alloc: Allocation, name: str) -> Task | None:
    group = alloc.job.group(alloc.task_group)
    return next((task for task in group.tasks if task.name == name), None) if group is not None else None
