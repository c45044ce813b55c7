"""Whom a token stands for, and for how long."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from tests.state.builders import Cluster, a_job, a_node
from yurt.log.memory import MemoryLog
from yurt.model.acl.caller import ANONYMOUS, IdentityClaims
from yurt.model.acl.permissions import EVERYTHING
from yurt.model.acl.policy import AclPolicy, AclRole, JobAcl
from yurt.model.acl.rules import NamespaceRule, Rules
from yurt.model.acl.token import MANAGEMENT, AclToken
from yurt.model.times import MINUTE_NS
from yurt.server.auth import CALLERS_MAX, Authority, TokenExpired, TokenRefused, own_variables
from yurt.server.committer import Committer
from yurt.server.context import ServerContext
from yurt.state import acl_entries, entries
from yurt.state.snapshot import dump, load
from yurt.state.state import State

SECRET = "11111111-0000-4000-8000-000000000001"
ACCESSOR = "22222222-0000-4000-8000-000000000001"


class _Clock:
    """Time that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1_000 * MINUTE_NS

    def now_ns(self) -> int:
        return self.now

    def monotonic(self) -> float:
        return self.now / 1e9

    async def sleep(self, seconds: float) -> None:
        raise AssertionError("nothing here waits")


class _World:
    """A server's State, and who knows the callers of its API."""

    def __init__(self) -> None:
        self.clock = _Clock()
        self.committer = Committer(State(), MemoryLog())
        context = ServerContext(self.committer, self.clock, Random(1), region="global")
        self.claims: dict[str, IdentityClaims] = {}
        self.authority = Authority(
            context, is_enabled=True, verify_identity=lambda token, _now: self.claims.get(token)
        )

    async def apply(self, *more: entries.Entry) -> None:
        await self.committer.propose(*more)

    async def put_policy(self, name: str, capability: str, **more: Any) -> None:
        rules = Rules(namespaces=(NamespaceRule(name="team", capabilities=(capability,)),))
        policy = AclPolicy(name=name, parsed=rules, **more)
        await self.apply(acl_entries.UpsertAclPolicies(at=1, policies=(policy,)))

    async def put_token(self, **members: Any) -> AclToken:
        token = AclToken(**{"accessor_id": ACCESSOR, "secret_id": SECRET, "policies": ("reader",), **members})
        await self.apply(acl_entries.UpsertAclTokens(at=1, tokens=(token,)))
        return token

    def may(self, capability: str, secret: str = SECRET) -> bool:
        return self.authority.caller(secret).permissions.allows("team", capability)


async def test_a_token_grants_what_its_policies_and_roles_do() -> None:
    world = _World()
    await world.put_policy("reader", "read-job")
    await world.put_policy("writer", "submit-job")
    role = AclRole(id="r", name="writers", policies=("writer", "gone"))
    await world.apply(acl_entries.UpsertAclRoles(at=1, roles=(role,)))
    await world.put_token(roles=("r", "no-such-role"))
    assert world.may("read-job")
    assert world.may("submit-job")
    assert not world.may("alloc-exec")


async def test_management_tokens_grant_everything() -> None:
    world = _World()
    await world.put_token(type=MANAGEMENT, policies=None)
    assert world.authority.caller(SECRET).permissions is EVERYTHING


async def test_changes_count_at_once() -> None:
    world = _World()
    await world.put_token()
    assert not world.may("read-job"), "the policy does not exist yet"
    await world.put_policy("reader", "read-job")
    assert world.may("read-job")
    await world.put_policy("reader", "list-jobs")
    assert not world.may("read-job")
    await world.apply(acl_entries.DeleteAclPolicies(at=1, names=("reader",)))
    assert not world.may("list-jobs")
    await world.apply(acl_entries.DeleteAclTokens(at=1, accessor_ids=(ACCESSOR,)))
    with pytest.raises(TokenRefused):
        world.authority.caller(SECRET)


async def test_permissions_stay_the_same_object_while_they_stay_the_same() -> None:
    world = _World()
    await world.put_policy("reader", "read-job")
    await world.put_token()
    before = world.authority.caller(SECRET).permissions
    await world.put_policy("unrelated", "submit-job")
    assert world.authority.caller(SECRET).permissions is before
    await world.put_policy("reader", "submit-job")
    assert world.authority.caller(SECRET).permissions is not before


async def test_a_changed_secret_is_no_longer_known() -> None:
    world = _World()
    token = await world.put_token()
    other = SECRET.replace("1", "3")
    await world.apply(acl_entries.UpsertAclTokens(at=1, tokens=(replace(token, secret_id=other),)))
    assert world.authority.caller(other).accessor_id == ACCESSOR
    with pytest.raises(TokenRefused):
        world.authority.caller(SECRET)


async def test_tokens_end_when_their_time_is_over() -> None:
    world = _World()
    await world.put_token(expiration_time=world.clock.now + MINUTE_NS)
    world.authority.caller(SECRET)
    world.clock.now += MINUTE_NS
    with pytest.raises(TokenExpired):
        world.authority.caller(SECRET)


