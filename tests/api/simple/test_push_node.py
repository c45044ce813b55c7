"""A push node: it joins, works, falls silent and comes back; and deliveries survive faults."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.api.simple.simple_calls import SimpleClient, current, push_node, statuses
from tests.support.real_agent import RealAgent, running_agent

# Failed instances are replaced soon, so that tests need not wait for it.
SOON = {"attempts": 0, "unlimited": True, "delay": 5_000_000_000, "delay_function": "constant"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealAgent]:
    with running_agent(tmp_path_factory.mktemp("server"), client=False) as agent:
        yield agent


@pytest.fixture
def simple(server: RealAgent) -> SimpleClient:
    return SimpleClient(server.simple_port)


def a_job(nodes: str, command: str = "sleep 1000", **more: Any) -> dict[str, Any]:
    """A job of one process for nodes whose ids begin with a text: tests share a server."""
    group: dict[str, Any] = {
        "name": "g",
        "constraints": [{"attribute": "node_id", "operator": "regex", "value": f"^{nodes}"}],
        "reschedule": SOON,
        "tasks": [{"name": "t", "config": {"command": command}}],
    }
    return {"task_groups": [group], **more}


def is_running_on(node_id: str) -> Any:
    return lambda view: [
        a for a in view["allocations"] if (a["node_id"], a["status"]) == (node_id, "running")
    ]


def test_a_push_node_joins_works_falls_silent_and_comes_back(
    tmp_path: Path, server: RealAgent, simple: SimpleClient
) -> None:
    with push_node(tmp_path, simple.address, "pair-1") as first:
        # Existing submitters put a region on every job; a node that declares none is not judged by it.
        web = simple.ok("POST", "/jobs", a_job("pair", constraints={"region": "us-west"}))["job_id"]
        view = simple.job_when(web, is_running_on("pair-1"))
        assert (view["status"], view["constraints"]) == ("running", {"region": "us-west"})
        alloc = current(view)
        (delivered,) = first.posted(alloc["allocation_id"])
        assert delivered["body"] == {
            "allocation_id": alloc["allocation_id"],
            "job_id": web,
            "task_group": {
                "name": "g",
                "tasks": [
                    {
                        "name": "t",
                        "resources": {"cpu": 0, "memory": 0},
                        "config": {"command": "sleep 1000"},
                    }
                ],
            },
            "status": "pending",
        }
        assert alloc["tasks"]["t"]["message"] == "héllo"

        # A process that ends well is complete; the job and its allocation are seen in /v1, too.
        done = simple.ok("POST", "/jobs", a_job("pair", "true", type="batch"))["job_id"]
        ended = simple.job_when(done, lambda view: view["status"] == "complete")
        assert current(ended, "complete")["tasks"]["t"]["status"] == "complete"
        (seen,) = server.call("GET", f"/v1/job/{done}/allocations").json
        assert (seen["ClientStatus"], seen["NodeName"]) == ("complete", "pair-1")

        # Stopped: the node is told to delete it.
        stopped = simple.ok("POST", "/jobs", a_job("pair"))["job_id"]
        alloc_id = current(simple.job_when(stopped, is_running_on("pair-1")))["allocation_id"]
        simple.ok("DELETE", f"/jobs/{stopped}")
        first.wait_for("deleted", lambda event: event["id"] == alloc_id)
        view = simple.job_when(stopped, lambda view: statuses(view) == ["stopped"])
        assert view["status"] == "dead"

        # Silent: it is down, what it had is lost and replaced elsewhere.
        with push_node(tmp_path, simple.address, "pair-2") as second:
            first.misbehave("silent")
            simple.node_when("pair-1", lambda node: not node["healthy"])
            view = simple.job_when(web, is_running_on("pair-2"))
            assert sorted(statuses(view)) == ["lost", "running"]
            lost = current(view, "lost")
            assert lost["allocation_id"] == alloc["allocation_id"]
            assert lost["tasks"]["t"]["status"] == "lost"
            assert len(second.posted(current(view)["allocation_id"])) == 1

            # Back by a heartbeat alone: what is stale there is deleted, and nothing runs twice.
            assert first.events("deleted")[-1]["id"] != alloc["allocation_id"]
            first.misbehave()
            simple.node_when("pair-1", lambda node: node["healthy"])
            first.wait_for("deleted", lambda event: event["id"] == alloc["allocation_id"])
            assert len(first.events("registered")) == 1
            assert simple.ok("GET", f"/jobs/{web}")["status"] == "running"


def test_an_update_deletes_the_old_one_before_the_new_one_is_delivered(
    tmp_path: Path, simple: SimpleClient
) -> None:
    with push_node(tmp_path, simple.address, "updated") as node:
        document = a_job("updated")
        document["task_groups"].append({**document["task_groups"][0], "name": "same"})
        job_id = simple.ok("POST", "/jobs", document)["job_id"]
        before = simple.job_when(job_id, lambda view: statuses(view) == ["running"] * 2)
        old = {alloc["task_group"]: alloc["allocation_id"] for alloc in before["allocations"]}
        changed = {**document["task_groups"][0], "tasks": [{"name": "t", "config": {"command": "sleep 999"}}]}
        simple.ok("PUT", f"/jobs/{job_id}", {"task_groups": [changed, document["task_groups"][1]]})
        after = simple.job_when(
            job_id,
            lambda view: (
                statuses(view) == ["running"] * 2
                and view["allocations"] != before["allocations"]
                and old["g"] not in [alloc["allocation_id"] for alloc in view["allocations"]]
            ),
        )
        new = {alloc["task_group"]: alloc["allocation_id"] for alloc in after["allocations"]}
        assert new["same"] == old["same"]
        assert new["g"] != old["g"]
        deleted = node.wait_for("deleted", lambda event: event["id"] == old["g"])
        (posted,) = node.posted(new["g"])
        assert deleted["at"] <= posted["at"]


def test_a_node_that_refuses_fails_the_allocation_and_another_one_gets_the_work(
    tmp_path: Path, simple: SimpleClient
) -> None:
    with push_node(tmp_path, simple.address, "try-bad") as bad:
        bad.misbehave("refuse")
        job_id = simple.ok("POST", "/jobs", a_job("try"))["job_id"]
        view = simple.job_when(job_id, lambda view: "failed" in statuses(view))
        failed = current(view, "failed")
        assert "did not take" in failed["status_description"]
        assert "status 500" in failed["status_description"]
        posts = bad.posted(failed["allocation_id"])
        assert len(posts) == 4
        # Whether it had come through all the same was asked each time before it was sent again.
        assert len([event for event in bad.events("asked") if event["id"] == failed["allocation_id"]]) >= 3
        with push_node(tmp_path, simple.address, "try-good") as good:
            view = simple.job_when(job_id, is_running_on("try-good"))
            assert len(good.posted(current(view)["allocation_id"])) == 1
        assert not bad.events("deleted") or not any(event["known"] for event in bad.events("deleted"))


def test_a_delivery_that_hangs_is_not_sent_twice(tmp_path: Path, simple: SimpleClient) -> None:
    with push_node(tmp_path, simple.address, "slow") as slow:
        slow.misbehave("hang")
        job_id = simple.ok("POST", "/jobs", a_job("slow"))["job_id"]
        alloc_id = slow.wait_for("posted")["body"]["allocation_id"]
        slow.misbehave()
        view = simple.job_when(job_id, is_running_on("slow"))
        assert current(view)["allocation_id"] == alloc_id
        assert len(slow.posted(alloc_id)) == 1


def test_work_of_an_agent_that_died_after_it_accepted_is_lost_and_replaced(
    tmp_path: Path, simple: SimpleClient
) -> None:
    with push_node(tmp_path, simple.address, "died") as node:
        node.misbehave("silent")
        job_id = simple.ok("POST", "/jobs", a_job("died"))["job_id"]
        first = node.wait_for("posted")["body"]["allocation_id"]
        node.kill()
        node.misbehave()
        with push_node(tmp_path, simple.address, "died") as again:
            view = simple.job_when(job_id, lambda view: {"lost", "running"} <= set(statuses(view)))
            assert current(view, "lost")["allocation_id"] == first
            assert len(again.posted(current(view)["allocation_id"])) == 1


@pytest.mark.parametrize("moment", ["before the answer", "after the answer"])
def test_a_server_killed_about_a_delivery_loses_nothing_and_sends_nothing_twice(
    tmp_path: Path, server: RealAgent, simple: SimpleClient, moment: str
) -> None:
    name = f"kept-{moment.split(maxsplit=1)[0]}"
    with push_node(tmp_path, simple.address, name) as node:
        if moment == "before the answer":
            node.misbehave("hang")
        job_id = simple.ok("POST", "/jobs", a_job(name))["job_id"]
        alloc_id = node.wait_for("posted")["body"]["allocation_id"]
        server.kill()
        node.misbehave()
        server.start()
        view = simple.job_when(job_id, is_running_on(name))
        assert current(view)["allocation_id"] == alloc_id
        assert len(node.posted(alloc_id)) == 1
        # A purge whose removal a crash interrupts is not forgotten.
        simple.ok("POST", f"/jobs/{job_id}/delete")
        server.kill()
        server.start()
        node.wait_for("deleted", lambda event: event["id"] == alloc_id)


def test_a_failed_task_is_removed_before_it_is_replaced(tmp_path: Path, simple: SimpleClient) -> None:
    with push_node(tmp_path, simple.address, "failing") as node:
        document = a_job("failing")
        document["task_groups"][0]["tasks"].append({"name": "bad", "config": {"command": "exit 3"}})
        job_id = simple.ok("POST", "/jobs", document)["job_id"]
        view = simple.job_when(job_id, lambda view: "failed" in statuses(view))
        failed = view["allocations"][0]
        assert failed["tasks"]["bad"]["status"] == "failed"
        node.wait_for("deleted", lambda event: event["id"] == failed["allocation_id"])
        simple.job_when(job_id, lambda view: len(view["allocations"]) > 1)
