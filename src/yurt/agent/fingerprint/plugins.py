"""Versions of plugin executables: CNI, host volumes, secrets."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from yurt.agent.fingerprint.facts import Facts, Probe

# A plugin that hangs must not hold up the agent's start for longer than this.
PLUGIN_TIMEOUT_S = 5.0

_CNI_VERSION = re.compile(r"CNI \S+ plugin (v?\d\S*)")
_CNI_PROTOCOLS = re.compile(r"CNI protocol versions supported: (.+)")
_BUILT_IN_HOST_VOLUME_PLUGINS = {"mkdir": "0.0.1"}
_BUILT_IN_SECRETS_PROVIDERS = {"nomad": "1.0.0", "vault": "1.0.0"}


class _Fingerprint(msgspec.Struct):
    version: str = ""


def fingerprint_cni_plugins(probe: Probe) -> Facts:
    """Ask each executable in `cni_path`; called without a command it prints its version."""
    attributes = {}
    found: dict[str, Path] = {}
    for directory in probe.settings.cni_path.split(":"):
        for path in _executables(probe.path(directory) if directory else None):
            found.setdefault(path.name, path)
    for name, output in _ask_all({name: [str(path)] for name, path in found.items()}, {}):
        if match := _CNI_VERSION.search(output):
            attributes[f"plugins.cni.version.{name}"] = match[1]
        elif match := _CNI_PROTOCOLS.search(output):
            # Debian builds them without a version; what they speak says as much to those who compare.
            attributes[f"plugins.cni.version.{name}"] = match[1].rpartition(",")[2].strip()
    return Facts(attributes=attributes)


def fingerprint_host_volume_plugins(probe: Probe) -> Facts:
    """List the built-in host volume plugins and those in the plugin directory."""
    directory = probe.settings.host_volume_plugin_dir
    versions = _BUILT_IN_HOST_VOLUME_PLUGINS | _fingerprint_verb(
        probe.path(directory) if directory else None,
        {"DHV_OPERATION": "fingerprint", "DHV_PLUGIN_DIR": directory},
    )
    return Facts(attributes={f"plugins.host_volume.{name}.version": v for name, v in versions.items()})


def fingerprint_secrets_plugins(probe: Probe) -> Facts:
    """List the built-in secret providers and those in the common plugin directory."""
    directory = probe.settings.common_plugin_dir
    versions = _BUILT_IN_SECRETS_PROVIDERS | _fingerprint_verb(
        probe.path(directory) / "secrets" if directory else None, {"CPI_OPERATION": "fingerprint"}
    )
    return Facts(attributes={f"plugins.secrets.{name}.version": v for name, v in versions.items()})


def _fingerprint_verb(directory: Path | None, env: Mapping[str, str]) -> dict[str, str]:
    """Call `<plugin> fingerprint` for every executable; what answers no version is left out."""
    versions = {}
    commands = {path.name: [str(path), "fingerprint"] for path in _executables(directory)}
    for name, output in _ask_all(commands, env):
        try:
            answer = msgspec.json.decode(output, type=_Fingerprint)
        except msgspec.MsgspecError:
            continue
        if answer.version:
            versions[name] = answer.version
    return versions


def _executables(directory: Path | None) -> list[Path]:
    try:
        entries = sorted(directory.iterdir()) if directory else []
    except OSError:
        return []
    return [path for path in entries if path.is_file() and os.access(path, os.X_OK)]


def _ask_all(commands: Mapping[str, list[str]], env: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Run all commands at once; give the name and output of each that answered in time."""
    started: dict[str, subprocess.Popen[str]] = {}
    for name, command in commands.items():
        try:
            # The operator put these executables into the plugin directories for us to run.
            started[name] = subprocess.Popen(  # noqa: S603
                command,
                env={"PATH": os.environ.get("PATH", os.defpath), **env},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
            )
        except OSError:
            continue
    for name, process in started.items():
        try:
            output, _ = process.communicate(timeout=PLUGIN_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            continue
        yield name, output
