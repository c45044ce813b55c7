"""The operator's settings of docker: `plugin "docker" { config { } }`."""

from __future__ import annotations

import os

import msgspec

from yurt.agent.drivers.config_schema import Seconds
from yurt.agent.drivers.context import BadPluginConfig, DriverContext
from yurt.agent.drivers.docker.config import LoggingConfig
from yurt.agent.drivers.docker.engine import DEFAULT_ENDPOINT, Tls
from yurt.agent.drivers.linux_capabilities import DEFAULTS

NAME = "docker"
CREATION_GRACE_S_MIN = 60.0
PULL_ACTIVITY_S_MIN = 60.0
_MINUTE_S = 60.0


class _Block(msgspec.Struct, frozen=True, kw_only=True):
    """Names are those of configuration files."""


class AuthOptions(_Block, frozen=True, kw_only=True):
    """Where credentials are found: a file as Docker's client has, or a helper's name."""

    config: str = ""
    helper: str = ""


class DanglingOptions(_Block, frozen=True, kw_only=True):
    """About containers of no known task."""

    enabled: bool = True
    period: Seconds = Seconds(5 * _MINUTE_S)
    creation_grace: Seconds = Seconds(5 * _MINUTE_S)
    dry_run: bool = False


class GcOptions(_Block, frozen=True, kw_only=True):
    """What is removed when it is no longer used."""

    image: bool = True
    image_delay: Seconds = Seconds(3 * _MINUTE_S)
    container: bool = True
    dangling_containers: DanglingOptions = DanglingOptions()


class VolumesOptions(_Block, frozen=True, kw_only=True):
    """Whether tasks may mount what is not theirs."""

    enabled: bool = False
    selinuxlabel: str = ""


class AllowedModes(_Block, frozen=True, kw_only=True):
    """Patterns of namespaces that tasks may share without being privileged."""

    pid: tuple[str, ...] = ()
    ipc: tuple[str, ...] = ()
    userns: tuple[str, ...] = ()
    uts: tuple[str, ...] = ()


class DockerOptions(_Block, frozen=True, kw_only=True):
    """All settings."""

    endpoint: str = DEFAULT_ENDPOINT
    auth: AuthOptions = AuthOptions()
    tls: Tls = Tls()
    extra_labels: tuple[str, ...] = ()
    logging: LoggingConfig = LoggingConfig()
    gc: GcOptions = GcOptions()
    volumes: VolumesOptions = VolumesOptions()
    allow_privileged: bool = False
    allow_caps: tuple[str, ...] = tuple(sorted(DEFAULTS))
    allow_devices: tuple[str, ...] = ()
    """Patterns of host devices that tasks may have without being privileged: a disk is all of the host."""
    allow_runtimes: tuple[str, ...] = ("runc", "nvidia")
    nvidia_runtime: str = "nvidia"
    infra_image: str = ""
    infra_image_pull_timeout: Seconds = Seconds(5 * _MINUTE_S)
    image_pull_timeout: Seconds = Seconds(5 * _MINUTE_S)
    pull_activity_timeout: Seconds = Seconds(2 * _MINUTE_S)
    container_exists_attempts: int = 5
    oom_score_adj: int = 0
    pids_limit: int = 0
    disable_log_collection: bool = False
    allowed_modes: AllowedModes = AllowedModes()
    windows_allow_insecure_container_admin: bool = False


def docker_options(context: DriverContext) -> DockerOptions:
    """Read the plugin block; an endpoint that is not set is the environment's. Raises BadPluginConfig."""
    options = context.plugin(NAME, DockerOptions)
    if not (context.config or {}).get("endpoint") and os.environ.get("DOCKER_HOST"):
        options = msgspec.structs.replace(options, endpoint=os.environ["DOCKER_HOST"])
    problem = ""
    if options.gc.dangling_containers.creation_grace < CREATION_GRACE_S_MIN:
        problem = "gc.dangling_containers.creation_grace is at least 1m."
    elif options.pull_activity_timeout < PULL_ACTIVITY_S_MIN:
        problem = "pull_activity_timeout is at least 1m."
    elif options.endpoint.partition("://")[0] not in ("unix", "tcp", "http", "https"):
        problem = f"endpoint {options.endpoint!r} must begin with unix:// or tcp://."
    if problem:
        raise BadPluginConfig(NAME, [problem])
    return options
