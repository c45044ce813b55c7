"""Problems with the blocks inside a task."""

from __future__ import annotations

import re
from collections.abc import Sequence

from yurt.model.durations import duration_text
from yurt.model.go_text import quoted
from yurt.model.identity import DEFAULT_IDENTITY_NAME, WorkloadIdentity
from yurt.model.multi_error import nested
from yurt.model.task_parts import (
    Action,
    Secret,
    TaskArtifact,
    TaskCSIPluginConfig,
    TaskLifecycle,
    Template,
    Vault,
    VolumeMount,
)

LIFECYCLE_HOOKS = ("prestart", "poststart", "poststop")
FILE_MODE_MAX = 0o7777

_IDENTITY_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_SECRET_NAME = re.compile(r"[a-zA-Z0-9_]{1,128}")
_ACTION_NAME = re.compile(r"[^\s\x00]{1,128}")
_CHECKSUM_HEX = {"md5": 32, "sha1": 40, "sha256": 64, "sha512": 128}
_TEMPLATE_MODES = ("noop", "restart", "signal", "script")
_PROPAGATION_MODES = ("", "private", "host-to-task", "bidirectional")
_SELINUX_LABELS = ("", "z", "Z")
_CSI_TYPES = ("node", "controller", "monolith")
_ESCAPES = "destination escapes allocation directory"


def escapes_alloc_dir(path: str) -> bool:
    """Whether a path relative to the task directory leaves the directory of the allocation."""
    depth = 1  # the task directory lies in the allocation's
    for part in path.split("/"):
        if part == "..":
            depth -= 1
            if depth < 0:
                return True
        elif part not in ("", "."):
            depth += 1
    return False


def templates_errors(templates: Sequence[Template] | None) -> list[str]:
    """Check templates; the first is number 1."""
    errors: list[str] = []
    destinations: dict[str, int] = {}
    for number, template in enumerate(templates or (), start=1):
        errors += nested(_template_errors(template), under=f"Template {number} validation failed")
        other = destinations.setdefault(template.dest_path, number)
        if other != number and template.dest_path:
            errors.append(f"Template {number} has same destination as {other}")
    return errors


def _template_errors(template: Template) -> list[str]:
    errors = []
    if not template.source_path and not template.embedded_tmpl:
        errors.append("Must specify a source path or have an embedded template")
    if not template.dest_path:
        errors.append("Must specify a destination for the template")
    if escapes_alloc_dir(template.dest_path):
        errors.append(_ESCAPES)
    errors += _template_change_errors(template)
    if template.splay < 0:
        errors.append("Must specify positive splay value")
    errors += _permissions_errors(template.perms)
    wait = template.wait
    if wait is not None and wait.min is not None and wait.max is not None and wait.min > wait.max:
        least, most = duration_text(wait.min), duration_text(wait.max)
        errors.append(f"wait min {least} is greater than max {most}")
    return errors


def _template_change_errors(template: Template) -> list[str]:
    if template.change_mode not in _TEMPLATE_MODES:
        return ["Invalid change mode. Must be one of the following: noop, signal, script, restart"]
    errors = []
    if template.change_mode == "signal":
        if not template.change_signal:
            errors.append("Must specify signal value when change mode is signal")
        if template.envvars:
            errors.append("cannot use signals with env var templates")
    if template.change_mode == "script":
        if template.change_script is None:
            errors.append("must specify change script configuration value when change mode is script")
        elif not template.change_script.command:
            errors.append("must specify script path value when change mode is script")
    return errors


def _permissions_errors(permissions: str) -> list[str]:
    if not permissions:
        return []
    if not re.fullmatch("[0-7]+", permissions):
        reason = "invalid syntax"
    elif int(permissions, 8) > FILE_MODE_MAX:
        reason = "value out of range"
    else:
        return []
    text = quoted(permissions)
    return [f"Failed to parse {text} as octal: strconv.ParseUint: parsing {text}: {reason}"]


