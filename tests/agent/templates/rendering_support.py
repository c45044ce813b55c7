"""Templates rendered in one line, for tests."""

from __future__ import annotations

from collections.abc import Mapping

from yurt.agent.templates.language import TemplateFailed
from yurt.agent.templates.rendering import RenderContext, Rendered, read_template, render
from yurt.agent.templates.sources import Known

NOW = 1_780_000_000_123_456_789  # 2026-05-28T20:26:40.123456789Z


def a_context(variables: Mapping[str, str]) -> RenderContext:
    return RenderContext(
        variables=variables,
        namespace="default",
        region="global",
        addresses=lambda expression: f"<{expression}>",
    )


def rendered(
    source: str,
    known: Known | None = None,
    *,
    strict: bool = False,
    variables: Mapping[str, str] | None = None,
) -> Rendered:
    return render(
        read_template(source), a_context(variables or {}), known or {}, now=NOW, missing_key_fails=strict
    )


def text(
    source: str,
    known: Known | None = None,
    *,
    strict: bool = False,
    variables: Mapping[str, str] | None = None,
) -> str:
    """The rendered text, or `failed: ` and why there is none."""
    try:
        return rendered(source, known, strict=strict, variables=variables).text
    except TemplateFailed as error:
        return f"failed: {error}"
