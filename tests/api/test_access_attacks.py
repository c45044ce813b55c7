"""Ways to get more than was granted, each of which must fail."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.api.asgi import request
from tests.api.guarded import JOB, OTHER, POOL, TEAM, Guarded, guarded, owned
from yurt.api.v1.acl_policies import RESET_FILE
from yurt.clock import SystemClock
from yurt.model.acl.auth_method import AuthMethod, AuthMethodConfig
from yurt.model.acl.token import MANAGEMENT
from yurt.model.times import HOUR_NS
from yurt.server.server import Server
from yurt.server.settings import AclSettings, ServerSettings
from yurt.state import acl_entries

# As much as a policy can grant without management.
POWERFUL = "\n".join(
    (
        'namespace "*" {\n policy = "write"\n capabilities = ["alloc-node-exec", "sentinel-override"]\n'
        ' variables { path "*" { capabilities = ["write", "read", "destroy"] } }\n}',
        'node_pool "*" { policy = "write" }',
        'host_volume "*" { policy = "write" }',
        *(f'{area} {{ policy = "write" }}' for area in ("agent", "node", "operator", "quota", "plugin")),
    )
)
DENIED = (403, "Permission denied")


async def _answer(api: Guarded, secret: str, method: str, path: str, body: Any = None) -> tuple[int, str]:
    reply = await api.ask(secret, method, path, body)
    return reply.status, reply.text


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", "/v1/acl/token", {"Type": "management"}),
        ("PUT", "/v1/acl/token", {"Type": "client", "Policies": ["any"]}),
        ("PUT", "/v1/acl/policy/any", {"Name": "any", "Rules": 'namespace "*" { policy = "write" }'}),
        ("PUT", "/v1/acl/policy/anonymous", {"Name": "anonymous", "Rules": 'node { policy = "write" }'}),
        ("PUT", "/v1/acl/role", {"Name": "r", "Policies": [{"Name": "any"}]}),
        ("PUT", "/v1/acl/auth-method", {"Name": "mine", "Type": "JWT"}),
        ("PUT", "/v1/acl/binding-rule", {"AuthMethod": "mine", "BindType": "management"}),
        ("DELETE", "/v1/acl/policy/any", None),
        ("GET", "/v1/acl/tokens", None),
        ("GET", "/v1/acl/auth-method/mine", None),
        ("PUT", "/v1/operator/snapshot", {}),
        ("PUT", "/v1/namespace/new", {"Name": "new"}),
    ],
)
async def test_no_policy_lets_its_holder_grant(method: str, path: str, body: Any) -> None:
    api = await guarded()
    secret = await api.token(POWERFUL)
    before = api.server.state.index
    assert await _answer(api, secret, method, path, body) == DENIED
    assert api.server.state.index == before


async def test_a_token_cannot_change_itself_or_read_another() -> None:
    api = await guarded()
    secret = await api.token(POWERFUL)
    acl = api.server.state.acl
    own = next(one.accessor_id for one in acl.tokens if one.secret_id == secret)
    root = next(one.accessor_id for one in acl.tokens if one.type == MANAGEMENT)
    assert (await api.ask(secret, "GET", f"/v1/acl/token/{own}")).json["SecretID"] == secret
    for accessor, body in ((own, {"AccessorID": own, "Type": "management"}), (root, {"AccessorID": root})):
        assert await _answer(api, secret, "PUT", f"/v1/acl/token/{accessor}", body) == DENIED
        assert await _answer(api, secret, "DELETE", f"/v1/acl/token/{accessor}") == DENIED
    assert await _answer(api, secret, "GET", f"/v1/acl/token/{root}") == DENIED


async def test_an_accessor_is_no_secret() -> None:
    api = await guarded()
    root = next(one for one in api.server.state.acl.tokens if one.type == MANAGEMENT)
    assert await _answer(api, root.accessor_id, "GET", "/v1/jobs") == DENIED


async def test_the_cluster_is_bootstrapped_once() -> None:
    api = await guarded()
    first = await api.ask("", "PUT", "/v1/acl/bootstrap")
    assert first.json["Type"] == "management"
    before = api.server.state.index
    own = {"BootstrapSecret": api.server.context.new_secret()}
    again = await api.ask("", "PUT", "/v1/acl/bootstrap", own)
    assert again.status == 400
    assert api.server.state.index == before, "nobody can fill the log with it"
    assert again.text.startswith("ACL bootstrap already done (reset index: ")


@pytest.mark.parametrize("secret", ["zz", "0" * 36, "x" * 100_000, "\x00", "'; DROP TABLE tokens; --"])
async def test_secrets_of_ones_own_must_be_uuids(secret: str) -> None:
    api = await guarded()
    reply = await api.ask("", "PUT", "/v1/acl/bootstrap", {"BootstrapSecret": secret})
    assert (reply.status, reply.text) == (400, "invalid acl token")


async def test_a_one_time_secret_works_once_and_for_its_own_token_only() -> None:
    api = await guarded()
    secret = await api.token(POWERFUL)
    made = (await api.ask(secret, "PUT", "/v1/acl/token/onetime")).json["OneTimeToken"]
    exchange = {"OneTimeSecretID": made["OneTimeSecretID"]}
    assert await _answer(api, made["OneTimeSecretID"], "GET", "/v1/jobs") == DENIED
    got = (await api.ask("", "PUT", "/v1/acl/token/onetime/exchange", exchange)).json["Token"]
    assert got["SecretID"] == secret
    assert await _answer(api, "", "PUT", "/v1/acl/token/onetime/exchange", exchange) == DENIED
    unknown = {"OneTimeSecretID": api.server.context.new_secret()}
    assert await _answer(api, "", "PUT", "/v1/acl/token/onetime/exchange", unknown) == DENIED


async def test_nobody_gets_a_one_time_secret_without_a_token() -> None:
    api = await guarded()
    reply = await api.ask("", "PUT", "/v1/acl/token/onetime")
    assert (reply.status, reply.text) == (500, "acl token lookup failed: missing secret id")


@pytest.mark.parametrize("job", [{"Namespace": OTHER}, {"Namespace": TEAM}, {}])
@pytest.mark.parametrize("envelope", [{"Namespace": OTHER}, {}])
@pytest.mark.parametrize("query", ["", f"?namespace={OTHER}"])
@pytest.mark.parametrize("path", ["/v1/jobs", f"/v1/job/{JOB}", f"/v1/job/{JOB}/plan"])
async def test_a_job_lands_where_it_was_checked_for(
    path: str, query: str, envelope: dict[str, str], job: dict[str, str]
) -> None:
    api = await guarded()
    secret = await api.token(f'namespace "{TEAM}" {{ policy = "write" }}')
    task = {"Name": "t", "Driver": "raw_exec", "Config": {"command": "/bin/true"}}
    whole = {"ID": JOB, "TaskGroups": [{"Name": "g", "Tasks": [task]}], "Priority": 71, **job}
    reply = await api.ask(secret, "PUT", f"{path}{query}", {"Job": whole, **envelope})
    is_own = not query and not envelope and job.get("Namespace") == TEAM
    assert reply.status == (200 if is_own else 403), reply.text
    changed = {one.namespace for one in api.server.state.jobs if one.priority == 71}
    assert changed == ({TEAM} if is_own and "plan" not in path else set())


@pytest.mark.parametrize(
    ("rule", "read_only", "status"),
    [
        ('host_volume "data" { policy = "write" }', False, 200),
        ('host_volume "data" { policy = "write" }', True, 200),
        ('host_volume "data" { policy = "read" }', True, 200),
        ('host_volume "data" { policy = "read" }', False, 403),
        ('host_volume "other" { policy = "write" }', True, 403),
        ("", True, 403),
    ],
)
async def test_host_volumes_are_mounted_by_those_who_may(rule: str, read_only: bool, status: int) -> None:
    api = await guarded()
    secret = await api.token(f'namespace "{TEAM}" {{ policy = "write" }}\n{rule}')
    task = {"Name": "t", "Driver": "raw_exec", "Config": {"command": "/bin/true"}}
    volume = {"Name": "v", "Type": "host", "Source": "data", "ReadOnly": read_only}
    group = {"Name": "g", "Tasks": [task], "Volumes": {"v": volume}}
    job = {"ID": "mounts", "Namespace": TEAM, "TaskGroups": [group]}
    before = api.server.state.index
    assert (await api.ask(secret, "PUT", "/v1/job/mounts/plan", {"Job": job})).status == status
    assert (await api.ask(secret, "PUT", "/v1/jobs", {"Job": job, "PolicyOverride": True})).status == status
    assert (api.server.state.index > before) is (status == 200)


@pytest.mark.parametrize("case", [str.upper, str.lower])
@pytest.mark.parametrize(
    "path",
    [
        f"/v1/evaluation/{owned(OTHER).eval}",
        f"/v1/evaluation/{owned(OTHER).eval}/allocations",
        f"/v1/evaluation/{owned(OTHER).eval}/placements",
        f"/v1/deployment/{owned(OTHER).deployment}",
        f"/v1/deployment/allocations/{owned(OTHER).deployment}",
        f"/v1/allocation/{owned(OTHER).alloc}/services",
        f"/v1/allocation/{owned(OTHER).alloc}/checks",
        f"/v1/client/allocation/{owned(OTHER).alloc}/stats",
        f"/v1/client/fs/ls/{owned(OTHER).alloc}",
        f"/v1/client/fs/logs/{owned(OTHER).alloc}",
    ],
)
async def test_ids_in_either_case_belong_to_their_namespace(path: str, case: Any) -> None:
    api = await guarded()
    secret = await api.token(f'namespace "{TEAM}" {{ policy = "write" }}\nnode {{ policy = "write" }}')
    head, _, foreign = path.rpartition("bbbbbbbb")
    identifier = "bbbbbbbb" + foreign[:28]
    url = f"{head}{case(identifier)}{foreign[28:]}?namespace={TEAM}"
    assert await _answer(api, secret, "GET", url) == DENIED


async def test_an_allocation_of_others_is_unknown() -> None:
    api = await guarded()
    secret = await api.token(f'namespace "{TEAM}" {{ policy = "write" }}')
    reply = await api.ask(secret, "GET", f"/v1/allocation/{owned(OTHER).alloc}?namespace={TEAM}")
    assert (reply.status, reply.text) == (500, f'Unknown allocation "{owned(OTHER).alloc}"')
    assert JOB not in reply.text


async def test_a_star_is_no_namespace_to_write_to() -> None:
    api = await guarded()
    secret = await api.token(f'namespace "{TEAM}" {{ policy = "write" }}')
    for method, path, body in (
        ("DELETE", f"/v1/job/{JOB}?namespace=*", None),
        ("PUT", f"/v1/job/{JOB}/evaluate?namespace=*", None),
        ("PUT", f"/v1/job/{JOB}/scale?namespace=*", {"Count": 1, "Target": {"Group": "g"}}),
        ("DELETE", f"/v1/service/front/{owned(OTHER).service}?namespace=*", None),
        ("GET", f"/v1/job/{JOB}?namespace=*", None),
        ("GET", f"/v1/job/{JOB}/allocations?namespace=*", None),
    ):
        assert await _answer(api, secret, method, path, body) == DENIED, path


async def test_the_last_namespace_of_a_query_does_not_count_either() -> None:
    api = await guarded()
    secret = await api.token(f'namespace "{TEAM}" {{ policy = "read" }}')
    url = f"/v1/jobs?namespace={OTHER}&namespace={TEAM}"
    assert await _answer(api, secret, "GET", url) == DENIED
    rows = (await api.ask(secret, "GET", f"/v1/jobs?namespace={TEAM}&namespace={OTHER}")).json
    assert {row["Namespace"] for row in rows} == {TEAM}


async def test_purging_takes_the_right_to_purge() -> None:
    api = await guarded()
    secret = await api.token(f'namespace "{TEAM}" {{ capabilities = ["deregister-job"] }}')
    for value in ("true", "1", "T", "maybe", "%20true"):
        assert await _answer(api, secret, "DELETE", f"/v1/job/{JOB}?namespace={TEAM}&purge={value}") == DENIED
    assert (await api.ask(secret, "DELETE", f"/v1/job/{JOB}?namespace={TEAM}&purge=false")).status == 200


async def test_a_node_pool_in_the_body_is_the_one_that_is_checked() -> None:
    api = await guarded()
    secret = await api.token('node_pool "mine" { policy = "write" }')
    assert await _answer(api, secret, "PUT", "/v1/node/pools", {"Name": POOL, "Description": "x"}) == DENIED
    assert await _answer(api, secret, "PUT", "/v1/node/pool/mine", {"Name": POOL}) == DENIED
    assert (await api.ask(secret, "PUT", "/v1/node/pools", {"Name": "mine"})).status == 200


async def test_no_answer_shows_the_secret_of_an_auth_method() -> None:
    api = await guarded()
    config = AuthMethodConfig(oidc_client_secret="hush", oidc_discovery_url="https://x", oidc_client_id="c")
    method = AuthMethod(name="m", type="OIDC", token_locality="local", max_token_ttl=HOUR_NS, config=config)
    await api.propose(acl_entries.UpsertAuthMethods(at=1, methods=(method,)))
    shown = await api.ask(api.root, "GET", "/v1/acl/auth-method/m")
    assert shown.json["Config"]["OIDCClientSecret"] == "redacted"
    # Who sends back what was shown means it to stay.
    await api.ask(api.root, "PUT", "/v1/acl/auth-method/m", shown.json)
    stored = api.server.state.acl.auth_methods["m"].config
    assert stored is not None
    assert stored.oidc_client_secret == "hush"


@pytest.mark.parametrize(
    "header",
    [
        {"Authorization": "Basic eDp5"},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer garbage"},
        {"X-Nomad-Token": "  "},
        {"X-Nomad-Token": "ä" * 36},
    ],
)
async def test_headers_that_are_no_token_open_nothing(header: dict[str, str]) -> None:
    api = await guarded()
    reply = await request(api._app, "GET", "/v1/jobs", headers=header)
    assert (reply.status, reply.text) == DENIED


async def test_a_bearer_token_counts_like_the_other_header() -> None:
    api = await guarded()
    header = {"authorization": f"bEaReR  {api.root} and more"}
    assert (await request(api._app, "GET", "/v1/jobs", headers=header)).status == 200


async def test_bootstrapping_anew_takes_the_servers_disk(tmp_path: Path) -> None:
    settings = ServerSettings(name="s", data_dir=tmp_path, acl=AclSettings(is_enabled=True))
    api = Guarded(await Server.open(settings, SystemClock(), Random(1)))
    try:
        first = await api.ask("", "PUT", "/v1/acl/bootstrap")
        index = first.json["CreateIndex"]
        (tmp_path / RESET_FILE).write_text(str(index + 1))
        wrong = await api.ask("", "PUT", "/v1/acl/bootstrap")
        assert wrong.text == f"Invalid bootstrap reset index (specified {index + 1}, reset index: {index})"
        (tmp_path / RESET_FILE).write_text(f"{index}\n")
        second = await api.ask("", "PUT", "/v1/acl/bootstrap")
        assert second.json["SecretID"] != first.json["SecretID"]
        # The file was for the bootstrap before, so it does not work twice.
        third = await api.ask("", "PUT", "/v1/acl/bootstrap")
        assert third.status == 400
    finally:
        await api.server.close()


@pytest.mark.parametrize(
    "ids",
    [
        {"AccessorID": "x", "SecretID": "y"},
        {"SecretID": "11111111-0000-4000-8000-000000000001"},
        {"AccessorID": "11111111-0000-4000-8000-000000000001"},
        {
            "AccessorID": "11111111-0000-4000-8000-000000000001",
            "SecretID": "11111111-0000-4000-8000-000000000001",
        },
        {"AccessorID": "11111111-0000-4000-8000-000000000001", "SecretID": "of the root token"},
    ],
)
async def test_ids_of_ones_own_are_uuids_that_nobody_has(ids: dict[str, str]) -> None:
    api = await guarded()
    if ids.get("SecretID") == "of the root token":
        ids = {**ids, "SecretID": api.root}
    body = {"Type": "client", "Policies": ["p"], **ids}
    assert (await api.ask(api.root, "PUT", "/v1/acl/token", body)).status == 400