def artifacts_errors(artifacts: Sequence[TaskArtifact] | None) -> list[str]:
    """Check artifacts; the first is number 1."""
    errors: list[str] = []
    for number, artifact in enumerate(artifacts or (), start=1):
        errors += nested(_artifact_errors(artifact), under=f"Artifact {number} validation failed")
    return errors


def _artifact_errors(artifact: TaskArtifact) -> list[str]:
    errors = []
    if not artifact.getter_source:
        errors.append("source must be specified")
    if artifact.getter_mode not in ("any", "file", "dir"):
        errors.append(f"invalid artifact mode {quoted(artifact.getter_mode)}; must be one of: any, file, dir")
    if escapes_alloc_dir(artifact.relative_dest):
        errors.append(_ESCAPES)
    checksum = (artifact.getter_options or {}).get("checksum")
    return errors if checksum is None else errors + _checksum_errors(checksum)


def _checksum_errors(checksum: str) -> list[str]:
    checksum = checksum.strip()
    if not checksum:
        return ["checksum value cannot be empty"]
    if "${" in checksum:  # known only where the task runs
        return []
    kind, colon, value = checksum.partition(":")
    if not colon or ":" in value:
        return [f'checksum must be given as "type:value"; got {quoted(checksum)}']
    if not re.fullmatch("(?:[0-9A-Fa-f]{2})*", value):
        return [f"invalid checksum: {value}"]
    if kind not in _CHECKSUM_HEX:
        return [f"unsupported checksum type: {kind}"]
    return [] if len(value) == _CHECKSUM_HEX[kind] else [f"invalid {kind} checksum: {value}"]


def vault_errors(vault: Vault) -> list[str]:
    """Check a vault block."""
    if vault.change_mode == "signal":
        return [] if vault.change_signal else ['Signal must be specified when using change mode "signal"']
    if vault.change_mode not in ("noop", "restart"):
        return [f"Unknown change mode {quoted(vault.change_mode)}"]
    return []


def actions_errors(actions: Sequence[Action] | None) -> list[str]:
    """Check actions, and that their names differ."""
    errors: list[str] = []
    names: set[str] = set()
    for action in actions or ():
        found = []
        if not action.command:
            found.append("command cannot be empty")
        if not _ACTION_NAME.fullmatch(action.name):
            found.append(f"invalid name '{action.name}'")
        errors += nested(found, under=f"Action {action.name} validation failed")
        if action.name in names:
            errors.append(f"Action {action.name} defined multiple times")
        names.add(action.name)
    return errors


def dispatch_payload_errors(file: str) -> list[str]:
    """Check where the payload of a dispatched job is written."""
    return [f"Dispatch Payload validation failed: {_ESCAPES}"] if escapes_alloc_dir(file) else []


def lifecycle_errors(lifecycle: TaskLifecycle) -> list[str]:
    """Check when a task runs."""
    if not lifecycle.hook:
        return ["Lifecycle validation failed: no lifecycle hook provided"]
    if lifecycle.hook not in LIFECYCLE_HOOKS:
        return [f"Lifecycle validation failed: invalid hook: {lifecycle.hook}"]
    return []


def volume_mounts_errors(mounts: Sequence[VolumeMount] | None, volumes: frozenset[str]) -> list[str]:
    """Check volume mounts against the group's volumes; the first is number 0."""
    errors = []
    for index, mount in enumerate(mounts or ()):
        if not volumes and not mount.volume:
            continue
        problems = []
        if not mount.volume:
            problems.append("volume mount references an empty volume")
        elif mount.volume not in volumes:
            errors.append(f"Volume Mount ({index}) references undefined volume {mount.volume}")
        if mount.propagation_mode not in _PROPAGATION_MODES:
            problems.append(f"volume mount has an invalid propagation mode: {quoted(mount.propagation_mode)}")
        if mount.selinux_label not in _SELINUX_LABELS:
            problems.append(f"volume mount has an invalid SELinux label: {quoted(mount.selinux_label)}")
        errors += [f"Volume Mount ({index}) is invalid: {quoted(problem)}" for problem in problems]
    return errors


