"""`service` and `check`."""

from typing import Final

from yurt.jobspec.decoding import BlockSpec, Nested
from yurt.jobspec.fields import MAP_VALUE, MAP_VALUES, duration, plain_flag, plain_text, plain_whole, texts
from yurt.jobspec.schema.connect import CONNECT
from yurt.jobspec.schema.identity import IDENTITY

_CHECK_RESTART: Final = Nested(
    "check_restart",
    "CheckRestart",
    BlockSpec(
        plain_whole("limit", "Limit"),
        duration("grace", "Grace"),
        plain_flag("ignore_warnings", "IgnoreWarnings"),
    ),
)
_CHECK: Final = BlockSpec(
    plain_text("name", "Name"),
    plain_text("type", "Type"),
    duration("interval", "Interval", unset=0),
    duration("timeout", "Timeout", unset=0),
    plain_text("port", "PortLabel"),
    plain_text("address_mode", "AddressMode"),
    plain_text("path", "Path"),
    plain_text("method", "Method"),
    plain_text("protocol", "Protocol"),
    plain_text("body", "Body"),
    plain_text("command", "Command"),
    texts("args", "Args"),
    plain_text("task", "TaskName"),
    plain_text("grpc_service", "GRPCService"),
    plain_flag("grpc_use_tls", "GRPCUseTLS"),
    plain_text("tls_server_name", "TLSServerName"),
    plain_flag("tls_skip_verify", "TLSSkipVerify"),
    plain_text("initial_status", "InitialStatus"),
    plain_whole("success_before_passing", "SuccessBeforePassing"),
    plain_whole("failures_before_critical", "FailuresBeforeCritical"),
    plain_whole("failures_before_warning", "FailuresBeforeWarning"),
    plain_flag("expose", "Expose"),
    plain_text("advertise", "Advertise"),
    plain_text("notes", "Notes"),
    plain_text("on_update", "OnUpdate"),
    blocks=(Nested("header", "Header", field=MAP_VALUES), _CHECK_RESTART),
)
SERVICE: Final = BlockSpec(
    plain_text("name", "Name"),
    plain_text("provider", "Provider"),
    plain_text("port", "PortLabel"),
    plain_text("address_mode", "AddressMode"),
    plain_text("address", "Address"),
    texts("tags", "Tags"),
    texts("canary_tags", "CanaryTags"),
    plain_flag("enable_tag_override", "EnableTagOverride"),
    plain_text("task", "TaskName"),
    plain_text("on_update", "OnUpdate"),
    plain_text("cluster", "Cluster"),
    plain_text("kind", "Kind"),
    blocks=(
        Nested("meta", "Meta", field=MAP_VALUE),
        Nested("canary_meta", "CanaryMeta", field=MAP_VALUE),
        Nested("tagged_addresses", "TaggedAddresses", field=MAP_VALUE),
        Nested("check", "Checks", _CHECK, is_list=True),
        _CHECK_RESTART,
        Nested("connect", "Connect", CONNECT),
        Nested("identity", "Identity", IDENTITY),
        Nested(
            "weights",
            "Weights",
            BlockSpec(plain_whole("passing", "Passing"), plain_whole("warning", "Warning")),
        ),
    ),
)
SERVICES: Final = Nested("service", "Services", SERVICE, is_list=True)
