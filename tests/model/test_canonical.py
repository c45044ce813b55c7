"""From a request to the stored job, against recorded conversations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from yurt.model.canonical import canonical_job, request_defaults
from yurt.model.decode import fold, plan_of
from yurt.model.forms import JobForm
from yurt.model.go_json import Json
from yurt.model.job import Job

RECORDINGS = Path(__file__).parents[1] / "recordings" / "nomad"
PARSED_JOB_FILES = [
    path
    for path in sorted((RECORDINGS / "jobspec").glob("*.json"))
    if not path.name.endswith(".vars.json")  # those are input to job files
]
VOLATILE = ("Status", "SubmitTime", "CreateIndex", "ModifyIndex", "JobModifyIndex")
SECOND = 1_000_000_000


def recorded(name: str) -> dict[str, Any]:
    """Give the steps of an HTTP recording by their names."""
    steps = json.loads((RECORDINGS / "http" / f"{name}.json").read_text())["steps"]
    return {step["step"].strip(): step for step in steps}


def stored(request: dict[str, Any], **options: Json) -> Job:
    folded = fold(request, plan_of(JobForm))
    return canonical_job(folded, **{"region": "global", "new_id": lambda: "scaling-1", **options})


def shown(job: Job) -> dict[str, Any]:
    shown_job: dict[str, Any] = json.loads(msgspec.json.encode(job))
    return shown_job


def settled(job: dict[str, Any]) -> dict[str, Any]:
    """Blank out what registering, not canonicalising, sets."""
    blank = {**job, **dict.fromkeys(VOLATILE)}
    for group in blank["TaskGroups"]:
        if group["Scaling"] is not None:
            group["Scaling"].update(ID="", CreateIndex=0, ModifyIndex=0)
    return blank


def a_job(**members: Json) -> dict[str, Any]:
    task = {"Name": "t", "Driver": "raw_exec", **members.pop("Task", {})}
    group = {"Name": "g", "Tasks": [task], **members.pop("Group", {})}
    return {"ID": "j", "TaskGroups": [group], **members}


@pytest.mark.parametrize("recording", PARSED_JOB_FILES, ids=lambda path: path.stem)
def test_request_defaults_are_the_recorded_ones(recording: Path) -> None:
    answers = json.loads(recording.read_text())
    assert request_defaults(answers["parse"]) == answers["canonical"]


@pytest.mark.parametrize("step", ["simple", "rich", "json"])
def test_request_defaults_of_the_parse_endpoint(step: str) -> None:
    steps = recorded("parse_hcl")
    parsed = steps[step]["response"]["body"]
    assert request_defaults(parsed) == steps[f"{step} canonical"]["response"]["body"]


@pytest.mark.parametrize("name", ["defaults_service", "defaults_sysbatch", "job_rich_fields"])
def test_stored_job_is_the_recorded_one(name: str) -> None:
    steps = recorded(name)
    job = stored(steps["register"]["request"]["body"]["Job"])
    expected = steps["read"]["response"]["body"]
    assert settled(shown(job)) == settled(expected)
    assert list(shown(job)) == list(expected)
    assert list(shown(job)["TaskGroups"][0]) == list(expected["TaskGroups"][0])
    assert list(shown(job)["TaskGroups"][0]["Tasks"][0]) == list(expected["TaskGroups"][0]["Tasks"][0])


def test_registering_a_job_as_read_adds_only_the_identity_constraint_again() -> None:
    steps = recorded("job_rich_fields")
    first = stored(steps["register"]["request"]["body"]["Job"])
    second = stored(shown(first), existing=first, new_id=lambda: "another")
    expected = steps["read again"]["response"]["body"]["TaskGroups"][0]
    group = shown(second)["TaskGroups"][0]
    assert group["Constraints"] == expected["Constraints"]
    assert group["Scaling"]["ID"] == "scaling-1"
    assert shown(second)["TaskGroups"][0]["Tasks"] == shown(first)["TaskGroups"][0]["Tasks"]


def test_the_request_is_left_alone() -> None:
    request = recorded("job_rich_fields")["register"]["request"]["body"]["Job"]
    folded = fold(request, plan_of(JobForm))
    before = json.dumps(folded)
    canonical_job(folded, region="global", new_id=lambda: "x")
    assert json.dumps(folded) == before


def test_region_and_namespace_are_the_resolved_ones() -> None:
    job = stored(a_job(Region="global", Namespace="a"), region="eu", namespace="b")
    assert (job.region, job.namespace) == ("eu", "b")
    assert stored(a_job(Namespace="a")).namespace == "a"


def test_members_of_the_server_are_not_taken_from_the_request() -> None:
    job = stored(
        a_job(Status="running", ParentID="p", Dispatched=True, ModifyIndex=7, Stable=True, Version=7)
    )
    assert (job.status, job.parent_id, job.dispatched, job.modify_index, job.stable) == (
        "",
        "",
        False,
        0,
        False,
    )
    assert job.version == 7


def test_priority_zero_is_the_default() -> None:
    assert stored(a_job(Priority=0)).priority == 50


def test_empty_lists_and_maps_are_stored_as_null() -> None:
    job = stored(
        a_job(
            Meta={},
            Constraints=[],
            Datacenters=[],
            Group={"Networks": [], "Volumes": {}, "Meta": {}},
            Task={"Env": {}, "Config": {}, "Identities": [], "Resources": {"Devices": []}},
        )
    )
    (group,) = job.task_groups
    (task,) = group.tasks
    assert (job.meta, job.constraints, job.datacenters) == (None, None, ("*",))
    assert (group.networks, group.volumes, group.meta) == (None, None, None)
    assert (task.env, task.config, task.identities, task.resources.devices) == (None, None, None, None)


def test_job_update_is_handed_down_and_keeps_its_pace_alone() -> None:
    job = stored(a_job(Update={"MaxParallel": 3, "AutoRevert": True}, Group={"Update": {"Canary": 2}}))
    update = job.task_groups[0].update
    assert update is not None
    assert (update.max_parallel, update.auto_revert, update.canary) == (3, True, 2)
    assert (job.update.max_parallel, job.update.auto_revert, job.update.stagger) == (3, False, 30 * SECOND)


def test_an_all_zero_job_update_is_not_handed_down() -> None:
    zeros = shown(stored(a_job(Type="batch")))["Update"]
    assert stored(a_job(Type="batch", Update=zeros)).task_groups[0].update is None
    assert stored(a_job(Type="batch", Update={})).task_groups[0].update is not None


def test_count_and_scaling_bounds_stand_in_for_each_other() -> None:
    bounded = stored(a_job(Group={"Scaling": {"Min": 2, "Max": 5}})).task_groups[0]
    assert bounded.count == 2
    counted = stored(a_job(Group={"Count": 4, "Scaling": {}})).task_groups[0]
    assert counted.scaling is not None
    assert (counted.scaling.min, counted.scaling.max, counted.scaling.enabled) == (4, -1, True)
    assert counted.scaling.target == {"Namespace": "default", "Job": "j", "Group": "g"}


def test_a_default_identity_among_the_named_ones_is_moved() -> None:
    (task,) = stored(a_job(Task={"Identities": [{"Name": "default", "Env": True}]})).task_groups[0].tasks
    assert task.identity is not None
    assert task.identity.env is True
    assert task.identity.audience == ("nomadproject.io",)
    assert task.identities == ()


def test_service_names_are_filled_in() -> None:
    named = stored(
        a_job(Task={"Services": [{"Name": "${JOB}-${TASKGROUP}-${TASK}"}, {"Name": "${BASE}"}, {}]})
    )
    assert [each.name for each in named.task_groups[0].tasks[0].services or ()] == ["j-g-t"] * 3
    group = stored(a_job(Group={"Services": [{"Name": "${TASK}"}, {}]})).task_groups[0]
    assert [each.name for each in group.services or ()] == ["group", "j-g"]


def test_checks_inherit_from_their_service() -> None:
    service = {
        "OnUpdate": "ignore",
        "CheckRestart": {"Limit": 3, "Grace": 9},
        "Checks": [{"Type": "tcp", "CheckRestart": {"Limit": 5}, "FailuresBeforeCritical": -2}],
    }
    (task,) = stored(a_job(Task={"Services": [service]})).task_groups[0].tasks
    (check,) = (task.services or ())[0].checks or ()
    assert check.check_restart is not None
    assert (check.check_restart.limit, check.check_restart.grace) == (5, 9)
    assert (check.on_update, check.task_name, check.failures_before_critical) == ("ignore", "t", 0)


def left_sides(job: Job) -> list[str]:
    return [constraint.ltarget for constraint in job.task_groups[0].constraints or ()]


@pytest.mark.parametrize(
    ("group", "task", "implied"),
    [
        pytest.param({}, {}, [], id="nothing"),
        pytest.param({}, {"Vault": {}}, ["${attr.vault.version}"], id="vault"),
        pytest.param(
            {}, {"Secrets": [{"Provider": "p"}]}, ["${attr.plugins.secrets.p.version}"], id="secrets"
        ),
        pytest.param({}, {"KillSignal": "SIGINT"}, ["${attr.os.signals}"], id="signals"),
        pytest.param({"Services": [{}]}, {}, ["${attr.consul.version}"], id="consul service"),
        pytest.param(
            {"Services": [{}], "Constraints": [{"LTarget": "${attr.consul.version}", "Operand": "is_set"}]},
            {},
            ["${attr.consul.version}"],
            id="the author's own constraint wins",
        ),
        pytest.param(
            {"Networks": [{"Mode": "bridge"}]},
            {},
            [
                f"${{attr.plugins.cni.version.{plugin}}}"
                for plugin in ("bridge", "firewall", "host-local", "loopback", "portmap")
            ],
            id="bridge",
        ),
    ],
)
def test_implied_constraints(group: dict[str, Any], task: dict[str, Any], implied: list[str]) -> None:
    assert left_sides(stored(a_job(Group=group, Task=task))) == implied


def test_consul_constraint_of_a_task_service_is_put_on_the_task() -> None:
    job = stored(a_job(Task={"Services": [{}]}))
    assert left_sides(job) == []
    (constraint,) = job.task_groups[0].tasks[0].constraints or ()
    assert constraint.ltarget == "${attr.consul.version}"


def test_a_sidecar_brings_its_task_and_port_once() -> None:
    service = {"Name": "api", "Connect": {"SidecarService": {}, "SidecarTask": {"Resources": {"CPU": 50}}}}
    job = stored(a_job(Group={"Networks": [{"Mode": "bridge"}], "Services": [service]}))
    (group,) = job.task_groups
    assert [task.name for task in group.tasks] == ["t", "connect-proxy-api"]
    assert group.tasks[1].resources.cpu == 50
    assert group.networks is not None
    assert [(port.label, port.to) for port in group.networks[0].dynamic_ports or ()] == [
        ("connect-proxy-api", -1)
    ]
    assert stored(shown(job)) == job


def test_older_spellings_of_exposed_paths_are_understood() -> None:
    proxy = {"ExposeConfig": {"Path": [{"Path": "/health"}]}}
    job = stored(a_job(Group={"Services": [{"Connect": {"SidecarService": {"Proxy": proxy}}}]}))
    connect = shown(job)["TaskGroups"][0]["Services"][0]["Connect"]
    assert [path["Path"] for path in connect["SidecarService"]["Proxy"]["Expose"]["Paths"]] == ["/health"]


def test_unknown_volume_types_are_dropped() -> None:
    volumes = {"a": {"Type": "host", "Source": "a"}, "b": {"Type": "zip"}}
    assert list(stored(a_job(Group={"Volumes": volumes})).task_groups[0].volumes or ()) == ["a"]
    assert stored(a_job(Group={"Volumes": {"b": {"Type": "zip"}}})).task_groups[0].volumes is None
