"""Version and semver constraints."""

from __future__ import annotations

import pytest

from yurt.model.versions import BadVersion, Dialect, parse_constraints, parse_version, satisfies

VERSION, SEMVER = Dialect.VERSION, Dialect.SEMVER


@pytest.mark.parametrize(
    ("version", "dialect", "constraints", "satisfied"),
    [
        ("1.2.3", VERSION, "~> 1.0", True),
        ("1.2.3", VERSION, ">= 1.0, < 1.4", True),
        ("2.0.1", VERSION, "~> 1.0", False),
        ("1.4", VERSION, ">= 1.0, < 1.4", False),
        ("1.3.0-beta1", VERSION, ">= 0.6.1", False),
        ("1.7.0-alpha1", VERSION, ">= 1.6.0-beta1", False),
        ("1.7.0", VERSION, ">= 1.6.0-beta1", True),
        ("1.6.0-rc1", VERSION, ">= 1.6.0-beta1", True),
        ("1.3.0-beta1+ent", VERSION, "= 1.3.0-beta1", True),
        ("2.0.6-dev", VERSION, ">= 2.0", False),
        ("2.0.6-dev", VERSION, ">= 2.0.0-a", False),
        ("1.2.0", VERSION, "~> 1.2", True),
        ("1.3.9", VERSION, "~> 1.2.3", False),
        ("1.2.9", VERSION, "~> 1.2.3", True),
        ("1.2.9", VERSION, "~> 1.2.3-beta", False),
        ("1.2", VERSION, "1.2.0", True),
        ("1.2", VERSION, "!= 1.2.0", False),
        ("1.2.3.4", VERSION, "> 1.2.3", True),
        ("v1.2", VERSION, "<= 1.2", True),
        ("1.2.3", SEMVER, "~> 1.0", False),
        ("1.2.3", SEMVER, ">= 1.0, < 1.4", True),
        ("1.3.0-beta1", SEMVER, ">= 0.6.1", True),
        ("1.7.0-alpha1", SEMVER, ">= 1.6.0-beta1", True),
        ("1.7.0-beta", SEMVER, ">= 1.7.0", False),
        ("1.7.0", SEMVER, ">= 1.7.0-dev", True),
        ("1.7.0-rc.1", SEMVER, ">= 1.7.0-dev", True),
        ("1.3.0-beta1+ent", SEMVER, "= 1.3.0-beta1", True),
        ("1.0.0-alpha.2", SEMVER, "< 1.0.0-alpha.10", True),
        ("1.0.0-9", SEMVER, "< 1.0.0-a", True),
        ("not a version", SEMVER, ">= 0", False),
    ],
)
def test_satisfies(version: str, dialect: Dialect, constraints: str, satisfied: bool) -> None:
    assert satisfies(version, constraints, dialect) is satisfied


@pytest.mark.parametrize(
    ("constraints", "dialect", "text"),
    [
        ("not a version", VERSION, "malformed constraint: not a version"),
        ("~> 1.2", SEMVER, "Malformed constraint: ~> 1.2"),
        ("", VERSION, "malformed constraint: "),
        (">= 1.0,", VERSION, "malformed constraint: "),
    ],
)
def test_bad_constraints_are_named(constraints: str, dialect: Dialect, text: str) -> None:
    with pytest.raises(BadVersion) as refusal:
        parse_constraints(constraints, dialect)
    assert str(refusal.value) == text


def test_bad_version_is_named() -> None:
    with pytest.raises(BadVersion, match=r"malformed version: 1\.x"):
        parse_version("1.x")
