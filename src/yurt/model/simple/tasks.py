"""Tasks of the simple dialect: a container or a command line, and what its submitter wrote.

The model's task is what Yurt's own nodes run. Where it cannot say what was written (no reservation asked,
members of `config` that no driver knows), the text itself travels with the task, in its metadata: push
nodes are given what was written, never what the scheduler made of it.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from yurt.model.decode import plan_of
from yurt.model.forms.job import TaskForm
from yurt.model.forms.task_parts import ResourcesForm
from yurt.model.go_types import Folded
from yurt.model.group import TaskGroup
from yurt.model.simple.fields import BadField, Fields
from yurt.model.simple.spelling import wire_spelling
from yurt.model.task import Task
from yurt.model.validate.networks import PORT_MAX
from yurt.model.validate.resources import CPU_MHZ_MIN, MEMORY_MB_MIN

WRITTEN_KEY = "yurt.simple"
CONTAINER_DRIVER, PROCESS_DRIVER = "docker", "raw_exec"
SHELL = "/bin/sh"
PROCESS_KILL_SIGNAL = "SIGTERM"

_OWN_MEMBERS = frozenset(("name", "driver", "resources", "config"))
_AMOUNT_NAMES = {"memory": "memory_mb", "memory_max": "memory_max_mb"}


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """What the submitter of a task wrote: 0 is "no reservation asked"."""

    cpu: int | float = 0
    memory: int | float = 0
    config: dict[str, Any] = {}

    @property
    def resources(self) -> dict[str, int | float]:
        """The amounts, both always there."""
        return {"cpu": self.cpu, "memory": self.memory}


class TaskRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A task as the wire has it, and the host port that it publishes; 0 is none."""

    task: Folded
    port: int = 0


def port_label(port: int) -> str:
    """The name of a published port in its group's network."""
    return f"port{port}"


def task_request(fields: Fields) -> TaskRequest:
    """Read one task. Raises BadField."""
    name = fields.text("name")
    resources = fields.fields_if_any("resources")
    cpu, memory = resources.amount("cpu", 0), resources.amount("memory", 0)
    driver = fields.text("driver", "")
    config = fields.fields_if_any("config") if driver else fields.fields("config")
    written = Written(cpu=cpu, memory=memory, config=dict(config.value))
    extras = {key: item for key, item in fields.value.items() if key not in _OWN_MEMBERS}
    amounts = {_AMOUNT_NAMES.get(key, key): item for key, item in resources.value.items()}
    task: Folded = {
        **wire_spelling(extras, plan_of(TaskForm)),
        "Name": name,
        "Resources": {**wire_spelling(amounts, plan_of(ResourcesForm)), **_reservation(written)},
    }
    if resources.has("cores"):
        # Cores come with their MHz; a task asks for one or the other.
        task["Resources"].pop("CPU")
    port = 0
    if driver:
        task |= {"Driver": driver, "Config": written.config}
    else:
        port = published_port(config)
        task |= _driven(config, port)
        if task["Driver"] == PROCESS_DRIVER:
            # A shell that waits for a command leaves an interrupt, the usual signal, to it.
            task.setdefault("KillSignal", PROCESS_KILL_SIGNAL)
    if not _says_all(task, written, is_plain=not driver):
        meta = task.get("Meta")
        if meta is not None and type(meta) is not dict:
            raise fields.bad("meta", "must be an object")
        task["Meta"] = {**(meta or {}), WRITTEN_KEY: msgspec.json.encode(written).decode()}
    return TaskRequest(task=task, port=port)


def published_port(config: Fields) -> int:
    """The host port that a container publishes; 0 is none. Raises BadField."""
    if not config.has("image"):
        return 0
    return config.whole("port", 0, least=1, most=PORT_MAX)


def _driven(config: Fields, port: int) -> Folded:
    """Driver and its configuration for what was written."""
    if config.has("image"):
        rest = {key: item for key, item in config.value.items() if key not in ("image", "port", "command")}
        driven: Folded = {"image": config.text("image"), **rest}
        if config.has("command"):
            driven |= _command(config)
        if port:
            driven["ports"] = [port_label(port)]
        return {"Driver": CONTAINER_DRIVER, "Config": driven}
    if not config.has("command"):
        raise BadField(config.at, "needs image, for a container, or command, for a process")
    return {"Driver": PROCESS_DRIVER, "Config": {"command": SHELL, "args": ["-c", config.text("command")]}}


