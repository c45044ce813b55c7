"""Simple jobs become jobs of the model, and are shown as they were written."""

from __future__ import annotations

import contextlib
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from yurt.model.alloc import Allocation
from yurt.model.allocated import AllocatedResources
from yurt.model.canonical import canonical_job
from yurt.model.job import Job
from yurt.model.placement_rules import Constraint
from yurt.model.simple.delivery import delivered_form
from yurt.model.simple.fields import BadField, Fields
from yurt.model.simple.job_view import constraints_view, groups_view
from yurt.model.simple.jobs import job_request
from yurt.model.simple.tasks import asks_no_memory
from yurt.model.validate import JobRules, job_errors
from yurt.model.wire import AllocID, EvalID, NodeID

RULES = JobRules(count_max=1000, namespace_exists=True, node_pool_exists=True, capabilities=None)


def stored(document: dict[str, Any]) -> Job:
    request = job_request(Fields(document), job_id="job", region="global")
    return canonical_job(request, region="global", new_id=str)


def a_job(config: dict[str, Any], **task: Any) -> dict[str, Any]:
    return {"task_groups": [{"name": "g", "tasks": [{"name": "t", "config": config, **task}]}]}


def test_a_container_publishes_its_port_on_the_same_host_port() -> None:
    job = stored(
        a_job({"image": "nginx:latest", "port": 8080, "command": "nginx -g 'daemon off;'"}, resources=FULL)
    )
    (group,) = job.task_groups
    (task,) = group.tasks
    assert group.networks is not None
    (port,) = group.networks[0].reserved_ports or ()
    assert (port.value, port.to) == (8080, 8080)
    assert task.driver == "docker"
    assert task.config == {
        "image": "nginx:latest",
        "command": "nginx",
        "args": ["-g", "daemon off;"],
        "ports": [port.label],
    }
    assert (task.resources.cpu, task.resources.memory_mb) == (100, 256)
    assert job_errors(job, RULES) is None


FULL = {"cpu": 100, "memory": 256}


def test_a_process_is_a_shell_command_line() -> None:
    (task,) = stored(a_job({"command": "echo $HOME; sleep 1"})).task_groups[0].tasks
    assert (task.driver, task.config) == (
        "raw_exec",
        {"command": "/bin/sh", "args": ["-c", "echo $HOME; sleep 1"]},
    )
    assert task.kill_signal == "SIGTERM"


@pytest.mark.parametrize(
    ("written", "cpu", "memory"),
    [
        pytest.param({}, 1, 10, id="nothing"),
        pytest.param({"cpu": 0, "memory": 0}, 1, 10, id="zero"),
        pytest.param({"cpu": 50, "memory": 4}, 50, 10, id="below the least"),
        pytest.param({"cpu": 99.5, "memory": 64}, 100, 64, id="a fraction"),
    ],
)
def test_the_scheduler_books_the_least_and_what_was_written_is_delivered(
    written: dict[str, Any], cpu: int, memory: int
) -> None:
    document = a_job({"command": "true"}, resources=written)
    job = stored(document)
    (task,) = job.task_groups[0].tasks
    assert (task.resources.cpu, task.resources.memory_mb) == (cpu, memory)
    (sent,) = delivered_form(an_alloc(job))["task_group"]["tasks"]
    assert sent["resources"] == {"cpu": 0, "memory": 0, **written}
    assert asks_no_memory(task) == (not written.get("memory"))


def an_alloc(job: Job) -> Allocation:
    return Allocation(
        id=AllocID("a1"),
        job=job,
        task_group="g",
        name_index=0,
        node_id=NodeID("n1"),
        node_name="n1",
        eval_id=EvalID("e1"),
        resources=AllocatedResources(),
    )


def test_a_push_node_is_sent_what_was_written_in_config_whatever_it_is() -> None:
    config = {"image": "redis", "port": 6379, "volumes": ["/a:/b"], "shm": {"size": 1}, "x": None}
    sent = delivered_form(an_alloc(stored(a_job(config))))
    assert sent["task_group"]["tasks"] == [
        {"name": "t", "resources": {"cpu": 0, "memory": 0}, "config": config}
    ]
    assert (sent["allocation_id"], sent["job_id"], sent["status"]) == ("a1", "job", "pending")


def test_what_was_changed_through_the_other_dialect_is_not_hidden_by_what_was_written() -> None:
    job = stored(a_job({"command": "sleep 1"}))
    (group,) = job.task_groups
    changed = msgspec.structs.replace(
        group.tasks[0], config={"command": "/bin/sh", "args": ["-c", "sleep 2"]}
    )
    group = msgspec.structs.replace(group, tasks=(changed,))
    (view,) = groups_view(msgspec.structs.replace(job, task_groups=(group,)))
    assert view["tasks"][0]["config"] == {"command": "sleep 2"}
    assert view["tasks"][0]["resources"] == {"cpu": 1, "memory": 10}


def test_a_task_of_another_driver_is_shown_with_its_driver() -> None:
    document = a_job({"command": "/bin/date", "args": ["-u"]}, driver="exec", resources=FULL)
    (view,) = groups_view(stored(document))
    assert view["tasks"][0]["driver"] == "exec"
    assert view["tasks"][0]["config"] == {"command": "/bin/date", "args": ["-u"]}


