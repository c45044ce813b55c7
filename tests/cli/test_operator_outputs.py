"""Commands about variables, access control, namespaces, services and the cluster print what was recorded."""

import base64
import hashlib
import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command_line import CommandLine, same
from tests.cli.transcripts import at, read_transcript
from tests.sdk.replay_server import Reply

NS = 1_000_000_000


def a_variable(
    path: str, items: dict[str, str], *, index: int, created: int, modified: int
) -> dict[str, Any]:
    return {
        "Namespace": "default",
        "Path": path,
        "CreateIndex": 1069,
        "ModifyIndex": index,
        "CreateTime": created,
        "ModifyTime": modified,
        "Items": items,
        "Lock": None,
    }


ONE = a_variable(
    "app/one", {"user": "bob"}, index=1071, created=1794733626004610224, modified=1794733626229954448
)


def test_variables_are_read(yurt: CommandLine) -> None:
    server = yurt.server
    server.on("GET", "/v1/var/app/one", ONE)
    server.on("GET", "/v1/var/app/none", Reply(b"variable not found", 404))
    transcript = read_transcript("var")
    for step in transcript.steps:
        if step.command.startswith("yurt var get") and "app/two" not in step.command:
            same(yurt, step)


def test_variables_are_written(yurt: CommandLine) -> None:
    server = yurt.server
    transcript = read_transcript("var")
    created = 1794733626004610224
    first = {**ONE, "ModifyIndex": 1069, "ModifyTime": created, "Items": {"user": "ann", "pass": "x"}}
    server.on("PUT", "/v1/var/app/one", first)
    same(yurt, transcript.step("yurt var put app/one user=ann pass=x"))
    assert server.requests[-2].query == {"cas": "0"}
    assert server.requests[-2].json()["Items"] == {"user": "ann", "pass": "x"}
    server.on("PUT", "/v1/var/app/one", Reply(json.dumps(first).encode(), 409))
    same(yurt, transcript.step("yurt var put app/one user=bob"))
    server.on("PUT", "/v1/var/app/one", ONE)
    same(yurt, transcript.step("yurt var put -force app/one user=bob"))
    assert server.requests[-2].query == {}
    two = a_variable("app/two", {"k": "from stdin"}, index=1072, created=NS, modified=NS)
    server.on("PUT", "/v1/var/app/two", two)
    same(yurt, transcript.step("yurt var put -out none app/two k=-"))
    assert server.requests[-2].json()["Items"] == {"k": "from stdin"}
    four_time = 1794733629610804680
    four = a_variable("app/four", {"a.b": "c"}, index=1074, created=four_time, modified=four_time)
    server.on("PUT", "/v1/var/app/four", {**four, "CreateIndex": 1074})
    same(yurt, transcript.step("yurt var put app/four a.b=c"))
    same(yurt, transcript.step("yurt var put"))
    same(yurt, transcript.step("yurt var put app/five"))


