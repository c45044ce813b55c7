"""Every kind of entry that only the simple dialect has, applied to something that is there."""

from __future__ import annotations

from msgspec.structs import replace

from tests.state.builders import Cluster, a_node
from yurt.model.deliveries import Delivery
from yurt.model.push_nodes import ENDPOINT_LINK
from yurt.model.simple.templates import JobTemplate, TemplateID
from yurt.model.wire import AllocID
from yurt.state import simple_entries as entries


def simple_history() -> Cluster:
    """A cluster with a push node, deliveries to it and templates, some of them deleted again."""
    cluster = Cluster()
    node = cluster.add_node(replace(a_node(), links={ENDPOINT_LINK: "http://10.0.0.1:8501"}))
    job = cluster.add_job()
    cluster.place(job, "a1", "a2", "a3", node=node)
    for name in ("t1", "t2"):
        template = JobTemplate(
            template_id=TemplateID(name),
            name=name,
            description="a template",
            task_groups=[{"name": "g", "tasks": [{"name": "t", "config": {"image": "nginx"}}]}],
            constraints={"region": "r"},
            created_at=cluster.now,
            updated_at=cluster.now,
        )
        cluster.apply(entries.UpsertJobTemplate(at=cluster.now, template=template))
    cluster.apply(entries.DeleteJobTemplate(at=cluster.now, template_id=TemplateID("t2")))
    begun = tuple(
        Delivery(alloc_id=AllocID(alloc_id), node_id=node.id, tasks=2, ports=(8080,))
        for alloc_id in ("a1", "a2", "a3")
    )
    cluster.apply(entries.RecordDeliveries(at=cluster.now, deliveries=begun))
    accepted = replace(begun[0], accepted_at=cluster.now)
    cluster.apply(entries.RecordDeliveries(at=cluster.now, deliveries=(accepted,)))
    cluster.apply(entries.ForgetDeliveries(at=cluster.now, alloc_ids=(AllocID("a3"),)))
    return cluster
