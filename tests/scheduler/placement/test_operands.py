"""What the operands of constraints mean."""

from __future__ import annotations

import pytest

from yurt.scheduler.operands import holds


@pytest.mark.parametrize(
    ("left", "operand", "right", "result"),
    [
        ("1.2.3", "version", "~> 1.0", True),
        ("1.2.3", "version", ">= 1.0, < 1.4", True),
        ("2.0.1", "version", "~> 1.0", False),
        ("1.4", "version", ">= 1.0, < 1.4", False),
        ("1.3.0-beta1", "version", ">= 0.6.1", False),
        ("1.7.0-alpha1", "version", ">= 1.6.0-beta1", False),
        ("1.3.0-beta1+ent", "version", "= 1.3.0-beta1", True),
        ("1.2.3", "semver", "~> 1.0", False),
        ("1.2.3", "semver", ">= 1.0, < 1.4", True),
        ("1.3.0-beta1", "semver", ">= 0.6.1", True),
        ("1.7.0-alpha1", "semver", ">= 1.6.0-beta1", True),
        ("1.7.0-beta", "semver", ">= 1.7.0", False),
        ("1.7.0", "semver", ">= 1.7.0-dev", True),
        ("1.7.0-rc.1", "semver", ">= 1.7.0-dev", True),
        ("1.3.0-beta1+ent", "semver", "= 1.3.0-beta1", True),
        ("bar", "<", "foo", True),
        ("1", ">", "foo", False),
        ("10", "<", "1", False),
        ("10", "<", "9", False),
        ("1.5", "<", "10.5", True),
        ("1_0", "<", "9", True),
        ("99999999999999999999", ">", "1", True),
        ("nan", "<", "1.5", False),
        ("foobar", "regexp", "bar", True),
        ("foobar", "regexp", "^bar", False),
        ("foobar", "regexp", "(", False),
        ("foo,bar,baz", "set_contains", "foo,  bar  ", True),
        ("foo,bar,baz", "set_contains_all", "foo,bam", False),
        ("  a,b  ", "set_contains_any", "a ", True),
        ("a,b", "set_contains_any", "c", False),
        (None, "==", None, False),
        (None, "!=", "foo", True),
        (None, "!=", None, False),
        ("foo", "not", "foo", False),
        ("foo", "is", "foo", True),
        ("foo", "is_set", "", True),
        (None, "is_set", "", False),
        (None, "is_not_set", "", True),
        (None, "distinct_hosts", "true", True),
        ("a", "resembles", "a", False),
    ],
)
def test_operands(left: str | None, operand: str, right: str | None, result: bool) -> None:
    assert holds(left, operand, right) is result
