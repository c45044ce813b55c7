"""Random but valid entries about who may do what."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tests.state.acl_history import RULES, an_id
from yurt.model.acl.auth_method import BIND_POLICY, JWT, LOCAL, AuthMethod, AuthMethodConfig, BindingRule
from yurt.model.acl.policy import AclPolicy, AclRole, JobAcl
from yurt.model.acl.token import MANAGEMENT, AclToken, OneTimeToken
from yurt.model.times import HOUR_NS
from yurt.state import acl_entries

if TYPE_CHECKING:
    from tests.state.entry_maker import EntryMaker

_NAMES = ("reader", "writer", "ops")
_NUMBERS = range(4)


class AclEntryMaker:
    """Makes such entries for another maker's cluster."""

    def __init__(self, maker: EntryMaker) -> None:
        self._cluster = maker.cluster
        self._choices = maker.choices

    @property
    def makers(self) -> tuple[Callable[[], acl_entries.AclEntry], ...]:
        """A function for each kind of entry."""
        return (
            self.bootstrap,
            self.upsert_policies,
            self.delete_policies,
            self.upsert_roles,
            self.delete_roles,
            self.upsert_tokens,
            self.delete_tokens,
            self.upsert_one_time_tokens,
            self.delete_one_time_tokens,
            self.upsert_auth_methods,
            self.delete_auth_methods,
            self.upsert_binding_rules,
            self.delete_binding_rules,
        )

    def bootstrap(self) -> acl_entries.BootstrapAcl:
        token = AclToken(accessor_id=an_id(1), secret_id=an_id(2), type=MANAGEMENT, is_global=True)
        reset = self._choices.pick((0, self._cluster.state.acl.bootstrap_index))
        return acl_entries.BootstrapAcl(at=self._cluster.now, token=token, reset_index=reset)

    def upsert_policies(self) -> acl_entries.UpsertAclPolicies:
        policies = tuple(
            AclPolicy(name=name, parsed=RULES, job_acl=self._choices.pick((None, JobAcl(namespace="n"))))
            for name in self._choices.some(_NAMES)
        )
        return acl_entries.UpsertAclPolicies(at=self._cluster.now, policies=policies)

    def delete_policies(self) -> acl_entries.DeleteAclPolicies:
        return acl_entries.DeleteAclPolicies(
            at=self._cluster.now, names=tuple(self._choices.some((*_NAMES, "nobody")))
        )

    def upsert_roles(self) -> acl_entries.UpsertAclRoles:
        roles = tuple(
            AclRole(id=an_id(10 + one), name=f"role-{one}", policies=tuple(self._choices.some(_NAMES)))
            for one in self._choices.some(_NUMBERS)
        )
        return acl_entries.UpsertAclRoles(at=self._cluster.now, roles=roles)

    def delete_roles(self) -> acl_entries.DeleteAclRoles:
        return acl_entries.DeleteAclRoles(at=self._cluster.now, role_ids=self._some_ids(10))

    def upsert_tokens(self) -> acl_entries.UpsertAclTokens:
        tokens = tuple(
            AclToken(
                accessor_id=an_id(20 + one),
                secret_id=an_id(30 + one),
                policies=tuple(self._choices.some(_NAMES)) or None,
                create_time=self._cluster.now,
                expiration_time=self._choices.pick((0, self._cluster.now + HOUR_NS)),
            )
            for one in self._choices.some(_NUMBERS)
        )
        return acl_entries.UpsertAclTokens(at=self._cluster.now, tokens=tokens)

    def delete_tokens(self) -> acl_entries.DeleteAclTokens:
        return acl_entries.DeleteAclTokens(at=self._cluster.now, accessor_ids=self._some_ids(20))

    def upsert_one_time_tokens(self) -> acl_entries.UpsertOneTimeTokens:
        token = OneTimeToken(
            one_time_secret_id=an_id(1000 + self._cluster.state.index),
            accessor_id=an_id(20),
            expires_at=self._cluster.now + HOUR_NS,
        )
        return acl_entries.UpsertOneTimeTokens(at=self._cluster.now, tokens=(token,))

    def delete_one_time_tokens(self) -> acl_entries.DeleteOneTimeTokens:
        secrets = [one.one_time_secret_id for one in self._cluster.state.acl.one_time_tokens]
        return acl_entries.DeleteOneTimeTokens(
            at=self._cluster.now, secret_ids=tuple(self._choices.some(secrets))
        )

    def upsert_auth_methods(self) -> acl_entries.UpsertAuthMethods:
        config = AuthMethodConfig(jwt_validation_pub_keys=("key",))
        methods = tuple(
            AuthMethod(name=name, type=JWT, token_locality=LOCAL, max_token_ttl=HOUR_NS, config=config)
            for name in self._choices.some(_NAMES)
        )
        return acl_entries.UpsertAuthMethods(at=self._cluster.now, methods=methods)

    def delete_auth_methods(self) -> acl_entries.DeleteAuthMethods:
        return acl_entries.DeleteAuthMethods(at=self._cluster.now, names=tuple(self._choices.some(_NAMES)))

    def upsert_binding_rules(self) -> acl_entries.UpsertBindingRules:
        rules = tuple(
            BindingRule(
                id=an_id(50 + one),
                auth_method=self._choices.pick(_NAMES),
                bind_type=BIND_POLICY,
                bind_name="reader",
            )
            for one in self._choices.some(_NUMBERS)
        )
        return acl_entries.UpsertBindingRules(at=self._cluster.now, rules=rules)

    def delete_binding_rules(self) -> acl_entries.DeleteBindingRules:
        return acl_entries.DeleteBindingRules(at=self._cluster.now, rule_ids=self._some_ids(50))

    def _some_ids(self, first: int) -> tuple[str, ...]:
        return tuple(an_id(first + one) for one in self._choices.some(_NUMBERS))
