"""Yurt controls access as Nomad did: the recorded conversations with ACLs on, played in their order."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.api.recordings.acl_expected import ACL_DIFFERENCES
from tests.api.recordings.player import Player, Scenario
from tests.support.real_agent import running_agent
from yurt.agent.node_identity import ID_FILE

# They share their tokens, so each needs those before it.
IN_ORDER = (
    "acl_anonymous_before_bootstrap",
    "acl_bootstrap",
    "acl_policies",
    "acl_tokens",
    "acl_auth_methods",
    "acl_permissions_reader",
    "acl_introduction_token",
)
MANAGEMENT_SECRET = "aaaaaaaa-0000-4000-8000-000000000001"
DELETED_ACCESSOR = "dea1873c-2eea-2164-c27e-b66cb2253f88"
DELETED_SECRET = "f01f6b23-7764-931e-94be-9e47af048648"
# As when it was recorded, a search for "a" must not happen to find the node.
NODE_ID = "5c5c9a0c-8f0e-4f5a-9a39-0c1f6f1f7b11"


def _make_token_to_delete(player: Player) -> None:
    made = player.send("PUT", "/v1/acl/token", {"Type": "client", "Policies": ["reader"]})
    player.ids.bind(DELETED_ACCESSOR, made["AccessorID"])
    player.ids.bind(DELETED_SECRET, made["SecretID"])


def _run_a_job(player: Player) -> None:
    config = {"command": "/bin/sh", "args": ["-c", "exec sleep 300"]}
    task = {
        "Name": "t",
        "Driver": "raw_exec",
        "Config": config,
        "Resources": {"CPU": 50, "MemoryMB": 32},
    }
    group = {"Name": "g", "Count": 1, "Tasks": [task]}
    job = {"ID": "aj", "Name": "aj", "Type": "service", "Datacenters": ["dc1"], "TaskGroups": [group]}
    player.register(job)
    player.send("PUT", "/v1/namespace/dev-1", {"Name": "dev-1"})
    for path in ("app/x", "sec/x"):
        player.send("PUT", f"/v1/var/{path}", {"Items": {"a": "b"}})


# What happened before some steps without being recorded.
UNRECORDED: dict[tuple[str, str], Callable[[Player], None]] = {
    ("acl_tokens", "delete"): _make_token_to_delete,
    ("acl_permissions_reader", "reader GET /v1/jobs"): _run_a_job,
}


def test_access_is_controlled_as_recorded(tmp_path: Path) -> None:
    found: list[tuple[str, str]] = []
    identity = tmp_path / "data/client" / ID_FILE
    identity.parent.mkdir(parents=True)
    identity.write_text(NODE_ID)
    with running_agent(tmp_path, more_config="acl {\n  enabled = true\n}\n") as agent:
        agent.token = MANAGEMENT_SECRET
        player = Player(agent, token=MANAGEMENT_SECRET)
        for name in IN_ORDER:
            player.scenario = Scenario(name)
            for step in player.scenario.steps:
                before = UNRECORDED.get((name, step["step"]))
                if before is not None:
                    before(player)
                found += [(name, one) for one in player.play(step)]
    meant = tuple(ACL_DIFFERENCES)
    unexpected = [
        f"{name}: {one}"
        for name, one in found
        if not any(name == where and one.startswith(start) for where, start in meant)
    ]
    assert not unexpected, "\n".join(unexpected)
    gone = [
        (where, start)
        for where, start in meant
        if not any(name == where and one.startswith(start) for name, one in found)
    ]
    assert not gone, f"these differences are gone, take them off their list: {gone}"
