"""Request defaults of the blocks inside a task."""

from __future__ import annotations

from yurt.model.go_types import Folded
from yurt.model.times import SECOND_NS

KILL_TIMEOUT_NS = 5 * SECOND_NS
AFFINITY_WEIGHT = 50
SPREAD_WEIGHT = 50
CHANGE_SIGNAL = "SIGHUP"

_RESOURCES: Folded = {"CPU": 100, "Cores": 0, "MemoryMB": 300}
_LOG_CONFIG: Folded = {"MaxFiles": 10, "MaxFileSizeMB": 10, "Disabled": False}
_MOUNT: Folded = {"ReadOnly": False, "PropagationMode": "private", "SELinuxLabel": ""}
_TEMPLATE: Folded = {
    "SourcePath": "",
    "DestPath": "",
    "EmbeddedTmpl": "",
    "ChangeMode": "restart",
    "ChangeSignal": "",
    "Once": False,
    "Splay": 5 * SECOND_NS,
    "Perms": "0644",
    "LeftDelim": "{{",
    "RightDelim": "}}",
    "Envvars": False,
    "VaultGrace": 0,
    "ErrMissingKey": False,
}
_CHANGE_SCRIPT: Folded = {
    "Command": "",
    "Args": [],
    "Timeout": 5 * SECOND_NS,
    "FailOnError": False,
    "RunOnFirstRender": False,
}
_VAULT: Folded = {
    "Namespace": "",
    "Env": True,
    "DisableFile": False,
    "ChangeMode": "restart",
    "ChangeSignal": CHANGE_SIGNAL,
    "AllowTokenExpiration": False,
}
_CSI_PLUGIN: Folded = {
    "MountDir": "/csi",
    "StagePublishBaseDir": "/local/csi",
    "HealthTimeout": 30 * SECOND_NS,
}


def defaulted_resources(given: Folded) -> Folded:
    """Fill what a resources block leaves out; reserved cores take the place of CPU shares."""
    out = {**_RESOURCES, **given}
    if out["Cores"] and "CPU" not in given:
        out["CPU"] = 0
    if "Devices" in given:
        out["Devices"] = [_device(device) for device in given["Devices"]]
    return out


def defaulted_log_config(given: Folded) -> Folded:
    """Fill what a logs block leaves out."""
    return {**_LOG_CONFIG, **given}


def defaulted_affinities(given: list[Folded]) -> list[Folded]:
    """Give each affinity a weight."""
    return [{"Weight": AFFINITY_WEIGHT, **affinity} for affinity in given]


def defaulted_spreads(given: list[Folded]) -> list[Folded]:
    """Give each spread a weight."""
    return [{"Weight": SPREAD_WEIGHT, **spread} for spread in given]


def defaulted_consul(given: Folded) -> Folded:
    """Name the default cluster."""
    return {**given, "Cluster": given.get("Cluster") or "default"}


def _device(given: Folded) -> Folded:
    out = {"Count": 1, **given}
    if "Affinities" in given:
        out["Affinities"] = defaulted_affinities(given["Affinities"])
    return out


def defaulted_templates(given: list[Folded]) -> list[Folded]:
    """Fill what each template leaves out."""
    return [_template(template) for template in given]


def _template(given: Folded) -> Folded:
    out = {**_TEMPLATE, **given}
    if out["ChangeMode"] == "signal" and "ChangeSignal" not in given:
        out["ChangeSignal"] = CHANGE_SIGNAL
    out["ChangeSignal"] = out["ChangeSignal"].upper()
    if "ChangeScript" in given:
        out["ChangeScript"] = {**_CHANGE_SCRIPT, **given["ChangeScript"]}
    return out


def defaulted_artifacts(given: list[Folded]) -> list[Folded]:
    """Fill what each artifact leaves out."""
    return [_artifact(artifact) for artifact in given]


def _artifact(given: Folded) -> Folded:
    source = given.get("GetterSource", "")
    destination = "local/"
    if given.get("GetterMode") == "file":
        destination += source.partition("?")[0].rstrip("/").rpartition("/")[2]
    return {"GetterMode": "any", "GetterInsecure": False, "RelativeDest": destination, **given}


def defaulted_vault(given: Folded) -> Folded:
    """Fill what a vault block leaves out."""
    out = {**_VAULT, **given}
    out["Cluster"] = given.get("Cluster") or "default"
    out["ChangeSignal"] = out["ChangeSignal"].upper()
    return out


def defaulted_csi_plugin(given: Folded) -> Folded:
    """Fill what a CSI plugin block leaves out."""
    return {**_CSI_PLUGIN, **{name: value for name, value in given.items() if value}}


def defaulted_mounts(given: list[Folded]) -> list[Folded]:
    """Fill what each volume mount leaves out."""
    return [{**_MOUNT, **mount} for mount in given]