def _command(config: Fields) -> Folded:
    """A container's command line, split as a shell splits it; one with `args` stays as it is."""
    text = config.text("command", "")
    if "args" in config.value:
        return {"command": text}
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise config.bad("command", f"is not a command line: {error}") from None
    return {"command": words[0], "args": words[1:]} if words else {}


def _reservation(written: Written) -> Folded:
    """What the scheduler books: the least there is where nothing was asked."""
    return {
        "CPU": max(CPU_MHZ_MIN, math.ceil(written.cpu)),
        "MemoryMB": max(MEMORY_MB_MIN, math.ceil(written.memory)),
    }


def _says_all(task: Folded, written: Written, *, is_plain: bool) -> bool:
    """Whether what was written can be read from the task itself."""
    amounts = task["Resources"]
    if (amounts.get("CPU", 0), amounts["MemoryMB"]) != (written.cpu, written.memory):
        return False
    return not is_plain or _config_from(task["Driver"], task["Config"], _port_of_label) == written.config


def _port_of_label(labels: Sequence[str]) -> int:
    return int(labels[0].removeprefix("port")) if labels else 0


def asks_no_memory(task: Task) -> bool:
    """Whether a task was submitted without asking for memory, so that it has no limit either."""
    kept = _kept(task)
    return kept is not None and kept.memory == 0


def written(task: Task, group: TaskGroup) -> Written:
    """What the submitter of a task wrote, or what one would have written for it."""
    kept = _kept(task)
    if kept is not None:
        return kept
    config = _config_from(task.driver, task.config or {}, lambda labels: _host_port(group, labels))
    return Written(cpu=task.resources.cpu, memory=task.resources.memory_mb, config=config)


def is_plain(task: Task, group: TaskGroup) -> bool:
    """Whether a task is wholly said by its image or command line, without naming a driver."""
    if task.driver not in (CONTAINER_DRIVER, PROCESS_DRIVER):
        return False
    fields = Fields(written(task, group).config)
    try:
        driven = _driven(fields, published_port(fields))
    except BadField:
        return False
    return driven == {"Driver": task.driver, "Config": task.config or {}}


def _kept(task: Task) -> Written | None:
    """The written text that travels with a task, unless the task was changed since."""
    text = (task.meta or {}).get(WRITTEN_KEY, "")
    if not text:
        return None
    try:
        kept = msgspec.json.decode(text, type=Written)
    except msgspec.MsgspecError:
        return None
    amounts = _reservation(kept)
    if (amounts["CPU"], amounts["MemoryMB"]) != (task.resources.cpu, task.resources.memory_mb):
        return None
    if kept.config == (task.config or {}):
        return kept
    fields = Fields(kept.config)
    try:
        driven = _driven(fields, published_port(fields))
    except BadField:
        return None
    return kept if driven == {"Driver": task.driver, "Config": task.config or {}} else None


def _config_from(
    driver: str, config: Mapping[str, Any], port_of: Callable[[Sequence[str]], int]
) -> dict[str, Any]:
    """The `config` that a driver's configuration comes from."""
    rest = {key: item for key, item in config.items() if key not in ("command", "args", "ports")}
    line = _line(config)
    if driver == PROCESS_DRIVER:
        args = list(config.get("args") or ())
        if config.get("command") == SHELL and len(args) == 2 and args[0] == "-c":
            line = args[1]
        return {"command": line, **rest}
    if driver != CONTAINER_DRIVER:
        return dict(config)
    port = port_of(config.get("ports") or ())
    return {
        "image": config.get("image", ""),
        **({"port": port} if port else {}),
        **({"command": line} if line else {}),
        **{key: item for key, item in rest.items() if key != "image"},
    }


def _line(config: Mapping[str, Any]) -> str:
    words = [config.get("command"), *(config.get("args") or ())]
    return shlex.join(str(word) for word in words if word is not None)


def _host_port(group: TaskGroup, labels: Sequence[str]) -> int:
    ports = {
        port.label: port.value for network in group.networks or () for port in network.reserved_ports or ()
    }
    return next((ports[label] for label in labels if label in ports), 0)