def csi_plugin_errors(plugin: TaskCSIPluginConfig) -> list[str]:
    """Check a CSI plugin's settings."""
    errors = []
    if not plugin.id:
        errors.append("CSIPluginConfig must have a non-empty PluginID")
    if plugin.type not in _CSI_TYPES:
        errors.append(
            "CSIPluginConfig PluginType must be one of 'node', 'controller', or 'monolith', "
            f"got: {quoted(plugin.type)}"
        )
    if f"{plugin.stage_publish_base_dir.rstrip('/')}/".startswith(f"{plugin.mount_dir.rstrip('/')}/"):
        errors.append(
            "CSIPluginConfig StagePublishBaseDir must not be a subdirectory of MountDir, got: "
            f"StagePublishBaseDir={quoted(plugin.stage_publish_base_dir)} MountDir={quoted(plugin.mount_dir)}"
        )
    return errors


def identities_errors(
    default: WorkloadIdentity | None, named: Sequence[WorkloadIdentity] | None
) -> list[str]:
    """Check the default identity of a task and its named ones."""
    errors: list[str] = []
    for identity in (*((default,) if default is not None else ()), *(named or ())):
        errors += nested(_identity_errors(identity), under=f"Identity {quoted(identity.name)} is invalid")
    if any(identity.name == DEFAULT_IDENTITY_NAME for identity in named or ()):
        errors.append("Duplicate default identities found")
    return errors


def _identity_errors(identity: WorkloadIdentity) -> list[str]:
    errors = []
    if not _IDENTITY_NAME.fullmatch(identity.name):
        errors.append(f"invalid name {quoted(identity.name)}. Must match regex ^[a-zA-Z0-9-_]{{1,128}}$")
    for number, audience in enumerate(identity.audience or (), start=1):
        if not audience:
            errors.append(f"an empty string is an invalid audience ({number})")
    mode, signal = identity.change_mode, identity.change_signal
    if mode not in ("", "noop", "restart", "signal"):
        errors.append(f"invalid change_mode: {mode}")
    elif mode == "signal" and not signal:
        errors.append('change_signal must be specified when using change_mode="signal"')
    elif mode != "signal" and signal:
        errors.append(f'can only use change_signal={quoted(signal)} with change_mode="signal"')
    if identity.ttl != 0 and identity.name == DEFAULT_IDENTITY_NAME:
        errors.append("ttl for default identity not yet supported")
    if identity.ttl < 0:
        errors.append("ttl must be >= 0")
    if identity.filepath and not identity.file:
        errors.append("file parameter must be true in order to specify filepath")
    return errors


def secrets_errors(secrets: Sequence[Secret] | None, *, has_vault: bool) -> list[str]:
    """Check secrets, and that their names differ."""
    errors: list[str] = []
    names: set[str] = set()
    for secret in secrets or ():
        if secret.name in names:
            errors.append(f"Duplicate secret {quoted(secret.name)} found")
        names.add(secret.name)
        if secret.provider == "vault" and not has_vault:
            errors.append(f'Secret {quoted(secret.name)} has provider "vault" but no vault block')
        errors += nested(_secret_errors(secret), under=f"Secret {quoted(secret.name)} is invalid")
    return errors


def _secret_errors(secret: Secret) -> list[str]:
    errors = []
    if not secret.name:
        errors.append("secret name cannot be empty")
    elif not _SECRET_NAME.fullmatch(secret.name):
        errors.append("secret name must match regex ^[a-zA-Z0-9_]{1,128}$")
    if not secret.provider:
        errors.append("secret provider cannot be empty")
    if not secret.path:
        errors.append("secret path cannot be empty")
    if secret.provider in ("nomad", "vault"):
        if secret.env:
            errors.append(f"{secret.provider} provider cannot use the env block")
    elif secret.provider and secret.config:
        errors.append(f"custom plugin provider {secret.provider} cannot use the config block")
    return errors
