"""Calls about allocations, and about the files and tasks behind them."""

from collections.abc import Iterator
from contextlib import AbstractContextManager

from yurt.sdk.client import Answer, Client
from yurt.sdk.services import Registration
from yurt.sdk.streams import ByteStream
from yurt.sdk.transport import Param, path_segment
from yurt.sdk.types.allocs import Alloc, AllocStub, AllocUsage, CheckResult, FileInfo, ScheduleState, Stopped

ENDED = frozenset({"complete", "failed", "lost"})
"""The client statuses of allocations that run no more."""

# The server sends a heartbeat every second on a framed stream that follows a file.
FRAMES_IDLE_TIMEOUT_S = 60.0


def listing(client: Client, /, **params: Param) -> Answer[tuple[AllocStub, ...]]:
    """List allocations; `prefix`, `filter`, `per_page`, `next_token`, `reverse` may be given."""
    return client.get("/v1/allocations", tuple[AllocStub, ...], **params)


def read(client: Client, alloc_id: str) -> Answer[Alloc]:
    """Read an allocation by its full id."""
    return client.get(f"/v1/allocation/{path_segment(alloc_id)}", Alloc)


def stop(client: Client, alloc_id: str, *, no_shutdown_delay: bool = False) -> Answer[Stopped]:
    """Stop an allocation; the scheduler replaces it."""
    path = f"/v1/allocation/{path_segment(alloc_id)}/stop"
    return client.put(path, Stopped, no_shutdown_delay=no_shutdown_delay)


def usage(client: Client, alloc_id: str) -> Answer[AllocUsage]:
    """Measure what an allocation uses."""
    return client.get(_task_path(alloc_id, "stats"), AllocUsage)


def checks(client: Client, alloc_id: str) -> Answer[dict[str, CheckResult] | None]:
    """Read the latest results of the service checks that the node itself runs."""
    return client.get(_task_path(alloc_id, "checks"), dict[str, CheckResult] | None)  # type: ignore[arg-type] # a union is no class


def restart(client: Client, alloc_id: str, *, task: str = "", all_tasks: bool = False) -> None:
    """Restart one task, the running tasks, or all tasks."""
    client.send("PUT", _task_path(alloc_id, "restart"), body={"TaskName": task, "AllTasks": all_tasks})


def signal(client: Client, alloc_id: str, *, task: str, signal_name: str) -> None:
    """Send a signal to a task, or to every task when `task` is empty."""
    client.send("PUT", _task_path(alloc_id, "signal"), body={"Task": task, "Signal": signal_name})


def pause_state(client: Client, alloc_id: str, task: str) -> str:
    """Read the state of a task that runs on a schedule."""
    return client.get(_task_path(alloc_id, "pause"), ScheduleState, task=task).value.schedule_state


def set_pause_state(client: Client, alloc_id: str, task: str, state: str) -> None:
    """Pause a task, run it, or put it back on schedule."""
    client.send("PUT", _task_path(alloc_id, "pause"), body={"Task": task, "ScheduleState": state})


def list_files(client: Client, alloc_id: str, path: str) -> Answer[tuple[FileInfo, ...]]:
    """List a directory of the allocation."""
    return client.get(_file_path(alloc_id, "ls"), tuple[FileInfo, ...], path=path)


def file_info(client: Client, alloc_id: str, path: str) -> Answer[FileInfo]:
    """Describe a file or directory of the allocation."""
    return client.get(_file_path(alloc_id, "stat"), FileInfo, path=path)


def stream_file(
    client: Client, alloc_id: str, path: str, *, follow: bool, offset: int = 0, origin: str = "start"
) -> AbstractContextManager[ByteStream]:
    """Read a file as frames. With `origin="end"` the offset counts back from the end."""
    return client.stream(
        _file_path(alloc_id, "stream"),
        idle_timeout_s=FRAMES_IDLE_TIMEOUT_S,
        path=path,
        follow="true" if follow else "false",
        offset=offset,
        origin=origin,
    )


def stream_logs(
    client: Client,
    alloc_id: str,
    task: str,
    *,
    kind: str,
    follow: bool,
    offset: int = 0,
    origin: str = "start",
) -> AbstractContextManager[ByteStream]:
    """Read a task's `stdout` or `stderr` as frames."""
    return client.stream(
        _file_path(alloc_id, "logs"),
        idle_timeout_s=FRAMES_IDLE_TIMEOUT_S,
        task=task,
        type=kind,
        follow="true" if follow else "false",
        offset=offset,
        origin=origin,
    )


def data_of(stream: ByteStream) -> Iterator[bytes]:
    """Give the bytes of a framed stream."""
    for frame in stream.frames():
        if frame.data:
            yield frame.data


def services(client: Client, alloc_id: str) -> Answer[tuple[Registration, ...]]:
    """List the registered services of an allocation."""
    return client.get(f"/v1/allocation/{path_segment(alloc_id)}/services", tuple[Registration, ...])


def health(client: Client, alloc_id: str) -> Answer[dict[str, CheckResult] | None]:
    """Read the results of the service checks, as `checks` does, by way of the servers."""
    path = f"/v1/allocation/{path_segment(alloc_id)}/checks"
    return client.get(path, dict[str, CheckResult] | None)  # type: ignore[arg-type] # a union is no class


def read_file(client: Client, alloc_id: str, path: str) -> bytes:
    """Read a file of the allocation. What cannot be read gives the text that says why, as the API does."""
    return client.exchange("GET", _file_path(alloc_id, "cat"), path=path)[2]


def read_file_part(client: Client, alloc_id: str, path: str, *, offset: int, limit: int = 0) -> bytes:
    """Read a part of a file; a limit of 0 reads to its end."""
    return client.exchange("GET", _file_path(alloc_id, "readat"), path=path, offset=offset, limit=limit)[2]


def collect(client: Client, alloc_id: str) -> None:
    """Have its node delete an allocation that is over."""
    client.send("GET", _task_path(alloc_id, "gc"))


def _task_path(alloc_id: str, action: str) -> str:
    return f"/v1/client/allocation/{path_segment(alloc_id)}/{action}"


def _file_path(alloc_id: str, action: str) -> str:
    return f"/v1/client/fs/{action}/{path_segment(alloc_id)}"
