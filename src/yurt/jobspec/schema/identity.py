"""`vault`, `consul`, `identity` and `secret`: what tasks prove themselves with."""

from typing import Final

from yurt.jobspec.decoding import BlockSpec, Nested
from yurt.jobspec.fields import MAP_VALUE, duration, flag, plain_flag, plain_text, text, texts

VAULT: Final = BlockSpec(
    plain_text("role", "Role"),
    texts("policies", "Policies"),
    text("namespace", "Namespace"),
    plain_text("cluster", "Cluster"),
    flag("env", "Env", unset=True),
    flag("disable_file", "DisableFile", unset=False),
    text("change_mode", "ChangeMode", unset="restart"),
    text("change_signal", "ChangeSignal"),
    flag("allow_token_expiration", "AllowTokenExpiration"),
)
CONSUL: Final = BlockSpec(
    plain_text("namespace", "Namespace"),
    plain_text("cluster", "Cluster"),
    plain_text("partition", "Partition"),
)
IDENTITY: Final = BlockSpec(
    plain_text("name", "Name"),
    texts("aud", "Audience"),
    plain_text("change_mode", "ChangeMode"),
    plain_text("change_signal", "ChangeSignal"),
    plain_flag("env", "Env"),
    plain_flag("file", "File"),
    plain_text("filepath", "Filepath"),
    plain_text("service_name", "ServiceName"),
    duration("ttl", "TTL", unset=0),
    texts("extra_claims", "ExtraClaims"),
)
SECRET: Final = BlockSpec(
    plain_text("provider", "Provider"),
    plain_text("path", "Path"),
    labels=("name",),
    blocks=(Nested("config", "Config"), Nested("env", "Env", field=MAP_VALUE)),
    finish=lambda members, reading: {"Name": reading.label, **members},
)
SECRETS: Final = Nested("secret", "Secrets", SECRET, is_list=True)