@pytest.mark.parametrize(
    "secret",
    [
        "11111111-0000-4000-8000-000000000002",
        ACCESSOR,
        "garbage",
        "x" * 100_000,
        "\ud800" * 36,
        "eyJhbGciOiJub25lIn0.e30.",
        SECRET.upper() + "x",
    ],
)
async def test_what_is_not_known_is_refused_in_the_same_words(secret: str) -> None:
    world = _World()
    await world.put_token()
    with pytest.raises(TokenRefused) as refused:
        world.authority.caller(secret)
    assert str(refused.value) == "Permission denied"
    assert not isinstance(refused.value, TokenExpired)


async def test_without_a_token_the_anonymous_policy_applies() -> None:
    world = _World()
    assert world.authority.caller("").accessor_id == ANONYMOUS
    assert not world.may("read-job", "")
    await world.put_policy(ANONYMOUS, "read-job")
    assert world.may("read-job", "")
    assert not world.may("submit-job", "")


async def test_a_restored_state_forgets_what_was_worked_out() -> None:
    world = _World()
    await world.put_policy("reader", "read-job")
    await world.put_token()
    earlier = list(dump(world.committer.state))
    await world.put_policy("reader", "submit-job")
    assert world.may("submit-job")
    async with world.committer.standstill():
        restored = load(earlier)
        restored.index = world.committer.state.index + 1
        world.committer.replace_state(restored)
    assert world.may("read-job")
    assert not world.may("submit-job")


async def test_no_more_callers_are_kept_than_the_limit() -> None:
    world = _World()
    tokens = tuple(
        AclToken(accessor_id=f"a{number}", secret_id=f"11111111-0000-4000-8000-{number:012d}")
        for number in range(CALLERS_MAX + 2)
    )
    await world.apply(acl_entries.UpsertAclTokens(at=1, tokens=tokens))
    for token in tokens:
        world.authority.caller(token.secret_id)
    assert len(world.authority._callers) <= CALLERS_MAX


def test_no_representation_shows_a_secret() -> None:
    assert SECRET not in repr(AclToken(accessor_id=ACCESSOR, secret_id=SECRET))


async def _with_workload(world: _World, **claims: str) -> str:
    cluster = Cluster()
    node = cluster.add_node(a_node())
    job = cluster.add_job(a_job("web", namespace="team"))
    cluster.place(job, "alloc-1", node=node)
    await world.apply(*(entries.decode_entry(one) for one in cluster.encoded))
    members = {"job_id": "web", "group": "g", "task": "t", "alloc_id": "alloc-1", **claims}
    world.claims["signed"] = IdentityClaims(namespace="team", **members)
    return "signed"


async def test_a_workload_reads_its_own_variables_and_no_others() -> None:
    world = _World()
    permissions = world.authority.caller(await _with_workload(world)).permissions
    for path in ("nomad/jobs", "nomad/jobs/web", "nomad/jobs/web/g", "nomad/jobs/web/g/t"):
        assert permissions.allows_variable("team", path, "read"), path
        assert not permissions.allows_variable("team", path, "write"), path
        assert not permissions.allows_variable("other", path, "read"), path
    for path in ("nomad/jobs/web/h", "nomad/jobs/web/g/u", "nomad/jobs/webber", "app"):
        assert not permissions.allows_variable("team", path, "read"), path
    assert not permissions.allows("team", "read-job")


@pytest.mark.parametrize("name", ["*", "w*", "nomad/jobs*"])
def test_stars_in_names_open_nothing(name: str) -> None:
    rules = own_variables(IdentityClaims(namespace="team", job_id=name, group="g", task="t"))
    (rule,) = rules.namespaces or ()
    assert rule.variables is not None
    assert [path.path_spec for path in rule.variables.paths or ()] == ["nomad/jobs"]


@pytest.mark.parametrize(
    ("acl", "applies"),
    [
        (JobAcl(namespace="team"), True),
        (JobAcl(namespace="team", job_id="web"), True),
        (JobAcl(namespace="team", job_id="web", group="g", task="t"), True),
        (JobAcl(namespace="team", job_id="web", group="h"), False),
        (JobAcl(namespace="team", job_id="other"), False),
        (JobAcl(namespace="other", job_id="web"), False),
        (JobAcl(), False),
        (None, False),
    ],
)
async def test_policies_apply_to_the_workloads_that_they_name(acl: JobAcl | None, applies: bool) -> None:
    world = _World()
    signed = await _with_workload(world)
    await world.put_policy("for-jobs", "read-job", job_acl=acl)
    assert world.may("read-job", signed) is applies


async def test_a_workload_is_nobody_once_its_allocation_has_ended() -> None:
    world = _World()
    signed = await _with_workload(world)
    world.authority.caller(signed)
    report = entries.AllocReport(id="alloc-1", client_status="complete")  # type: ignore[arg-type] # a text
    await world.apply(entries.ReportAllocs(at=1, reports=(report,)))
    with pytest.raises(TokenRefused):
        world.authority.caller(signed)
