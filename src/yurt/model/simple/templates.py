"""Job templates: parts of simple jobs that are kept by name."""

from __future__ import annotations

from typing import Any, NewType

import msgspec

from yurt.model.wire import DEFAULT_NAMESPACE, Nanoseconds

TemplateID = NewType("TemplateID", str)


class JobTemplate(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a simple job may start from; groups and constraints are kept as they were written."""

    template_id: TemplateID
    namespace: str = DEFAULT_NAMESPACE
    name: str
    description: str = ""
    task_groups: list[dict[str, Any]]
    constraints: dict[str, Any] = {}
    created_at: Nanoseconds
    updated_at: Nanoseconds
    modify_index: int = 0