@pytest.mark.parametrize(
    ("constraint", "rules"),
    [
        (("ip_address", "=", "10.0.0.7"), [("${attr.unique.network.ip-address}", "=", "10.0.0.7")]),
        (("node_id", "=", "n-1"), [("${any.unique.node_id}", "=", "n-1")]),
        (("hostname", "regex", "^web"), [("${attr.unique.hostname}", "regexp", "^web")]),
        (("rack", ">=", 3), [("${any.rack}", ">=", "3")]),
        (("rack", "!=", "r1"), [("${any.rack}", "is_set", ""), ("${any.rack}", "!=", "r1")]),
        (("${attr.cpu.arch}", "set_contains", "a"), [("${attr.cpu.arch}", "set_contains", "a")]),
        (("rack", "is_set", ""), [("${any.rack}", "is_set", "")]),
        (("", "=", "x"), []),
        (("rack", "", "x"), []),
        (("rack", "=", ""), []),
    ],
)
def test_constraints_of_a_group(constraint: tuple[str, str, Any], rules: list[tuple[str, str, str]]) -> None:
    document = a_job({"command": "true"})
    attribute, operator, value = constraint
    document["task_groups"][0]["constraints"] = [
        {"attribute": attribute, "operator": operator, "value": value}
    ]
    job = stored(document)
    # What the signal of its tasks implies stands beside what was written.
    found = [rule for rule in job.task_groups[0].constraints or () if "signals" not in rule.ltarget]
    assert [(rule.ltarget, rule.operand, rule.rtarget) for rule in found] == rules
    assert job_errors(job, RULES) is None
    shown = groups_view(job)[0].get("constraints", [])
    assert shown == ([{"attribute": attribute, "operator": operator, "value": str(value)}] if rules else [])


def test_wanted_properties_of_a_job() -> None:
    wanted = {"region": "us-west", "datacenter": "dc1", "node_class": "big", "rack": "r1"}
    job = stored({**a_job({"command": "true"}), "constraints": wanted})
    assert job.constraints == (
        Constraint(ltarget="global", operand="declared_as", rtarget="us-west"),
        Constraint(ltarget="${node.datacenter}", operand="declared_as", rtarget="dc1"),
        Constraint(ltarget="${node.class}", operand="declared_as", rtarget="big"),
        Constraint(ltarget="${meta.rack}", operand="declared_as", rtarget="r1"),
    )
    assert constraints_view(job) == wanted
    assert job_errors(job, RULES) is None


def test_a_group_may_say_everything_in_snake_case() -> None:
    document = a_job({"command": "true"}, env={"A": "b"}, kill_timeout=1_000_000_000)
    document["task_groups"][0] |= {
        "restart": {"attempts": 7, "mode": "delay"},
        "reschedule_policy": {"attempts": 0, "unlimited": True, "delay": "5s"},
        "networks": [{"mode": "host", "dynamic_ports": [{"label": "http"}]}],
        "volumes": {"data": {"type": "host", "source": "data", "read_only": True}},
        "ephemeral_disk": {"size_mb": 500},
        "meta": {"owner": "me"},
    }
    (group,) = stored(document).task_groups
    assert group.restart_policy.attempts == 7
    assert group.reschedule_policy is not None
    assert group.reschedule_policy.delay == 5_000_000_000
    assert group.ephemeral_disk.size_mb == 500
    assert group.volumes is not None
    assert group.volumes["data"].read_only
    assert group.tasks[0].env == {"A": "b"}
    assert group.tasks[0].kill_timeout == 1_000_000_000


JOBS: dict[str, dict[str, Any]] = {
    "container": a_job({"image": "redis:7", "port": 6379}, resources=FULL),
    "process": a_job({"command": "sleep 1"}),
    "other driver": a_job({"command": "/bin/date"}, driver="exec"),
    "args": a_job({"image": "redis", "command": "redis-server", "args": ["--port", "1"]}),
    "extras": {
        **a_job({"command": "true"}, env={"A": "b"}, templates=[{"embedded_tmpl": "x", "dest_path": "y"}]),
        "type": "batch",
        "constraints": {"region": "r", "k": "v"},
        "priority": 80,
    },
    "groups": {
        "task_groups": [
            {
                "name": "a",
                "count": 3,
                "restart": {"attempts": 9},
                "constraints": [{"attribute": "rack", "operator": "!=", "value": "r1"}],
                "update": {"max_parallel": 2},
                "services": [{"name": "web", "provider": "nomad"}],
                "tasks": [{"name": "x", "config": {"image": "i", "port": 80}}],
            },
            {"name": "b", "tasks": [{"name": "y", "config": {"command": "z"}, "meta": {"k": "v"}}]},
        ]
    },
}


@pytest.mark.parametrize("document", JOBS.values(), ids=JOBS)
def test_what_a_view_shows_can_be_sent_back(document: dict[str, Any]) -> None:
    job = stored(document)
    assert job_errors(job, RULES) is None
    shown = {
        "type": job.type,
        "priority": job.priority,
        "constraints": constraints_view(job),
        "task_groups": groups_view(job),
    }
    assert stored(msgspec.json.decode(msgspec.json.encode(shown))) == job


SCALARS = st.none() | st.booleans() | st.integers(-5, 70000) | st.floats() | st.text(max_size=3)
NAMES = st.sampled_from(
    [
        *("name", "count", "tasks", "config", "image", "port", "command", "resources", "cpu", "memory"),
        *("constraints", "attribute", "operator", "value", "type", "priority", "env", "restart"),
    ]
)
DOCUMENTS = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=25,
)


@given(groups=DOCUMENTS, more=st.dictionaries(NAMES, DOCUMENTS, max_size=3))
def test_whatever_is_sent_is_a_job_or_an_error_that_names_a_field(groups: Any, more: dict[str, Any]) -> None:
    with contextlib.suppress(BadField):
        job = stored({**more, "task_groups": groups})
        groups_view(job)
        job_errors(job, RULES)
