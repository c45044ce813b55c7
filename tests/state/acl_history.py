"""Every kind of entry about who may do what, applied to something that is there."""

from __future__ import annotations

from tests.state.builders import Cluster
from yurt.model.acl.auth_method import BIND_POLICY, JWT, LOCAL, AuthMethod, AuthMethodConfig, BindingRule
from yurt.model.acl.policy import AclPolicy, AclRole, JobAcl
from yurt.model.acl.rules import AreaRule, NamespaceRule, PathRule, Rules, VariablesRule
from yurt.model.acl.token import MANAGEMENT, AclToken, OneTimeToken
from yurt.model.times import HOUR_NS
from yurt.state import acl_entries

RULES = Rules(
    namespaces=(
        NamespaceRule(
            name="team-*",
            policy="read",
            capabilities=("list-jobs", "read-job"),
            variables=VariablesRule(paths=(PathRule(path_spec="app/*", capabilities=("read",)),)),
        ),
    ),
    node=AreaRule(policy="read"),
    raw='namespace "team-*" { policy = "read" }',
)


def an_id(number: int) -> str:
    """A UUID."""
    return f"00000000-0000-4000-8000-{number:012d}"


def acl_history() -> Cluster:
    """A cluster with tokens, policies, roles and auth methods, some of them deleted again."""
    cluster = Cluster()
    now = cluster.now
    root = AclToken(accessor_id=an_id(1), secret_id=an_id(2), type=MANAGEMENT, is_global=True)
    policies = tuple(
        AclPolicy(name=name, rules=RULES.raw, parsed=RULES, job_acl=JobAcl(namespace="team-a"), hash=b"hash")
        for name in ("reader", "other")
    )
    roles = tuple(AclRole(id=an_id(10 + one), name=f"role-{one}", policies=("reader",)) for one in range(2))
    tokens = tuple(
        AclToken(
            accessor_id=an_id(20 + one),
            secret_id=an_id(30 + one),
            name=f"token-{one}",
            policies=("reader",),
            roles=(roles[0].id,),
            create_time=now,
            expiration_time=now + HOUR_NS,
            expiration_ttl=HOUR_NS,
        )
        for one in range(2)
    )
    once = tuple(
        OneTimeToken(one_time_secret_id=an_id(40 + one), accessor_id=an_id(20), expires_at=now + HOUR_NS)
        for one in range(2)
    )
    config = AuthMethodConfig(jwt_validation_pub_keys=("key",), claim_mappings={"team": "team"})
    methods = tuple(
        AuthMethod(name=name, type=JWT, token_locality=LOCAL, max_token_ttl=HOUR_NS, config=config)
        for name in ("ci", "old")
    )
    rules = tuple(
        BindingRule(id=an_id(50 + one), auth_method=method, bind_type=BIND_POLICY, bind_name="reader")
        for one, method in enumerate(("ci", "ci", "old"))
    )
    for entry in (
        acl_entries.BootstrapAcl(at=now, token=root),
        acl_entries.UpsertAclPolicies(at=now, policies=policies),
        acl_entries.UpsertAclRoles(at=now, roles=roles),
        acl_entries.UpsertAclTokens(at=now, tokens=tokens),
        acl_entries.UpsertOneTimeTokens(at=now, tokens=once),
        acl_entries.UpsertAuthMethods(at=now, methods=methods),
        acl_entries.UpsertBindingRules(at=now, rules=rules),
        acl_entries.DeleteBindingRules(at=now, rule_ids=(an_id(51),)),
        acl_entries.DeleteAuthMethods(at=now, names=("old",)),
        acl_entries.DeleteOneTimeTokens(at=now, secret_ids=(an_id(41),)),
        acl_entries.DeleteAclTokens(at=now, accessor_ids=(an_id(21),)),
        acl_entries.DeleteAclRoles(at=now, role_ids=(an_id(11),)),
        acl_entries.DeleteAclPolicies(at=now, names=("other",)),
    ):
        cluster.apply(entry)
    return cluster
