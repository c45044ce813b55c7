"""Job templates: kept, changed and forgotten."""

from __future__ import annotations

from msgspec.structs import replace

from yurt.errors import YurtError
from yurt.model.simple.templates import JobTemplate, TemplateID
from yurt.server.context import ServerContext
from yurt.state.simple_entries import DeleteJobTemplate, UpsertJobTemplate


class TemplateNotFound(YurtError):
    """There is no such template."""

    def __init__(self, template_id: str) -> None:
        super().__init__(f'template "{template_id}" not found')


class JobTemplateCommands:
    """What can be asked about job templates."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context

    def find(self, namespace: str, template_id: str) -> JobTemplate:
        """A template of a namespace. Raises TemplateNotFound, also for one of another namespace."""
        template = self._context.state.job_templates.get(TemplateID(template_id))
        if template is None or template.namespace != namespace:
            raise TemplateNotFound(template_id)
        return template

    def newest_first(self, namespace: str) -> list[JobTemplate]:
        """All templates of a namespace."""
        own = (one for one in self._context.state.job_templates if one.namespace == namespace)
        return sorted(own, key=lambda one: one.created_at, reverse=True)

    async def create(self, template: JobTemplate) -> JobTemplate:
        """Keep a new template; its id and times are chosen here."""
        now = self._context.clock.now_ns()
        made = replace(
            template,
            template_id=TemplateID(self._context.new_id()),
            created_at=now,
            updated_at=now,
        )
        await self._context.committer.propose(UpsertJobTemplate(at=now, template=made))
        return made

    async def change(self, template: JobTemplate) -> None:
        """Replace a template by another form of it. Raises TemplateNotFound."""
        self.find(template.namespace, template.template_id)
        now = self._context.clock.now_ns()
        changed = replace(template, updated_at=now)
        await self._context.committer.propose(UpsertJobTemplate(at=now, template=changed))

    async def delete(self, namespace: str, template_id: str) -> None:
        """Forget a template of a namespace. Raises TemplateNotFound."""
        self.find(namespace, template_id)
        now = self._context.clock.now_ns()
        await self._context.committer.propose(DeleteJobTemplate(at=now, template_id=TemplateID(template_id)))
