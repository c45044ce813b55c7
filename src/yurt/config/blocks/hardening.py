"""What an agent allows its callers and keeps about them: `limits` and `audit`."""

from typing import Annotated, Literal

import msgspec

from yurt.config.blocks.base import Block, Bytes, Count, Form, Seconds

Timeout = Annotated[float, Form.DURATION, msgspec.Meta(gt=0)]
HeadSize = Annotated[int, Form.SIZE, msgspec.Meta(ge=4096)]


class LimitsConfig(Block, frozen=True, kw_only=True):
    """`limits`: a count of 0 is no limit."""

    https_handshake_timeout_s: Timeout = 5.0
    http_max_conns_per_client: Count = 100
    rpc_handshake_timeout_s: Timeout = 5.0
    rpc_max_conns_per_client: Count = 100
    http_header_timeout_s: Timeout = 10.0
    http_body_timeout_s: Timeout = 60.0
    http_write_timeout_s: Timeout = 60.0
    http_idle_timeout_s: Timeout = 330.0
    http_max_header_size: HeadSize = 64 * 1024
    # The burst lets a script check hundreds of job files in a row; the rate is what a server bears for long.
    http_costly_calls_per_second: Count = 100
    http_costly_calls_burst: Annotated[int, msgspec.Meta(ge=1)] = 2000


class AuditSinkConfig(Block, frozen=True, kw_only=True):
    """`audit.sink`: the file that events go to."""

    type: Literal["file"] = "file"
    format: Literal["json"] = "json"
    path: str = ""
    delivery_guarantee: Literal["enforced", "best-effort"] = "enforced"
    mode: str = "0600"
    rotate_bytes: Bytes = 0
    rotate_duration_s: Seconds = 24 * 3600.0
    rotate_max_files: Count = 0


class AuditFilterConfig(Block, frozen=True, kw_only=True):
    """`audit.filter`: what is left out. A `*` stands for any text."""

    type: Literal["HTTPEvent"] = "HTTPEvent"
    endpoints: tuple[str, ...] = ()
    stages: tuple[Literal["OperationReceived", "OperationComplete", "*"], ...] = ()
    operations: tuple[str, ...] = ()


class AuditConfig(Block, frozen=True, kw_only=True):
    """`audit`"""

    enabled: bool = False
    sinks: dict[str, AuditSinkConfig] = msgspec.field(default_factory=dict, name="sink")
    filters: dict[str, AuditFilterConfig] = msgspec.field(default_factory=dict, name="filter")
