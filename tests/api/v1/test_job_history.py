"""Versions of jobs: reverted to, marked, named, compared; and their sources."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.v1.served import Served, served


async def three_versions() -> Served:
    api = await served()
    for priority in (50, 60, 70):
        await api.register("web", Priority=priority)
    return api


async def versions(api: Served, query: str = "") -> Any:
    reply = await api.call("GET", f"/v1/job/web/versions{query}")
    assert reply.status == 200, reply.text
    return reply.json


async def test_a_revert_makes_a_new_version_like_the_old_one() -> None:
    api = await three_versions()
    reply = await api.call("PUT", "/v1/job/web/revert", {"JobID": "web", "JobVersion": 0})
    assert (reply.status, reply.headers["x-nomad-knownleader"]) == (200, "false")
    newest = (await versions(api))["Versions"][0]
    assert (newest["Version"], newest["Priority"], newest["Stable"]) == (3, 50, False)


@pytest.mark.parametrize(
    ("body", "status", "text"),
    [
        ({"JobVersion": 0}, 400, "JobID must be specified"),
        ({"JobID": "zz", "JobVersion": 0}, 400, "Job ID does not match"),
        ({"JobID": "web", "JobVersion": 2}, 500, "can't revert to current version"),
        (
            {"JobID": "web", "JobVersion": 9},
            500,
            'job "web" in namespace "default" at version 9 not found',
        ),
        (
            {"JobID": "web", "JobVersion": 9, "EnforcePriorVersion": 1},
            500,
            "Current job has version 2; enforcing version 1",
        ),
    ],
)
async def test_a_revert_that_cannot_be_says_why(body: dict[str, Any], status: int, text: str) -> None:
    api = await three_versions()
    reply = await api.call("PUT", "/v1/job/web/revert", body)
    assert (reply.status, reply.text) == (status, text)


async def test_marking_an_old_version_stable_leaves_the_current_one() -> None:
    api = await three_versions()
    body = {"JobID": "web", "JobVersion": 0, "Stable": True}
    assert (await api.call("PUT", "/v1/job/web/stable", body)).status == 200
    assert (await api.call("GET", "/v1/job/web")).json["Version"] == 2
    assert [one["Stable"] for one in (await versions(api))["Versions"]] == [False, False, True]


async def test_versions_are_named_once_and_unnamed() -> None:
    api = await three_versions()
    named = await api.call("PUT", "/v1/job/web/versions/golden/tag", {"Version": 1, "Description": "d"})
    assert (named.json["Name"], named.json["Description"]) == ("golden", "d")
    again = await api.call("PUT", "/v1/job/web/versions/golden/tag", {"Version": 2})
    assert (again.status, again.text) == (
        500,
        'tag "golden" already exists on a different version of job "web"',
    )
    latest = await api.call("PUT", "/v1/job/web/versions/new/tag", {"Latest": True})
    assert latest.json["Name"] == "new"
    tags = [(one["VersionTag"] or {}).get("Name") for one in (await versions(api))["Versions"]]
    assert tags == ["new", "golden", None]
    gone = await api.call("DELETE", "/v1/job/web/versions/golden/tag")
    assert (gone.status, gone.json["Name"]) == (200, "")
    unknown = await api.call("DELETE", "/v1/job/web/versions/golden/tag")
    assert (unknown.status, unknown.text) == (500, 'tag "golden" not found on job "web"')


async def test_differences_are_told_to_the_version_before_or_to_one_that_is_named() -> None:
    api = await three_versions()
    assert (await versions(api))["Diffs"] is None
    each = (await versions(api, "?diffs=true"))["Diffs"]
    assert [one["Fields"][0]["Old"] for one in each] == ["60", "50"]
    to_first = (await versions(api, "?diffs=true&diff_version=0"))["Diffs"]
    assert [one["Type"] for one in to_first] == ["Edited", "Edited", "None"]
    missing = await api.call("GET", "/v1/job/web/versions?diffs=true&diff_tag=x")
    assert (missing.status, missing.text) == (500, 'tag "x" not found')


async def test_scaling_to_the_same_count_is_a_new_version_too() -> None:
    api = await served()
    await api.register("web")
    body = {"Count": 0, "Target": {"Group": "g"}, "Message": "again"}
    reply = await api.call("PUT", "/v1/job/web/scale", body)
    assert reply.status == 200, reply.text
    assert (await versions(api))["Versions"][0]["Version"] == 1
    status = (await api.call("GET", "/v1/job/web/scale")).json
    assert status["TaskGroups"]["g"]["Events"][0]["Message"] == "again"


@pytest.mark.parametrize(
    "launcher",
    [
        pytest.param({"Periodic": {"Enabled": True, "Spec": "0 0 1 1 *", "SpecType": "cron"}}, id="periodic"),
        pytest.param({"ParameterizedJob": {}}, id="parameterized"),
    ],
)
async def test_scaling_what_only_launches_others_places_nothing(launcher: dict[str, Any]) -> None:
    api = await served()
    await api.register("web", Type="batch", **launcher)
    reply = await api.call("PUT", "/v1/job/web/scale", {"Count": 3, "Target": {"Group": "g"}})
    assert (reply.status, reply.json["EvalID"], reply.json["EvalCreateIndex"]) == (200, "", 0)
    assert (await versions(api))["Versions"][0]["TaskGroups"][0]["Count"] == 3
    assert (await api.call("GET", "/v1/job/web/evaluations")).json == []
