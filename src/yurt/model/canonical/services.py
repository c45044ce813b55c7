"""Request defaults of services and their checks."""

from __future__ import annotations

from yurt.model.canonical.blocks import KILL_TIMEOUT_NS, defaulted_log_config, defaulted_resources
from yurt.model.go_types import Folded
from yurt.model.times import SECOND_NS

CHECK_RESTART_GRACE_NS = SECOND_NS
GATEWAY_CONNECT_TIMEOUT_NS = 5 * SECOND_NS

# These members are plain values in a request: an empty one is as good as none.
_SERVICE: Folded = {
    "AddressMode": "auto",
    "OnUpdate": "require_healthy",
    "Provider": "consul",
    "Cluster": "default",
}
_COUNTERS = ("SuccessBeforePassing", "FailuresBeforeCritical", "FailuresBeforeWarning")


def defaulted_services(services: list[Folded], *, default_name: str) -> list[Folded]:
    """Fill what the services of a group or task leave out."""
    return [_service(service, default_name=default_name) for service in services]


def _service(given: Folded, *, default_name: str) -> Folded:
    out = {**_SERVICE, **{name: value for name, value in given.items() if value or name not in _SERVICE}}
    out["Name"] = given.get("Name") or default_name
    if "Checks" in given:
        restart = given.get("CheckRestart")
        out["Checks"] = [
            _check(check, on_update=out["OnUpdate"], restart=restart) for check in given["Checks"]
        ]
    if "Connect" in given:
        out["Connect"] = _connect(given["Connect"])
    return out


def _check(given: Folded, *, on_update: str, restart: Folded | None) -> Folded:
    out = {**given, "OnUpdate": given.get("OnUpdate") or on_update}
    own = given.get("CheckRestart")
    if own is not None or restart is not None:
        set_here = {name: value for name, value in (own or {}).items() if value or name == "Grace"}
        out["CheckRestart"] = {"Grace": CHECK_RESTART_GRACE_NS, **(restart or {}), **set_here}
    for name in _COUNTERS:
        if given.get(name, 0) < 0:
            out[name] = 0
    return out


def _connect(given: Folded) -> Folded:
    out = dict(given)
    if "SidecarTask" in given:
        sidecar = {"KillTimeout": KILL_TIMEOUT_NS, "ShutdownDelay": 0, **given["SidecarTask"]}
        if "Resources" in sidecar:
            sidecar["Resources"] = defaulted_resources(sidecar["Resources"])
        if "LogConfig" in sidecar:
            sidecar["LogConfig"] = defaulted_log_config(sidecar["LogConfig"])
        out["SidecarTask"] = sidecar
    gateway = given.get("Gateway")
    if gateway is not None and "Proxy" in gateway:
        out["Gateway"] = {
            **gateway,
            "Proxy": {"ConnectTimeout": GATEWAY_CONNECT_TIMEOUT_NS, **gateway["Proxy"]},
        }
    return out
