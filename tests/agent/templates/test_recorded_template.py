"""A recorded template gives what was recorded."""

from __future__ import annotations

from pathlib import Path

from tests.agent.templates.rendering_support import rendered
from yurt.agent.templates.sources import (
    Known,
    ServiceQuery,
    ServicesQuery,
    TemplateVariable,
    VariableQuery,
    VariablesQuery,
)
from yurt.model.service_registration import ServiceRegistration
from yurt.model.wire import JobID

RECORDINGS = Path(__file__).parents[2] / "recordings/nomad/client"

BACKENDS = tuple(
    ServiceRegistration(
        id=f"_nomad-task-{number}",
        service_name="backend",
        address="127.0.0.1",
        port=20_000 + number,
        tags=("v1", "blue"),
        datacenter="dc1",
        job_id=JobID("svcprov"),
    )
    for number in range(2)
)
SHARED = TemplateVariable(namespace="default", path="nomad/jobs", items={"shared": "yes"})
OWN = TemplateVariable(namespace="default", path="nomad/jobs/tm", items={"user": "ann", "pass": 's3 "q"'})
KNOWN: Known = {
    VariableQuery("default", "nomad/jobs/tm"): OWN,
    VariableQuery("default", "nomad/jobs/none"): None,
    VariablesQuery("default", ""): (SHARED, OWN),
    VariablesQuery("default", "nomad/jobs"): (SHARED, OWN),
    ServiceQuery("default", "backend"): BACKENDS,
    ServiceQuery("default", "nothing"): (),
    ServicesQuery("default"): BACKENDS,
}
VARIABLES = {
    "NOMAD_TASK_NAME": "t",
    "NOMAD_JOB_NAME": "tm",
    "node.unique.name": "node1",
    "attr.kernel.name": "linux",
    "meta.rack": "r1",
    "HOME": "/root",
    "SOMEHOST": "leak",
    "FROMENV": "fe",
}


def test_the_recorded_template() -> None:
    # The recorded node had no address that its last line could show.
    source = (
        (RECORDINGS / "template.tmpl").read_text().replace('{{ sockaddr "GetInterfaceIP \\"lo\\"" }}', "")
    )

    result = rendered(source, KNOWN, variables=VARIABLES)

    assert result.missing == ()
    assert result.text.splitlines() == (RECORDINGS / "template.out").read_text().splitlines()
