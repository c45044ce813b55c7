"""The web UI: `ui`."""

import msgspec

from yurt.config.blocks.base import Block


class ContentSecurityPolicy(Block, frozen=True, kw_only=True):
    """`content_security_policy`: the sources a browser may load from."""

    connect_src: tuple[str, ...] = ("*",)
    default_src: tuple[str, ...] = ("'none'",)
    form_action: tuple[str, ...] = ("'none'",)
    frame_ancestors: tuple[str, ...] = ("'none'",)
    img_src: tuple[str, ...] = ("'self'", "data:")
    script_src: tuple[str, ...] = ("'self'",)
    style_src: tuple[str, ...] = ("'self'", "'unsafe-inline'")


class UiLink(Block, frozen=True, kw_only=True):
    """`consul` and `vault`: where their own UIs are."""

    ui_url: str = ""


class UiLabel(Block, frozen=True, kw_only=True):
    """`label`: shown in the head of every page."""

    text: str = ""
    background_color: str = ""
    text_color: str = ""


class UiConfig(Block, frozen=True, kw_only=True):
    """`ui`"""

    enabled: bool = True
    show_cli_hints: bool = True
    content_security_policy: ContentSecurityPolicy = msgspec.field(default_factory=ContentSecurityPolicy)
    consul: UiLink = msgspec.field(default_factory=UiLink)
    vault: UiLink = msgspec.field(default_factory=UiLink)
    label: UiLabel = msgspec.field(default_factory=UiLabel)
