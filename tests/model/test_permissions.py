"""What rules add up to."""

from __future__ import annotations

from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yurt.api.acl_rules import read_rules
from yurt.model.acl.globs import REMEMBERED_MAX, Closest, matches
from yurt.model.acl.permissions import EVERYTHING, NOTHING, Permissions


def _permissions(*rules: str) -> Permissions:
    return Permissions(read_rules(text) for text in rules)


@pytest.mark.parametrize(
    ("namespace", "is_allowed"),
    [
        pytest.param("prod-api", False, id="the exact rule wins over wider ones"),
        pytest.param("prod-web", True, id="the closest pattern wins"),
        pytest.param("prod", False, id="the pattern needs its dash"),
        pytest.param("test", False, id="the widest pattern grants less"),
    ],
)
def test_a_namespace_has_the_rules_that_are_closest_to_it(namespace: str, is_allowed: bool) -> None:
    permissions = _permissions(
        'namespace "*" { capabilities = ["list-jobs"] }\n'
        'namespace "prod-*" { policy = "write" }\n'
        'namespace "prod-api" { policy = "read" }'
    )
    assert permissions.allows(namespace, "submit-job") is is_allowed


def test_policies_add_up_for_the_same_name() -> None:
    permissions = _permissions(
        'namespace "a" { capabilities = ["read-job"] }', 'namespace "a" { capabilities = ["submit-job"] }'
    )
    assert permissions.allows("a", "read-job")
    assert permissions.allows("a", "submit-job")


def test_one_policy_that_denies_beats_all_others() -> None:
    permissions = _permissions(
        'namespace "a" { policy = "write" }\nnode { policy = "write" }\nnode_pool "p" { policy = "write" }',
        'namespace "a" { policy = "deny" }\nnode { policy = "deny" }\nnode_pool "p" { policy = "deny" }',
    )
    assert not permissions.allows("a", "read-job")
    assert not permissions.sees_namespace("a")
    assert not permissions.sees_any_namespace()
    assert not permissions.allows_area("node", "read")
    assert not permissions.allows_node_pool("p", "read")


@pytest.mark.parametrize(
    ("rules", "area", "level", "is_allowed"),
    [
        ('node { policy = "read" }', "node", "read", True),
        ('node { policy = "read" }', "node", "write", False),
        ('node { policy = "write" }', "node", "read", True),
        ('node { policy = "write" }', "agent", "read", False),
        ('plugin { policy = "list" }', "plugin", "list", True),
        ('plugin { policy = "list" }', "plugin", "read", False),
        ('operator { policy = "read" }', "operator", "read", True),
        ('operator { capabilities = ["snapshot-save"] }', "operator", "read", False),
    ],
)
def test_areas_have_levels(rules: str, area: str, level: str, is_allowed: bool) -> None:
    assert _permissions(rules).allows_area(area, level) is is_allowed


def test_short_forms_of_an_operator_grant_its_capabilities() -> None:
    reads = _permissions('operator { policy = "read" }')
    assert reads.allows_operator("keyring-read")
    assert not reads.allows_operator("snapshot-save")
    assert _permissions('operator { policy = "write" }').allows_operator("snapshot-save")


@pytest.mark.parametrize(
    ("namespace", "path", "capability", "is_allowed"),
    [
        ("team", "app/db", "read", True),
        ("team", "app/db", "list", True),
        ("team", "app/db", "write", False),
        ("team", "app/own/x", "write", True),
        ("team", "app/own/x", "read", False),
        ("team", "app/closed", "read", False),
        ("team", "other", "list", False),
        ("elsewhere", "app/db", "read", False),
    ],
)
def test_variables_are_opened_by_path(namespace: str, path: str, capability: str, is_allowed: bool) -> None:
    permissions = _permissions(
        'namespace "te*" {\n variables {\n'
        '  path "app/*" { capabilities = ["read"] }\n'
        '  path "app/own/*" { capabilities = ["write"] }\n'
        '  path "app/closed" { capabilities = ["deny"] }\n'
        " }\n}"
    )
    assert permissions.allows_variable(namespace, path, capability) is is_allowed


def test_rules_about_variables_open_nothing_else() -> None:
    permissions = _permissions(
        'namespace "a" { variables { path "*" { capabilities = ["read", "write"] } } }'
    )
    assert not permissions.sees_namespace("a")
    assert permissions.allows_variables_somewhere()


def test_host_volumes_are_opened_by_name() -> None:
    permissions = _permissions(
        'host_volume "data-*" { policy = "read" }\nhost_volume "x" { policy = "write" }'
    )
    assert permissions.allows_host_volume("data-1", "mount-readonly")
    assert not permissions.allows_host_volume("data-1", "mount-readwrite")
    assert permissions.allows_host_volume("x", "mount-readwrite")
    assert not permissions.allows_host_volume("y", "mount-readonly")


def test_capabilities_of_volumes_bring_lesser_ones() -> None:
    permissions = _permissions('namespace "a" { capabilities = ["host-volume-register"] }')
    assert permissions.allows("a", "host-volume-create")
    assert permissions.allows("a", "host-volume-read")
    assert not permissions.allows("a", "host-volume-delete")


def test_management_may_do_everything_and_nobody_nothing() -> None:
    assert EVERYTHING.allows("any", "no-such-capability")
    assert EVERYTHING.allows_variable("any", "path", "write")
    assert not NOTHING.allows_somewhere("read-job")
    assert not NOTHING.allows_area("agent", "read")


_WORDS = st.text(alphabet="ab*-", max_size=8)


@given(pattern=_WORDS, name=st.text(alphabet="ab-", max_size=8))
def test_patterns_match_as_those_of_shells_do(pattern: str, name: str) -> None:
    assert matches(pattern, name) is fnmatchcase(name, pattern)


def test_patterns_of_many_stars_take_no_time() -> None:
    assert not matches("*a" * 60 + "b", "a" * 20_000)


def test_no_more_names_are_remembered_than_the_limit() -> None:
    closest = Closest({"*": frozenset(("x",))}, frozenset())
    for number in range(REMEMBERED_MAX + 10):
        assert closest.of(f"name-{number}") == {"x"}
    assert len(closest._remembered) <= REMEMBERED_MAX
