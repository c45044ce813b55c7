"""Tokens whose time is over are forgotten."""

from __future__ import annotations

from tests.state.acl_history import an_id
from tests.state.builders import Cluster
from yurt.model.acl.token import AclToken, OneTimeToken
from yurt.model.times import HOUR_NS, MINUTE_NS
from yurt.scheduler.kinds.core_acl import TOKENS_PER_ENTRY_MAX, collect_tokens
from yurt.state.acl_entries import UpsertAclTokens, UpsertOneTimeTokens

NOW = 100 * HOUR_NS


def _cluster(*expirations: int) -> Cluster:
    cluster = Cluster()
    tokens = tuple(
        AclToken(accessor_id=an_id(number), secret_id=an_id(number + 100_000), expiration_time=at)
        for number, at in enumerate(expirations)
    )
    cluster.apply(UpsertAclTokens(at=1, tokens=tokens))
    return cluster


def test_tokens_stay_for_a_while_after_their_end() -> None:
    cluster = _cluster(0, NOW + 1, NOW, NOW - HOUR_NS + MINUTE_NS, NOW - HOUR_NS, NOW - 2 * HOUR_NS)
    for entry in collect_tokens(cluster.state, now=NOW, kept_for=HOUR_NS):
        cluster.apply(entry)
    assert [token.accessor_id for token in cluster.state.acl.tokens] == [an_id(one) for one in range(4)]


def test_one_time_secrets_go_when_their_time_is_over() -> None:
    cluster = Cluster()
    tokens = tuple(
        OneTimeToken(one_time_secret_id=an_id(number), accessor_id="a", expires_at=NOW + number - 1)
        for number in range(3)
    )
    cluster.apply(UpsertOneTimeTokens(at=1, tokens=tokens))
    for entry in collect_tokens(cluster.state, now=NOW, kept_for=HOUR_NS):
        cluster.apply(entry)
    assert [one.one_time_secret_id for one in cluster.state.acl.one_time_tokens] == [an_id(2)]


def test_entries_are_of_bounded_size() -> None:
    cluster = _cluster(*[1] * (TOKENS_PER_ENTRY_MAX + 1))
    assert len(collect_tokens(cluster.state, now=NOW, kept_for=0)) == 2
    assert collect_tokens(Cluster().state, now=NOW, kept_for=0) == []
