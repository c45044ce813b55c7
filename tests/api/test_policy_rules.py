"""Rules of policies, as their authors write them."""

from __future__ import annotations

import pytest

from yurt.api.acl_rules import RULES_LENGTH_MAX, RulesUnreadable, read_rules
from yurt.model.acl.rules import Rules


def test_hcl_and_json_say_the_same() -> None:
    hcl = read_rules(
        'namespace "default" { policy = "read" }\nnamespace "a" { capabilities = ["read-job"] }\n'
        'node { policy = "write" }'
    )
    json = read_rules(
        '{"namespace": {"default": {"policy": "read"}, "a": {"capabilities": ["read-job"]}},'
        ' "node": {"policy": "write"}}'
    )
    assert hcl.namespaces == json.namespaces
    assert hcl.node == json.node


def test_empty_rules_grant_nothing() -> None:
    assert read_rules("") == Rules()


@pytest.mark.parametrize(
    ("rules", "problem"),
    [
        ('foo = "bar"', 'Invalid policy: foo = "bar"'),
        ('node { policy = "read" }\nfoo {}', "Invalid or duplicate policy keys: foo"),
        ('node { policy = "read" }\nnode { policy = "write" }', "Invalid or duplicate policy keys: node"),
        ("namespace {", "At 1:13: object expected closing RBRACE got: EOF"),
        ('namespace = "x"', "must be a block"),
        ('namespace { policy = "read" }', "must be a block"),
        ('namespace "a/b" {}', "Invalid namespace name"),
        ('node_pool "a b" {}', "Invalid node pool name"),
        ('node_pool "a" { policy = "scale" }', "Invalid node pool policy"),
        ('host_volume "a" { capabilities = ["eat"] }', "Invalid host volume capability 'eat'"),
        ('operator { capabilities = ["fly"] }', "Invalid operator capability 'fly'"),
        ('plugin { policy = "x" }', "Invalid plugin policy"),
        ("node { policy = 5 }", '"policy" must be a text'),
        ('namespace "a" { capabilities = [1] }', "must be a list of texts"),
        ('namespace "a" { variables {} }', "no variable paths in namespace a"),
        ('agent { policy = "read" }' + " " * RULES_LENGTH_MAX, "split the policy"),
        ('namespace "${x}" { policy = "read" }', "Invalid namespace name"),
        ("[" * 5000, "Failed to parse ACL Policy"),
        ('{"a":' * 5000, "Failed to parse ACL Policy"),
    ],
)
def test_rules_that_mean_nothing_are_refused(rules: str, problem: str) -> None:
    with pytest.raises(RulesUnreadable) as refused:
        read_rules(rules)
    assert problem in str(refused.value)
