"""Tenants see what is theirs, whatever way they look."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.api.asgi import a_scope
from tests.api.guarded import JOB, OTHER, TEAM, Guarded, guarded, owned
from tests.state.builders import a_job
from yurt.api.acl_rules import read_rules
from yurt.api.v1.job_plan import plan_view
from yurt.model.acl.permissions import Permissions
from yurt.model.plan_annotations import PlanAnnotations
from yurt.model.wire import AllocID
from yurt.scheduler.dry_run import DryRun
from yurt.state import acl_entries, entries

READER = f'namespace "{TEAM}" {{ policy = "read" }}'
# Everything that only the other team may know, as it would appear in an answer.
FOREIGN = tuple(getattr(owned(OTHER), name) for name in owned(OTHER).__struct_fields__)


def _namespaces(rows: list[dict[str, Any]]) -> set[str]:
    return {row["Namespace"] for row in rows}


@pytest.mark.parametrize(
    "path",
    [
        "/v1/jobs",
        "/v1/allocations",
        "/v1/evaluations",
        "/v1/deployments",
        "/v1/services",
        "/v1/service/front",
        "/v1/jobs/statuses",
    ],
)
async def test_lists_of_all_namespaces_show_only_permitted_ones(path: str) -> None:
    api = await guarded()
    everything = (await api.ask(api.root, "GET", f"{path}?namespace=*")).json
    assert _namespaces(everything) == {TEAM, OTHER}
    own = (await api.ask(await api.token(READER), "GET", f"{path}?namespace=*")).json
    assert _namespaces(own) == {TEAM}


async def test_counts_do_not_count_what_is_hidden() -> None:
    api = await guarded()
    path = "/v1/evaluations/count?namespace=*"
    assert (await api.ask(api.root, "GET", path)).json["Count"] == 2
    assert (await api.ask(await api.token(READER), "GET", path)).json["Count"] == 1


async def test_scaling_policies_of_others_are_hidden() -> None:
    api = await guarded()
    secret = await api.token(READER)
    listed = (await api.ask(secret, "GET", "/v1/scaling/policies?namespace=*")).json
    assert [one["ID"] for one in listed] == [owned(TEAM).policy]
    # The namespace of the query is not the policy's own.
    path = f"/v1/scaling/policy/{owned(OTHER).policy}?namespace={TEAM}"
    assert (await api.ask(secret, "GET", path)).status == 403


async def test_namespaces_and_node_pools_are_listed_by_permission() -> None:
    api = await guarded()
    secret = await api.token(f'{READER}\nnode_pool "gpu" {{ policy = "read" }}')
    assert [one["Name"] for one in (await api.ask(secret, "GET", "/v1/namespaces")).json] == [TEAM]
    assert [one["Name"] for one in (await api.ask(secret, "GET", "/v1/node/pools")).json] == ["gpu"]


async def test_a_nodes_allocations_are_shown_by_namespace() -> None:
    api = await guarded()
    secret = await api.token(f'{READER}\nnode {{ policy = "read" }}')
    (node,) = (await api.ask(secret, "GET", "/v1/nodes")).json
    allocs = (await api.ask(secret, "GET", f"/v1/node/{node['ID']}/allocations")).json
    assert [alloc["ID"] for alloc in allocs] == [owned(TEAM).alloc]


async def test_no_answer_about_nodes_has_their_secret() -> None:
    api = await guarded()
    (node,) = (await api.ask(api.root, "GET", "/v1/nodes")).json
    whole = await api.ask(api.root, "GET", f"/v1/node/{node['ID']}")
    assert whole.json["SecretID"] == ""
    assert "secret-1" not in whole.text


@pytest.mark.parametrize("namespace", [TEAM, OTHER, "*"])
@pytest.mark.parametrize(
    "context", ["all", "allocs", "evals", "deployment", "jobs", "scaling_policy", "namespaces"]
)
async def test_searches_find_nothing_of_others(namespace: str, context: str) -> None:
    api = await guarded()
    secret = await api.token(READER)
    for path, body in (
        ("/v1/search", {"Prefix": "", "Context": context}),
        ("/v1/search", {"Prefix": "bbbb", "Context": context}),
        ("/v1/search/fuzzy", {"Text": "bb", "Context": context}),
        ("/v1/search/fuzzy", {"Text": "we", "Context": context}),
        ("/v1/search/fuzzy", {"Text": "other", "Context": context}),
    ):
        reply = await api.ask(secret, "PUT", f"{path}?namespace={namespace}", body)
        assert reply.status in (200, 403)
        assert not any(foreign in reply.text for foreign in (*FOREIGN, f'"{OTHER}"')), (path, body)


async def test_a_search_in_one_forbidden_context_is_refused() -> None:
    api = await guarded()
    secret = await api.token(READER)
    reply = await api.ask(secret, "PUT", f"/v1/search?namespace={TEAM}", {"Prefix": "", "Context": "nodes"})
    assert (reply.status, reply.text) == (403, "Permission denied")
    reply = await api.ask(secret, "PUT", f"/v1/search?namespace={TEAM}", {"Prefix": "", "Context": "all"})
    assert "nodes" not in reply.json["Matches"]


async def _next_line(sent: asyncio.Queue[dict[str, Any]]) -> bytes:
    async with asyncio.timeout(10):
        message = await sent.get()
        while message["type"] != "http.response.body":
            message = await sent.get()
    body: bytes = message.get("body", b"")
    return body


def _stream(api: Guarded, secret: str, path: str) -> tuple[asyncio.Queue[dict[str, Any]], asyncio.Task[None]]:
    sent: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    async def receive() -> dict[str, Any]:
        await asyncio.Event().wait()
        raise AssertionError("nothing more is sent")

    scope = a_scope("GET", path, {"X-Nomad-Token": secret})
    task = asyncio.ensure_future(api._app(scope, receive, sent.put))  # type: ignore[arg-type] # a plain dict is a message
    return sent, task


async def _change_job(api: Guarded, namespace: str, priority: int) -> None:
    job = a_job(JOB, namespace=namespace, priority=priority)
    await api.propose(entries.RegisterJob(at=1, job=job))


async def test_events_of_others_are_not_told() -> None:
    api = await guarded()
    secret = await api.token(READER)
    sent, task = _stream(api, secret, "/v1/event/stream?topic=Job&namespace=*")
    assert await _next_line(sent) == b"{}\n"
    await _change_job(api, OTHER, 70)
    await _change_job(api, TEAM, 60)
    batch = json.loads(await _next_line(sent))
    assert {event["Namespace"] for event in batch["Events"]} == {TEAM}
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_events_about_tokens_hold_no_secret() -> None:
    api = await guarded()
    index = api.server.state.index + 1
    sent, task = _stream(api, api.root, f"/v1/event/stream?topic=ACLToken&topic=ACLPolicy&index={index}")
    assert await _next_line(sent) == b"{}\n"
    secret = await api.token('node { policy = "read" }')
    # A stream from a moment that is still to come begins with what came before it.
    await _next_line(sent)
    policy, token = [json.loads(await _next_line(sent)) for _ in range(2)]
    assert (policy["Events"][0]["Topic"], policy["Events"][0]["Type"]) == ("ACLPolicy", "ACLPolicyUpserted")
    assert token["Events"][0]["Payload"]["ACLToken"]["SecretID"] == ""
    assert secret not in json.dumps(token)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@pytest.mark.parametrize("loss", ["token deleted", "policy changed"])
async def test_a_stream_ends_with_the_right_to_it(loss: str) -> None:
    api = await guarded()
    secret = await api.token(READER)
    sent, task = _stream(api, secret, f"/v1/event/stream?topic=Job&namespace={TEAM}")
    assert await _next_line(sent) == b"{}\n"
    acl = api.server.state.acl
    token = next(one for one in acl.tokens if one.secret_id == secret)
    if loss == "token deleted":
        await api.propose(acl_entries.DeleteAclTokens(at=1, accessor_ids=(token.accessor_id,)))
    else:
        await api.propose(acl_entries.DeleteAclPolicies(at=1, names=token.policies or ()))
    await _change_job(api, TEAM, 60)
    async with asyncio.timeout(10):
        await task
    rest = [sent.get_nowait() for _ in range(sent.qsize())]
    assert not any(b"Events" in message.get("body", b"") for message in rest)


@pytest.mark.parametrize(
    ("before", "after", "status"),
    [
        pytest.param(READER, f'namespace "{OTHER}" {{ policy = "read" }}', 403, id="permission lost"),
        pytest.param('namespace "*" { policy = "read" }', READER, 200, id="permission narrowed"),
    ],
)
async def test_a_read_that_waited_answers_by_the_permissions_of_then(
    before: str, after: str, status: int
) -> None:
    api = await guarded()
    secret = await api.token(before)
    listed = await api.ask(secret, "GET", f"/v1/jobs?namespace={'*' if status == 200 else TEAM}")
    index = listed.headers["x-nomad-index"]
    sent, task = _stream(
        api, secret, f"/v1/jobs?namespace={'*' if status == 200 else TEAM}&index={index}&wait=60s"
    )
    await asyncio.sleep(0)
    acl = api.server.state.acl
    (name,) = next(one.policies for one in acl.tokens if one.secret_id == secret) or ()
    await api.token(after)  # made first, so that the rules are read
    fresh = next(policy for policy in acl.policies if policy.rules == after)
    await api.propose(
        acl_entries.UpsertAclPolicies(at=1, policies=(type(fresh)(name=name, parsed=fresh.parsed),))
    )
    await _change_job(api, OTHER, 70)
    await _change_job(api, TEAM, 60)
    async with asyncio.timeout(10):
        await task
    messages = [sent.get_nowait() for _ in range(sent.qsize())]
    start = next(one for one in messages if one["type"] == "http.response.start")
    assert start["status"] == status
    body = b"".join(one.get("body", b"") for one in messages)
    if status == 200:
        assert _namespaces(json.loads(body)) == {TEAM}


async def test_templates_of_others_can_be_neither_seen_nor_changed_nor_used() -> None:
    api = await guarded()
    task = {"name": "t", "config": {"command": "sleep 9"}}
    template = {"name": "base", "task_groups": [{"name": "g", "tasks": [task]}]}
    made = await api.ask_simply(api.root, "POST", f"/templates?namespace={OTHER}", template)
    template_id = made.json["template_id"]
    secret = await api.token(f'namespace "{TEAM}" {{ policy = "write" }}')
    own = f"namespace={TEAM}"
    assert (await api.ask_simply(secret, "GET", f"/templates?{own}")).json["count"] == 0
    before = api.server.state.index
    for method, path, body in (
        ("GET", f"/templates/{template_id}?{own}", None),
        ("PUT", f"/templates/{template_id}?{own}", {"name": "mine"}),
        ("DELETE", f"/templates/{template_id}?{own}", None),
        ("POST", f"/jobs?{own}", {"name": "j", "template_id": template_id}),
    ):
        assert (await api.ask_simply(secret, method, path, body)).status == 404, (method, path)
        foreign = path.replace(own, f"namespace={OTHER}")
        assert (await api.ask_simply(secret, method, foreign, body)).status == 403, (method, foreign)
    assert api.server.state.index == before


async def test_plans_name_no_displaced_work_of_others() -> None:
    api = await guarded()
    run = DryRun(
        annotations=PlanAnnotations(),
        job_modify_index=1,
        preempted=(AllocID(owned(TEAM).alloc), AllocID(owned(OTHER).alloc)),
    )
    reader = Permissions((read_rules(READER),))
    shown = plan_view(api.server.state, run, warnings="", permissions=reader).annotations
    assert shown is not None
    assert [alloc.id for alloc in shown.preempted_allocs or ()] == [owned(TEAM).alloc]
