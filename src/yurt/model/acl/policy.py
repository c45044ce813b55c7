"""Policies: rules with a name; roles: policies with a name."""

from __future__ import annotations

import re

from yurt.model.acl.rules import Rules
from yurt.model.wire import Wire

DESCRIPTION_LENGTH_MAX = 256

_NAME = re.compile(r"[a-zA-Z0-9-]{1,128}")


class JobAcl(Wire, frozen=True, kw_only=True):
    """The workloads that a policy applies to by itself."""

    namespace: str = ""
    job_id: str = ""
    group: str = ""
    task: str = ""


class AclPolicy(Wire, frozen=True, kw_only=True):
    """Rules with a name. `rules` is what its author wrote, `parsed` what it means."""

    name: str
    description: str = ""
    rules: str = ""
    parsed: Rules = Rules()
    job_acl: JobAcl | None = None
    hash: bytes | None = None
    create_index: int = 0
    modify_index: int = 0


class AclRole(Wire, frozen=True, kw_only=True):
    """Policies under one name, so that tokens need not name them each."""

    id: str
    name: str = ""
    description: str = ""
    policies: tuple[str, ...] = ()
    hash: bytes | None = None
    create_index: int = 0
    modify_index: int = 0


def is_name(text: str) -> bool:
    """Whether a policy, role or auth method may be called that."""
    return _NAME.fullmatch(text) is not None


def policy_problems(policy: AclPolicy, rules_problem: str | None) -> list[str]:
    """Say what is wrong with a policy; `rules_problem` is what its rules were refused for."""
    problems = []
    if not is_name(policy.name):
        problems.append(f"invalid name '{policy.name}'")
    if rules_problem is not None:
        problems.append(f"failed to parse rules: {rules_problem}")
    if len(policy.description) > DESCRIPTION_LENGTH_MAX:
        problems.append(f"description longer than {DESCRIPTION_LENGTH_MAX}")
    if policy.job_acl is not None:
        problems += _job_problems(policy.job_acl)
    return problems


def _job_problems(acl: JobAcl) -> list[str]:
    problems = []
    if acl.job_id and not acl.namespace:
        problems.append("namespace must be set to set job ID")
    if acl.group and not acl.job_id:
        problems.append("job ID must be set to set group")
    if acl.task and not acl.group:
        problems.append("group must be set to set task")
    return problems


def role_problems(role: AclRole) -> list[str]:
    """Say what is wrong with a role."""
    problems = []
    if not is_name(role.name):
        problems.append(f"invalid name '{role.name}'")
    if len(role.description) > DESCRIPTION_LENGTH_MAX:
        problems.append(f"description longer than {DESCRIPTION_LENGTH_MAX}")
    if not role.policies:
        problems.append("at least one policy should be specified")
    return problems
