"""Secrets: a node must have the providers of a group's secrets."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from yurt.model.group import TaskGroup
from yurt.model.placement_rules import Constraint
from yurt.scheduler.feasible.constraints import holds_on
from yurt.state.columns import NodeColumns

LABEL = "missing secrets provider"


def secret_providers(group: TaskGroup) -> list[str]:
    """The providers that the tasks of a group fetch secrets from."""
    return sorted({secret.provider for task in group.tasks for secret in task.secrets or ()})


def nodes_with_provider(columns: NodeColumns, provider: str) -> NDArray[np.bool_]:
    """Mask of the nodes with a provider of secrets."""
    target = f"${{attr.plugins.secrets.{provider}.version}}"
    return holds_on(columns, Constraint(ltarget=target, operand="is_set"))