def test_variable_values_come_from_files(yurt: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("s3cret")
    spec = {"Path": "app/one", "ModifyIndex": 7, "Items": {"old": "1", "gone": "2"}}
    (tmp_path / "spec.json").write_text(json.dumps(spec))
    yurt.server.on("PUT", "/v1/var/app/one", ONE)
    yurt(rf"yurt var put @{tmp_path}/spec.json key=@{tmp_path}/secret gone= at='\@home'")
    sent = yurt.server.requests[0]
    assert sent.query == {"cas": "7"}
    assert sent.json()["Items"] == {"old": "1", "key": "s3cret", "at": "@home"}
    yurt.server.on("PUT", "/v1/var/app/copy", ONE)
    yurt(f"yurt var put app/copy {tmp_path}/spec.json")
    assert yurt.server.requests[-2].query == {"cas": "0"}


def test_variables_are_listed(yurt: CommandLine) -> None:
    transcript = read_transcript("var")
    step = transcript.step("yurt var list", occurrence=1)
    records = [{**record, "Lock": None} for record in json.loads(step.stdout)]
    server = yurt.server
    server.on("GET", "/v1/vars", records)
    server.on("GET", "/v1/vars?prefix=zzz", [])
    server.on(
        "GET", "/v1/vars?per_page=1", Reply(records[:1], headers={"X-Nomad-NextToken": "default.app/one"})
    )
    same(yurt, step)
    for command in (
        "yurt var list -out table",
        "yurt var list -out terse app",
        "yurt var list -out table zzz",
        "yurt var list -out table -per-page 1",
    ):
        same(yurt, transcript.step(command))
    server.on("GET", "/v1/vars", [])
    same(yurt, transcript.step("yurt var list"))


def test_variables_are_purged(yurt: CommandLine) -> None:
    transcript = read_transcript("var")
    yurt.server.on("DELETE", "/v1/var/app/two", Reply(b"", 204))
    same(yurt, transcript.step("yurt var purge app/two"))
    yurt.server.on("DELETE", "/v1/var/app/one", Reply(json.dumps(ONE).encode(), 409))
    same(yurt, transcript.step("yurt var purge -check-index 1 app/one"))


TOKEN = {
    "AccessorID": "06ab4745-2818-7a0a-2f48-1e61adbe2337",
    "SecretID": "26e31190-1b56-5131-4026-97653db7c4a6",
    "Name": "dev",
    "Type": "client",
    "Policies": ["ro"],
    "Roles": None,
    "Global": False,
    "CreateTime": "2026-11-15T09:03:34.727522833Z",
    "ExpirationTime": None,
    "CreateIndex": 13,
    "ModifyIndex": 13,
}
BOOTSTRAP = {
    **TOKEN,
    "AccessorID": "76f9d107-136b-d885-2629-ffd006321ae3",
    "SecretID": "dfbb02d2-2e2d-827b-d59d-59b9dcdd3f27",
    "Name": "Bootstrap Token",
    "Type": "management",
    "Policies": None,
    "Global": True,
    "CreateTime": "2026-11-15T09:03:33.97117684Z",
    "CreateIndex": 10,
    "ModifyIndex": 10,
}
ROLE = {
    "ID": "e48e8974-5a4c-917a-5a24-dae8a6ab8c27",
    "Name": "r1",
    "Description": "",
    "Policies": [{"Name": "ro"}],
    "CreateIndex": 15,
    "ModifyIndex": 15,
}


def test_tokens_policies_and_roles(
    yurt: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    transcript = read_transcript("acl")
    for name, text in transcript.files.items():
        (tmp_path / name).write_text(text)
    rules = transcript.files["ro.policy.hcl"]
    policy = {"Name": "ro", "Description": "read only", "Rules": rules, "CreateIndex": 12, "ModifyIndex": 12}
    accessor = TOKEN["AccessorID"]
    server = yurt.server
    done = b"ACL bootstrap already done (reset index: 10)"
    server.on("PUT", "/v1/acl/bootstrap", Reply(BOOTSTRAP), Reply(done, 400))
    server.on("GET", "/v1/acl/token/self", BOOTSTRAP)
    server.on("PUT", "/v1/acl/policy/ro", b"")
    server.on("GET", "/v1/acl/policies", [policy])
    server.on("GET", "/v1/acl/policy/ro", policy)
    server.on("GET", "/v1/acl/policy/nothing", Reply(b"ACL policy not found", 404))
    server.on(
        "PUT",
        "/v1/acl/token",
        Reply(TOKEN),
        Reply(b"token 0 invalid: 1 error occurred:\n\t* client token missing policies or roles\n\n", 400),
    )
    missing = Reply(b"ACL token not found", 404)
    server.on("GET", f"/v1/acl/token/{accessor}", Reply(TOKEN), Reply(TOKEN), missing)
    server.on("GET", "/v1/acl/tokens", [BOOTSTRAP, TOKEN])
    server.on("GET", "/v1/acl/policy/self", Reply([policy]), Reply(b"null"))
    server.on("PUT", f"/v1/acl/token/{accessor}", {**TOKEN, "Name": "dev2", "ModifyIndex": 14})
    server.on("PUT", "/v1/acl/role", ROLE)
    server.on("GET", "/v1/acl/roles", [ROLE])
    server.on("GET", f"/v1/acl/role/{ROLE['ID']}", ROLE)
    server.on("PUT", f"/v1/acl/role/{ROLE['ID']}", {**ROLE, "Description": "new", "ModifyIndex": 16})
    server.on("DELETE", f"/v1/acl/role/{ROLE['ID']}", b"")
    gone = f"Cannot delete nonexistent tokens: {accessor}"
    server.on("DELETE", f"/v1/acl/token/{accessor}", Reply(b""), Reply(gone.encode(), 400))
    server.on("DELETE", "/v1/acl/policy/ro", b"")
    variables = {"A": str(accessor), "R": str(ROLE["ID"]), "S": str(TOKEN["SecretID"])}
    for step in transcript.steps:
        if " acl " in step.command:
            same(yurt, step, variables)
    written = next(request for request in server.requests if request.path == "/v1/acl/policy/ro")
    assert written.json() == {"Name": "ro", "Description": "read only", "Rules": rules}


def test_namespaces(yurt: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    transcript = read_transcript("namespace")
    for name, text in transcript.files.items():
        (tmp_path / name).write_text(text)
    inspected = json.loads(transcript.step("yurt namespace inspect team-a").stdout)
    team_b = {
        "Name": "team-b",
        "Description": "second team",
        "Capabilities": {"EnabledTaskDrivers": ["raw_exec"], "DisabledTaskDrivers": None},
        "Meta": {"owner": "bob"},
    }
    default = {"Name": "default", "Description": "Default shared namespace"}
    server = yurt.server
    server.on("GET", "/v1/namespaces", [default], [inspected, team_b, default])
    for prefix, found in (
        ("team-a", [inspected]),
        ("team-b", [team_b]),
        ("team", [inspected, team_b]),
        ("nothing", []),
    ):
        server.on("GET", f"/v1/namespaces?prefix={prefix}", found)
    server.on(
        "GET", "/v1/namespace/team-a", Reply(b"Namespace not found", 404), Reply({**inspected, "Hash": "x"})
    )
    server.on("PUT", "/v1/namespace", b"")
    server.on("DELETE", "/v1/namespace/team-a", b"")
    server.on("DELETE", "/v1/namespace/team-b", b"")
    server.on("DELETE", "/v1/namespace/nothing", Reply(b"namespace not found", 500))
    server.on("DELETE", "/v1/namespace/default", Reply(b"can not delete default namespace", 500))
    for step in transcript.steps:
        if step.command.startswith("yurt namespace"):
            same(yurt, step)
    writes = [request.json() for request in server.requests if request.method == "PUT"]
    assert writes == [
        {"Name": "team-a", "Description": "first team"},
        {
            "Name": "team-b",
            "Description": "second team",
            "Quota": "",
            "Meta": {"owner": "bob"},
            "Capabilities": {"EnabledTaskDrivers": ["raw_exec"]},
        },
    ]


def test_services(yurt: CommandLine) -> None:
    transcript = read_transcript("service")
    registration_id = "_nomad-task-543a9893-b6b3-b64d-fdba-b140eb8f6093-group-g-api-http"
    registration = {
        "ID": registration_id,
        "ServiceName": "api",
        "Namespace": "default",
        "NodeID": "156a61b8-993b-5837-08a7-3aa72ade4f92",
        "Datacenter": "dc1",
        "JobID": "api",
        "AllocID": "543a9893-b6b3-b64d-fdba-b140eb8f6093",
        "Tags": ["b", "a"],
        "Address": "127.0.0.1",
        "Port": 25702,
    }
    server = yurt.server
    listing = [{"Namespace": "default", "Services": [{"ServiceName": "api", "Tags": ["b", "a"]}]}]
    server.on("GET", "/v1/services", [], listing)
    server.on("GET", "/v1/service/api", [registration])
    missing = Reply(b"service registration not found", 500)
    server.on("DELETE", f"/v1/service/api/{registration_id}", Reply(b""), missing)
    for step in transcript.steps:
        if step.command.startswith("yurt service"):
            same(yurt, step, {"ID": registration_id})


def test_scaling_policies(yurt: CommandLine) -> None:
    transcript = read_transcript("job-status-more")
    policy = {
        "ID": "c8a9d2ff-0000-0000-0000-000000000000",
        "Enabled": True,
        "Type": "horizontal",
        "Target": {"Group": "g", "Job": "act", "Namespace": "default"},
        "Min": 1,
        "Max": 3,
        "Policy": None,
    }
    yurt.server.on("GET", "/v1/scaling/policies", [policy])
    yurt.server.on("GET", f"/v1/scaling/policy/{policy['ID']}", policy)
    same(yurt, transcript.step("yurt scaling policy list"))
    same(yurt, transcript.step("yurt scaling policy info ${P:8}"), {"P": str(policy["ID"])})


def test_cluster_tools(yurt: CommandLine) -> None:
    transcript = read_transcript("operator")
    server = yurt.server
    config = {
        "SchedulerAlgorithm": "binpack",
        "PreemptionConfig": {"SystemSchedulerEnabled": True},
        "ModifyIndex": 5,
    }
    spread = {**config, "SchedulerAlgorithm": "spread", "ModifyIndex": 14}
    path = "/v1/operator/scheduler/configuration"
    server.on("GET", path, *({"SchedulerConfig": value} for value in (config, config, spread)))
    server.on(
        "PUT",
        path,
        Reply({"Updated": True}),
        Reply(b"invalid scheduler algorithm: bogus", 400),
        Reply({"Updated": False}),
        Reply({"Updated": True}),
    )
    autopilot = {
        "CleanupDeadServers": True,
        "LastContactThreshold": "200ms",
        "MaxTrailingLogs": 250,
        "ServerStabilizationTime": "10s",
    }
    server.on("GET", "/v1/operator/autopilot/configuration", autopilot)
    server.on("PUT", "/v1/operator/autopilot/configuration", True)
    peer = {
        "ID": "b490c18b-bbea-aa22-5431-1e6884a9dc12",
        "Node": "node1.global",
        "Address": "127.0.0.1:4647 ",
        "Leader": True,
        "Voter": True,
        "RaftProtocol": "3",
    }
    server.on("GET", "/v1/operator/raft/configuration", {"Servers": [peer]})
    server.on("GET", "/v1/status/leader", "127.0.0.1:4647")
    tags = {"region": "global", "rpc_addr": "127.0.0.1", "port": "4647", "raft_vsn": "3"}
    tags |= {"build": "2.0.6-dev", "dc": "dc1"}
    member = {"Name": "node1.global", "Addr": "127.0.0.1", "Port": 4648, "Tags": tags, "Status": "alive"}
    server.on("GET", "/v1/agent/members", {"Members": [member]})
    for system in ("/v1/system/gc", "/v1/system/reconcile/summaries"):
        server.on("PUT", system, b"")
    server.on(
        "GET",
        "/v1/agent/self",
        {
            "config": {"UI": {"Enabled": True, "ShowCLIHints": True}},
            "stats": {"nomad": {"server": "true"}, "raft": {"num_peers": "0"}},
        },
    )
    for step in transcript.steps:
        if "operator raft" in step.command or "server members" in step.command:
            # The recorded ports were one digit longer than the ones shown in their place.
            result = yurt(step.command)
            assert " ".join(result.stdout.split()) == " ".join(step.stdout.split())
        elif "snapshot" not in step.command:
            at_default = step._replace(stdout=step.stdout.replace("http://127.0.0.1:4646", server.address))
            same(yurt, at_default)


def test_api_call_sends_a_body_and_shows_any_status(yurt: CommandLine) -> None:
    yurt.server.on("POST", "/v1/jobs/parse", Reply(b"bad", 400))
    result = yurt("yurt operator api -H 'X-A: b' '/v1/jobs/parse?x=1'", stdin='{"JobHCL": ""}')
    assert result == (0, "bad", "")
    sent = yurt.server.requests[0]
    assert (sent.query, sent.headers["X-A"], sent.body) == ({"x": "1"}, "b", b'{"JobHCL": ""}')
    dry = yurt("YURT_TOKEN=secret yurt operator api -dryrun -X PUT /v1/system/gc").stdout
    assert "secret" not in dry
    assert "-X PUT" in dry


def test_snapshots_are_saved_checked_and_restored(
    yurt: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    archive = _archive()
    yurt.server.on("GET", "/v1/operator/snapshot", Reply(archive, headers={"Digest": _digest(archive)}))
    yurt.server.on("PUT", "/v1/operator/snapshot", b"")
    assert yurt("yurt operator snapshot save backup.snap") == (0, "State file written to backup.snap\n", "")
    assert (tmp_path / "backup.snap").read_bytes() == archive
    again = yurt("yurt operator snapshot save backup.snap")
    assert again.exit_code == 1
    assert "already exists" in again.stderr
    shown = yurt("yurt operator snapshot inspect backup.snap").stdout
    assert "ID      = 2-11-5\nSize    = 5 B\nIndex   = 11\nTerm    = 2\nVersion = 1\n" in shown
    assert yurt("yurt operator snapshot restore backup.snap").stdout == "Snapshot Restored\n"
    assert yurt.server.requests[-1].body == archive
    yurt.server.on("GET", "/v1/operator/snapshot", Reply(archive, headers={"Digest": _digest(b"other")}))
    damaged = yurt("yurt operator snapshot save other.snap")
    assert damaged.exit_code == 1
    assert "checksum does not match" in damaged.stderr
    (tmp_path / "bad.snap").write_bytes(archive[:-40])
    assert "damaged" in yurt("yurt operator snapshot inspect bad.snap").stderr


def test_a_snapshot_lists_its_tables_by_size(
    yurt: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    meta = {
        "ID": "x",
        "Index": 1,
        "Tables": {"jobs": 1, "nodes": 2},
        "TableSizes": {"jobs": 2048, "nodes": 10},
    }
    (tmp_path / "a.snap").write_bytes(_archive(json.dumps(meta).encode()))
    lines = yurt("yurt operator snapshot inspect a.snap").stdout.splitlines()[-5:]
    assert [line.split() for line in lines] == [
        ["Type", "Count", "Size"],
        ["jobs", "1", "2.0", "KiB"],
        ["nodes", "2", "10", "B"],
        [],
        ["Total", "3", "2.0", "KiB"],
    ]


def _archive(meta: bytes = b'{"ID": "2-11-5", "Index": 11, "Term": 2, "Version": 1}') -> bytes:
    files = {"meta.json": meta, "state.bin": b"state"}
    sums = "".join(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in files.items())
    files["SHA256SUMS"] = sums.encode()
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return packed.getvalue()


def _digest(data: bytes) -> str:
    return "sha-256=" + base64.b64encode(hashlib.sha256(data).digest()).decode()


def test_example_files_are_written_once(
    yurt: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for command in (
        "yurt job init",
        "yurt job init -short short.hcl",
        "yurt var init",
        "yurt var init -out json",
        "yurt node pool init",
        "yurt volume init -type host",
        "yurt volume init -json",
    ):
        assert yurt(command).exit_code == 0, command
        assert yurt(command).exit_code == 1, command
    for name in ("example.nomad.hcl", "short.hcl"):
        assert yurt(f"yurt job validate -address http://127.0.0.1:1 {name}").exit_code == 0
    assert yurt("yurt fmt -check .").exit_code == 0


def test_certificates(yurt: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    yurt.set_time(at("2026-11-15T09:00:00Z"))
    assert yurt("yurt tls ca create -name-constraint -days 10").exit_code == 0
    assert yurt("yurt tls ca create").exit_code == 1
    assert yurt("yurt tls cert create -server -region north -additional-ipaddress 10.0.0.1").exit_code == 0
    shown = yurt("yurt tls cert info north-server-nomad.pem").stdout
    assert "Common Name    server.north.nomad\n" in shown
    assert "DNS Names      server.north.nomad, localhost\nIP Addresses   127.0.0.1, 10.0.0.1\n" in shown
    assert "Permitted DNS Domains  nomad, localhost\n" in yurt("yurt tls ca info nomad-agent-ca.pem").stdout
    assert (tmp_path / "nomad-agent-ca-key.pem").stat().st_mode & 0o777 == 0o600
    assert yurt("yurt tls cert create -server -client").exit_code == 1
