"""What push nodes say: that they join, and how they and their allocations are."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec.structs import replace

from yurt.model.alloc import CLIENT_COMPLETE, CLIENT_FAILED, CLIENT_PENDING, CLIENT_RUNNING
from yurt.model.push_nodes import NODE_ID_CHARS_MAX, endpoint_problem
from yurt.model.simple.fields import Fields
from yurt.model.task_events import TERMINATED
from yurt.model.task_state import TASK_DEAD, TASK_PENDING, TASK_RUNNING, TaskEvent, TaskState
from yurt.model.times import SECOND_NS, time_text
from yurt.model.wire import AllocID, Nanoseconds, Time

MESSAGE_CHARS_MAX = 1000
EXIT_CODE_MAX = 1 << 31
# The kind of the event that carries a push node's own words.
SAID = "Node Message"

_STATUSES = {
    "pending": CLIENT_PENDING,
    "running": CLIENT_RUNNING,
    "complete": CLIENT_COMPLETE,
    "stopped": CLIENT_COMPLETE,
    "failed": CLIENT_FAILED,
    "lost": CLIENT_FAILED,
}
_TASK_STATES = {CLIENT_PENDING: TASK_PENDING, CLIENT_RUNNING: TASK_RUNNING}


class NodeAmounts(msgspec.Struct, frozen=True, kw_only=True):
    """What a push node says it has, free now and in use, in its own units."""

    cpu: int | float = 0
    memory: int | float = 0
    cpu_used: int | float = 0
    memory_used: int | float = 0


class Registration(msgspec.Struct, frozen=True, kw_only=True):
    """A push node joins."""

    node_id: str
    ip_address: str
    resources: NodeAmounts
    healthy: bool
    endpoint: str


class AllocSaid(msgspec.Struct, frozen=True, kw_only=True):
    """What a push node says about one allocation; the status is empty if it is none that we know.

    `whole` is what holds of each task that it says nothing about.
    """

    status: str
    whole: TaskState
    tasks: dict[str, TaskState]

    def states(self, names: Iterable[str]) -> dict[str, TaskState]:
        """The states of tasks; times that are not said are those of the whole."""
        return {name: self._state(self.tasks.get(name)) for name in names}

    def _state(self, said: TaskState | None) -> TaskState:
        if said is None:
            return self.whole
        is_over = said.state == TASK_DEAD
        return replace(
            said,
            started_at=said.started_at or (self.whole.started_at if said.state != TASK_PENDING else None),
            finished_at=said.finished_at or (self.whole.finished_at if is_over else None),
        )


class PushHeartbeat(msgspec.Struct, frozen=True, kw_only=True):
    """A sign of life; `allocations` is None if the node says nothing about them."""

    node_id: str
    resources: NodeAmounts
    healthy: bool
    allocations: dict[AllocID, AllocSaid] | None


def read_registration(body: Fields) -> Registration:
    """Read the body of `POST /register`. Raises BadField."""
    node_id, ip_address = _node_id(body), body.text("ip_address")
    resources, healthy, endpoint = _amounts(body), body.flag("healthy"), body.text("endpoint")
    problem = endpoint_problem(endpoint)
    if problem:
        raise body.bad("endpoint", problem)
    return Registration(
        node_id=node_id, ip_address=ip_address, resources=resources, healthy=healthy, endpoint=endpoint
    )


def read_heartbeat(body: Fields) -> PushHeartbeat:
    """Read the body of `POST /heartbeat`. Raises BadField."""
    node_id, resources, healthy = _node_id(body), _amounts(body), body.flag("healthy")
    body.number("timestamp")
    said = None
    if body.has("allocations"):
        said = {AllocID(alloc_id): _alloc(alloc) for alloc_id, alloc in body.fields("allocations").members()}
    return PushHeartbeat(node_id=node_id, resources=resources, healthy=healthy, allocations=said)


def _node_id(body: Fields) -> str:
    node_id = body.text("node_id")
    if len(node_id) > NODE_ID_CHARS_MAX or not node_id.isprintable():
        raise body.bad("node_id", f"must be printable and not longer than {NODE_ID_CHARS_MAX} characters")
    return node_id


def _amounts(body: Fields) -> NodeAmounts:
    resources = body.fields("resources")
    return NodeAmounts(
        cpu=resources.amount("cpu"),
        memory=resources.amount("memory"),
        cpu_used=resources.amount("cpu_used", 0),
        memory_used=resources.amount("memory_used", 0),
    )


def _alloc(alloc: Fields) -> AllocSaid:
    tasks = {name: _task(task) for name, task in alloc.fields_if_any("tasks").members()}
    status = _STATUSES.get(alloc.text("status"), "")
    return AllocSaid(status=status, whole=_task(alloc), tasks=tasks)


def _task(task: Fields) -> TaskState:
    status = _STATUSES.get(task.text("status"), CLIENT_RUNNING)
    finished_at = _time(task.time("end_time"))
    message = task.text("message", "") or task.text("error", "")
    events = []
    if task.has("exit_code"):
        code = task.whole("exit_code", 0, least=-EXIT_CODE_MAX, most=EXIT_CODE_MAX)
        events.append(TaskEvent(type=TERMINATED, time=0, exit_code=code, details={"exit_code": str(code)}))
    if message:
        events.append(TaskEvent(type=SAID, time=0, message=message[:MESSAGE_CHARS_MAX]))
    return TaskState(
        state=_TASK_STATES.get(status, TASK_DEAD),
        failed=status == CLIENT_FAILED,
        started_at=_time(task.time("start_time")),
        finished_at=finished_at,
        events=tuple(events) or None,
    )


def _time(seconds: float | None) -> Time:
    return time_text(nanoseconds(seconds)) if seconds is not None else None


def nanoseconds(seconds: float) -> Nanoseconds:
    """Unix seconds as nanoseconds, exact to the microsecond."""
    return round(seconds * 1e6) * (SECOND_NS // 1_000_000)
