"""Tasks and ports that Consul Connect services bring with them."""

from __future__ import annotations

from yurt.model.canonical.stored_task import DEFAULT_HOST_NETWORK, stored_task
from yurt.model.canonical.tasks import defaulted_task
from yurt.model.go_types import Folded
from yurt.model.times import SECOND_NS

_GATEWAYS = {"Ingress": "connect-ingress", "Terminating": "connect-terminating", "Mesh": "connect-mesh"}


def add_connect_parts(group: Folded) -> None:
    """Add the proxy tasks, with their ports, that the group's services ask for, in place.

    A group that has them already, as a job read back has, stays as it is.
    """
    for service in group.get("Services", ()):
        connect = service.get("Connect")
        if connect is None:
            continue
        if "SidecarService" in connect:
            label = f"connect-proxy-{service['Name']}"
            _add_task(group, label, kind=f"connect-proxy:{service['Name']}", image="sidecar", connect=connect)
            _add_port(group, label)
        elif "Gateway" in connect:
            prefix = next((name for key, name in _GATEWAYS.items() if key in connect["Gateway"]), None)
            if prefix is not None:
                kind = f"{prefix}:{service['Name']}"
                _add_task(group, f"{prefix}-{service['Name']}", kind=kind, image="gateway", connect=connect)
        elif connect.get("Native"):
            for task in group.get("Tasks", ()):
                if task.get("Name") == service.get("TaskName"):
                    task["Kind"] = f"connect-native:{service['Name']}"


def _add_task(group: Folded, name: str, *, kind: str, image: str, connect: Folded) -> None:
    tasks = group.get("Tasks", [])
    if any(task.get("Kind") == kind for task in tasks):
        return
    proxy: Folded = {
        "Name": name,
        "Kind": kind,
        "Driver": "docker",
        "Config": {
            "image": f"${{meta.connect.{image}_image}}",
            "args": [
                "-c",
                "${NOMAD_SECRETS_DIR}/envoy_bootstrap.json",
                "-l",
                "${meta.connect.log_level}",
                "--concurrency",
                "${meta.connect.proxy_concurrency}",
                "--disable-hot-restart",
            ],
        },
        "ShutdownDelay": 5 * SECOND_NS,
        "LogConfig": {"MaxFiles": 2, "MaxFileSizeMB": 2},
        "Resources": {"CPU": 250, "MemoryMB": 128},
        "Lifecycle": {"Hook": "prestart", "Sidecar": True},
    }
    overrides = {name: value for name, value in connect.get("SidecarTask", {}).items() if value}
    task = defaulted_task({**proxy, **overrides}, job_id="", group=group)
    stored_task(task, job={}, group=group.get("Name", ""))
    group["Tasks"] = [*tasks, task]


def _add_port(group: Folded, label: str) -> None:
    networks = group.get("Networks")
    if not networks:
        return
    ports = networks[0].get("DynamicPorts", [])
    if all(port.get("Label") != label for port in ports):
        port = {"Label": label, "To": -1, "HostNetwork": DEFAULT_HOST_NETWORK}
        networks[0]["DynamicPorts"] = [*ports, port]
