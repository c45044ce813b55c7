"""The stored form of services and their checks."""

from __future__ import annotations

from yurt.model.go_types import Folded
from yurt.model.wire import DEFAULT_NAMESPACE

_GROUP_AS_TASK = "group"
"""What `${TASK}` stands for in the name of a group's service."""

_EMPTY_IS_NULL = ("Tags", "CanaryTags", "Meta", "CanaryMeta", "TaggedAddresses", "Checks")


def stored_services(services: list[Folded], *, job: Folded, group: str, task: str | None) -> list[Folded]:
    """Bring the defaulted services of a group (`task` None) or of a task into their stored form."""
    return [_stored_service(service, job=job, group=group, task=task) for service in services]


def _stored_service(service: Folded, *, job: Folded, group: str, task: str | None) -> Folded:
    out = {name: value for name, value in service.items() if value or name not in _EMPTY_IS_NULL}
    if "${" in out["Name"]:
        out["Name"] = _named(out["Name"], job_id=job["ID"], group=group, task=task or _GROUP_AS_TASK)
    out["Namespace"] = job["Namespace"] if out["Provider"] == "nomad" else DEFAULT_NAMESPACE
    if task is not None and not out.get("TaskName"):
        out["TaskName"] = task
    if "Weights" in out:
        out["Weights"] = {name: max(1, out["Weights"].get(name, 1)) for name in ("Passing", "Warning")}
    if "Checks" in out:
        out["Checks"] = [_stored_check(check, service=out) for check in out["Checks"]]
    if "Connect" in out:
        out["Connect"] = _stored_connect(out["Connect"])
    if "ChangeSignal" in out.get("Identity", ()):
        out["Identity"] = {**out["Identity"], "ChangeSignal": out["Identity"]["ChangeSignal"].upper()}
    return out


def _named(name: str, *, job_id: str, group: str, task: str) -> str:
    for variable, value in (
        ("${JOB}", job_id),
        ("${TASKGROUP}", group),
        ("${TASK}", task),
        ("${BASE}", f"{job_id}-{group}-{task}"),
    ):
        name = name.replace(variable, value)
    return name


def _stored_check(check: Folded, *, service: Folded) -> Folded:
    out = {name: value for name, value in check.items() if value or name not in ("Args", "Header")}
    out["Name"] = out.get("Name") or f'service: "{service["Name"]}" check'
    out["TaskName"] = out.get("TaskName") or service.get("TaskName", "")
    return out


def _stored_connect(connect: Folded) -> Folded:
    """Take the older names of a proxy's exposed paths for the newer ones."""
    proxy = connect.get("SidecarService", {}).get("Proxy")
    if proxy is None:
        return connect
    expose = proxy.get("Expose") or proxy.get("ExposeConfig")
    if expose is None:
        return connect
    paths = expose.get("Paths") or expose.get("Path")
    stored = {**proxy, "Expose": {"Paths": paths} if paths else {}}
    return {**connect, "SidecarService": {**connect["SidecarService"], "Proxy": stored}}
