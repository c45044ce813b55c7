"""Properties of jobs: nothing is lost on the wire, and canonical jobs stay as they are."""

from __future__ import annotations

import json
import types
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import msgspec
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from yurt.model.canonical import canonical_job
from yurt.model.decode import fold, plan_of
from yurt.model.forms import JobForm
from yurt.model.forms.job import TaskForm, TaskGroupForm
from yurt.model.forms.service import ServiceForm
from yurt.model.go_json import Json
from yurt.model.go_types import GoInteger
from yurt.model.job import Job
from yurt.model.validate import job_errors, job_warnings

TEXT = st.text(st.sampled_from("abcXYZ-_./${} \u00e4"), max_size=4)
NUMBER = st.integers(-3, 3) | st.sampled_from([30_000_000_000, 2**62])
FREE = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=4,
)


def values(wanted: Json, *, instances: bool) -> st.SearchStrategy[Any]:
    """Give values of a type: Struct instances, or the JSON objects that a client sends for them."""
    origin: Json = get_origin(wanted)
    arguments = get_args(wanted)
    if origin is Annotated:
        notes = [note for note in arguments[1:] if isinstance(note, GoInteger)]
        if notes:
            return st.integers(max(notes[0].minimum, -3), 3)
        return values(arguments[0], instances=instances)
    if origin in (Union, types.UnionType):
        arms = [arm for arm in arguments if arm not in (type(None), msgspec.UnsetType)]
        present = st.one_of([values(arm, instances=instances) for arm in arms])
        return st.none() | present
    if origin in (list, tuple):
        items = st.lists(values(arguments[0], instances=instances), max_size=2)
        return items.map(tuple) if instances else items
    if origin is dict:
        return st.dictionaries(TEXT, values(arguments[1], instances=instances), max_size=2)
    if hasattr(wanted, "__supertype__"):
        return values(wanted.__supertype__, instances=instances)
    if isinstance(wanted, type) and issubclass(wanted, msgspec.Struct):
        return structs(wanted, instances=instances)
    scalars: dict[Any, st.SearchStrategy[Any]] = {
        str: TEXT,
        int: NUMBER,
        bool: st.booleans(),
        bytes: st.binary(max_size=3) if instances else st.sampled_from(["", "aGk="]),
        Any: FREE,
    }
    return scalars[wanted]


def structs(struct: type[msgspec.Struct], *, instances: bool) -> st.SearchStrategy[Any]:
    """Give instances of a Struct, or objects with some of its members."""
    hints = get_type_hints(struct, include_extras=True)
    if instances:
        return st.builds(
            struct,
            **{
                field.name: st.just(field.default) | values(hints[field.name], instances=True)
                if field.default is not msgspec.NODEFAULT
                else values(hints[field.name], instances=True)
                for field in msgspec.structs.fields(struct)
            },
        )
    members = {
        field.encode_name: st.deferred(
            lambda name=field.name: values(hints[name], instances=False)  # type: ignore[misc]
        )
        for field in msgspec.structs.fields(struct)
    }
    return st.fixed_dictionaries({}, optional=members)


def has_identities(request: Json) -> bool:
    """Whether a job has identities, whose constraint is, as recorded, added with each registration."""
    text = json.dumps(request)
    return '"Identit' in text


@settings(max_examples=60, deadline=None)
@given(job=structs(Job, instances=True))
def test_a_job_survives_the_wire(job: Job) -> None:
    assert msgspec.json.decode(msgspec.json.encode(job), type=Job) == job
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(job), type=Job) == job


@settings(max_examples=80, deadline=None)
@given(
    request=structs(JobForm, instances=False),
    groups=st.lists(structs(TaskGroupForm, instances=False), min_size=1, max_size=2),
    tasks=st.lists(structs(TaskForm, instances=False), min_size=1, max_size=2),
    services=st.lists(structs(ServiceForm, instances=False), max_size=2),
    job_type=st.sampled_from(["service", "batch", "system", "x"]),
)
def test_a_canonical_job_stays_as_it_is(
    request: dict[str, Any], groups: list[Json], tasks: list[Json], services: list[Json], job_type: str
) -> None:
    groups[0] |= {"Tasks": tasks, "Services": services}
    for number, group in enumerate(groups):
        group["Name"] = f"g{number}"  # scaling policies keep their ids by the names of their groups
    request |= {"TaskGroups": groups, "Type": job_type}
    folded = fold(request, plan_of(JobForm))
    once = canonical_job(folded, region="r", new_id=lambda: "first")
    as_read = json.loads(msgspec.json.encode(once))
    twice = canonical_job(fold(as_read, plan_of(JobForm)), region="r", new_id=lambda: "second", existing=once)
    job_errors(once)  # whatever the job, it is answered
    job_warnings(once)
    assume(not has_identities(request))
    assert twice == once
