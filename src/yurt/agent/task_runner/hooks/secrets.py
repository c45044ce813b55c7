"""Fetch the secrets that the task's settings refer to."""

from __future__ import annotations

from yurt.agent.task_runner.hook import HookFailed, TaskContext, TaskHook
from yurt.agent.templates.sources import OwnedQuery, TemplateVariable, VariableQuery
from yurt.errors import YurtError
from yurt.model.task_parts import Secret

NOMAD_PROVIDER = "nomad"


class SecretsHook(TaskHook):
    """Makes `${secret.<name>.<key>}` known; the values are kept in memory only."""

    name = "secrets"

    def __init__(self, context: TaskContext) -> None:
        self._context = context

    async def prestart(self) -> None:
        """Fetch all of them, anew for each start."""
        values: dict[str, str] = {}
        for secret in self._context.task.secrets or ():
            items = await self._fetch(secret)
            values |= {f"secret.{secret.name}.{key}": value for key, value in items.items()}
        self._context.set_secrets(values)

    async def _fetch(self, secret: Secret) -> dict[str, str]:
        if secret.provider != NOMAD_PROVIDER:
            raise HookFailed(
                f'secret "{secret.name}": provider "{secret.provider}" is not served; use "{NOMAD_PROVIDER}"'
            )
        context = self._context
        namespace = str((secret.config or {}).get("namespace") or context.alloc.namespace)
        query = OwnedQuery(VariableQuery(namespace, secret.path), context.alloc.id, context.task.name)
        try:
            found = await context.node.template_watches.read(query)
        except YurtError as error:
            raise HookFailed(f'secret "{secret.name}": {error}', recoverable=True) from error
        if not isinstance(found, TemplateVariable):
            raise HookFailed(
                f'secret "{secret.name}": no variable {secret.path}@{namespace} that the task may read',
                recoverable=True,
            )
        return found.items


def make(context: TaskContext) -> TaskHook | None:
    """Only tasks with `secret` blocks."""
    return SecretsHook(context) if context.task.secrets else None
