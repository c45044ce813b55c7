"""/templates: keep parts of jobs by name."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from yurt.api import needs
from yurt.api.answer import Answer
from yurt.api.call import Call
from yurt.api.routes import Route
from yurt.api.v1.jobs import MAY_REGISTER
from yurt.model.simple.constraints import wanted_properties
from yurt.model.simple.fields import BadField, Fields, read_document
from yurt.model.simple.jobs import group_requests
from yurt.model.simple.templates import JobTemplate, TemplateID
from yurt.model.times import SECOND_NS
from yurt.server.commands.job_templates import JobTemplateCommands

READ, SUBMIT = needs.namespace("list-jobs", "read-job"), needs.namespace(*MAY_REGISTER)
FIELDS = ("name", "description", "task_groups", "constraints")


class TemplateHandlers:
    """The handlers of /templates."""

    def __init__(self, templates: JobTemplateCommands) -> None:
        self._templates = templates

    def routes(self) -> tuple[Route, ...]:
        """The routes."""
        return (
            Route(
                path="/templates",
                handlers={"GET": self.list, "POST": self.create},
                summary="List job templates, keep a new one",
                needs={"GET": READ, "POST": SUBMIT},
            ),
            Route(
                path="/templates/{template_id}",
                handlers={"GET": self.read, "PUT": self.change, "DELETE": self.delete},
                summary="Read, change or delete a job template",
                needs={"GET": READ, "PUT": SUBMIT, "DELETE": SUBMIT},
            ),
        )

    async def list(self, call: Call) -> Answer:
        """GET /templates: those of the namespace that is asked for."""
        rows = [_row(template) for template in self._templates.newest_first(call.namespace)]
        return Answer(body={"templates": rows, "count": len(rows)})

    async def read(self, call: Call) -> Answer:
        """GET /templates/{template_id}."""
        template = self._templates.find(call.namespace, call.path["template_id"])
        more = {"task_groups": template.task_groups, "constraints": template.constraints}
        return Answer(body=_row(template) | more)

    async def create(self, call: Call) -> Answer:
        """POST /templates."""
        body = read_document(await call.body())
        body.text("name")
        group_requests(body)
        empty = JobTemplate(template_id=TemplateID(""), name="", task_groups=[], created_at=0, updated_at=0)
        given = _given(body) | {"namespace": call.namespace}
        made = await self._templates.create(replace(empty, **given))
        return Answer(body={"template_id": made.template_id, "message": "Template created successfully"})

    async def change(self, call: Call) -> Answer:
        """PUT /templates/{template_id}."""
        template = self._templates.find(call.namespace, call.path["template_id"])
        given = _given(read_document(await call.body()))
        if not given:
            raise BadField("", f"nothing to change: send any of {', '.join(FIELDS)}")
        await self._templates.change(replace(template, **given))
        return Answer(body={"message": "Template updated successfully"})

    async def delete(self, call: Call) -> Answer:
        """DELETE /templates/{template_id}."""
        await self._templates.delete(call.namespace, call.path["template_id"])
        return Answer(body={"message": "Template deleted successfully"})


def _given(body: Fields) -> dict[str, Any]:
    """The members that were sent, checked. Raises BadField."""
    given: dict[str, Any] = {}
    if body.has("name"):
        given["name"] = body.text("name")
    if body.has("description"):
        given["description"] = body.text("description", "")
    if body.has("task_groups"):
        group_requests(body)
        given["task_groups"] = body.value["task_groups"]
    if body.has("constraints"):
        constraints = body.fields("constraints")
        wanted_properties(constraints, region="")
        given["constraints"] = dict(constraints.value)
    return given


def _row(template: JobTemplate) -> dict[str, Any]:
    return {
        "template_id": template.template_id,
        "name": template.name,
        "description": template.description,
        "created_at": template.created_at / SECOND_NS,
        "updated_at": template.updated_at / SECOND_NS,
    }
