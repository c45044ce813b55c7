"""Limits on what tasks fetch and render: `template` and `artifact` of `client`."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

import msgspec

from yurt.config.blocks.base import Block, Bytes, Count, Seconds, unserved


class WaitConfig(Block, frozen=True, kw_only=True):
    """`wait`: how long a template is left alone after a change of its data."""

    min_s: Seconds = 5.0
    max_s: Seconds = 240.0


class WaitBounds(Block, frozen=True, kw_only=True):
    """`wait_bounds`: what a job's own `wait` is cut to; None is no bound."""

    min_s: Seconds | None = None
    max_s: Seconds | None = None


class RetryConfig(Block, frozen=True, kw_only=True):
    """`nomad_retry` and its like: `attempts` 0 means forever."""

    attempts: Count = 12
    backoff_s: Seconds = 0.25
    max_backoff_s: Seconds = 60.0


class TemplateConfig(Block, frozen=True, kw_only=True):
    """`template`"""

    UNSERVED: ClassVar[Mapping[str, tuple[str, ...]]] = unserved(
        "use_client_consul_token",
        "vault_default_lease_duration",
        consul_retry=("attempts", "backoff", "max_backoff"),
        vault_retry=("attempts", "backoff", "max_backoff"),
    )
    ALIASES: ClassVar[Mapping[str, str]] = {"function_blacklist": "function_denylist"}

    function_denylist: tuple[str, ...] = ("executeTemplate", "plugin", "writeToFile")
    disable_file_sandbox: bool = False
    max_stale_s: Seconds = 87_600 * 3600.0
    block_query_wait_s: Seconds = 300.0
    wait: WaitConfig = msgspec.field(default_factory=WaitConfig)
    wait_bounds: WaitBounds | None = None
    nomad_retry: RetryConfig = msgspec.field(default_factory=RetryConfig)


class ArtifactConfig(Block, frozen=True, kw_only=True):
    """`artifact`"""

    http_read_timeout_s: Seconds = 1800.0
    http_max_bytes: Bytes = msgspec.field(default=100 * 10**9, name="http_max_size")
    gcs_timeout_s: Seconds = 1800.0
    git_timeout_s: Seconds = 1800.0
    hg_timeout_s: Seconds = 1800.0
    s3_timeout_s: Seconds = 1800.0
    decompression_file_count_limit: Annotated[int, msgspec.Meta(ge=0)] = 4096
    decompression_bytes_limit: Bytes = msgspec.field(default=100 * 10**9, name="decompression_size_limit")
    disable_artifact_inspection: bool = False
    disable_filesystem_isolation: bool = False
    filesystem_isolation_extra_paths: tuple[str, ...] = ()
    set_environment_variables: str = ""
