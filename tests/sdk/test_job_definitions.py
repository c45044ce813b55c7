"""Job definitions: plain objects that become what the API takes."""

from __future__ import annotations

import typing
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from yurt.model import forms
from yurt.model.decode import decode_body
from yurt.model.wire import Wire
from yurt.sdk import definitions as d


class Request(Wire, frozen=True, kw_only=True):
    job: forms.JobForm | None = None


def a_job() -> d.Job:
    return d.Job(
        id="web",
        type="service",
        datacenters=["dc1"],
        constraints=[d.Constraint(ltarget="${attr.kernel.name}", operand="=", rtarget="linux")],
        task_groups=[
            d.Group(
                name="g",
                count=0,
                networks=[d.Network(mode="host", dynamic_ports=[d.Port(label="http", to=80)])],
                services=[
                    d.Service(
                        name="web",
                        port_label="http",
                        provider="nomad",
                        checks=[
                            d.Check(type="tcp", interval=timedelta(seconds=10), timeout=timedelta(seconds=2))
                        ],
                    )
                ],
                volumes={"data": d.Volume(name="data", type="host", source="data")},
                tasks=[
                    d.Task(
                        name="t",
                        driver="raw_exec",
                        config={"command": "/bin/true", "nested": {"a": [1, 2]}},
                        resources=d.Resources(cpu=100, memory_mb=64),
                        kill_timeout=timedelta(milliseconds=1500),
                        env={"A": "b"},
                    )
                ],
            )
        ],
        periodic=d.Periodic(specs=["@daily"]),
    )


def test_a_job_becomes_what_the_api_takes() -> None:
    told = a_job().to_api()
    assert (told["ID"], told["Name"], told["Type"]) == ("web", "web", "service")
    (group,) = told["TaskGroups"]
    assert group["Count"] == 0, "what was set is said, though it be empty"
    assert "Update" not in group, "what was not set is not said"
    assert group["Networks"][0]["DynamicPorts"] == [{"Label": "http", "To": 80}]
    assert group["Services"][0]["Checks"][0]["Interval"] == 10_000_000_000
    (task,) = group["Tasks"]
    assert task["KillTimeout"] == 1_500_000_000
    assert task["Resources"] == {"CPU": 100, "MemoryMB": 64}
    assert task["Config"]["nested"] == {"a": [1, 2]}
    assert told["Constraints"] == [{"LTarget": "${attr.kernel.name}", "Operand": "=", "RTarget": "linux"}]
    assert told["Periodic"] == {"Specs": ["@daily"], "SpecType": "cron", "Enabled": True}


def test_what_it_becomes_is_read_as_it_was_meant() -> None:
    request = decode_body(msgspec.json.encode({"Job": a_job().to_api()}), Request)
    assert request.job is not None
    assert msgspec.json.decode(msgspec.json.encode(request.job))["ID"] == "web"


def _structs(form: Any) -> list[type[msgspec.Struct]]:
    """The Structs inside a type."""
    if isinstance(form, type) and issubclass(form, msgspec.Struct):
        return [form]
    return [struct for part in typing.get_args(form) for struct in _structs(part)]


def _pairs() -> list[tuple[type[msgspec.Struct], type[msgspec.Struct]]]:
    """Each definition with the form that servers read it as, found by walking both together."""
    found: dict[type, type[msgspec.Struct]] = {d.Job: forms.JobForm}
    todo: list[type[msgspec.Struct]] = [d.Job]
    while todo:
        mine = todo.pop()
        theirs = {field.encode_name: field.type for field in msgspec.structs.fields(found[mine])}
        for field in msgspec.structs.fields(mine):
            for inner in _structs(field.type):
                if inner not in found and field.encode_name in theirs:
                    found[inner] = _structs(theirs[field.encode_name])[0]
                    todo.append(inner)
    return list(found.items())


@pytest.mark.parametrize(("mine", "theirs"), _pairs(), ids=lambda kind: kind.__name__)
def test_servers_know_every_member(mine: type[msgspec.Struct], theirs: type[msgspec.Struct]) -> None:
    assert set(mine.__struct_encode_fields__) <= set(theirs.__struct_encode_fields__)


def test_every_definition_is_part_of_a_job() -> None:
    kinds = {
        kind
        for kind in vars(d).values()
        if isinstance(kind, type) and issubclass(kind, d.Definition) and kind is not d.Definition
    }
    assert kinds == {mine for mine, _ in _pairs()}
