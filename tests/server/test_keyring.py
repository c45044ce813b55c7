"""The keyring: what one key hides or signs, only that key shows or confirms."""

from __future__ import annotations

import base64
import json
from random import Random

import pytest

from yurt.clock import SystemClock
from yurt.log import MemoryLog
from yurt.model.root_key import KEY_ACTIVE, KEY_INACTIVE, KEY_PREPUBLISHED, KEY_REKEYING
from yurt.server.commands.keyring import KeyRefused
from yurt.server.keyring import DataDamaged, KeyMissing, NoActiveKey
from yurt.server.server import Server
from yurt.server.settings import ServerSettings
from yurt.state.entries import encode_entry
from yurt.state.secret_entries import UpsertRootKey
from yurt.state.snapshot import dump, load
from yurt.state.state import State


@pytest.fixture
def server() -> Server:
    return Server(ServerSettings(name="test"), MemoryLog(), State(), SystemClock(), Random(1))


async def test_what_is_encrypted_is_bound_to_its_place(server: Server) -> None:
    await server.keyring.rotate()
    keyring = server.context.keyring
    key_id, data = keyring.encrypt(b"plain", b"here")
    assert b"plain" not in data
    assert keyring.decrypt(key_id, data, b"here") == b"plain"
    with pytest.raises(DataDamaged):
        keyring.decrypt(key_id, data, b"there")
    with pytest.raises(DataDamaged):
        keyring.decrypt(key_id, b"", b"here")
    with pytest.raises(KeyMissing, match="nope"):
        keyring.decrypt("nope", data, b"here")


async def test_the_same_text_is_never_encrypted_alike(server: Server) -> None:
    await server.keyring.rotate()
    encrypt = server.context.keyring.encrypt
    assert encrypt(b"plain", b"here")[1] != encrypt(b"plain", b"here")[1]


async def test_without_a_key_nothing_can_be_done(server: Server) -> None:
    with pytest.raises(NoActiveKey):
        server.context.keyring.encrypt(b"plain", b"")
    with pytest.raises(NoActiveKey):
        server.context.keyring.sign(b"{}")


async def test_only_our_own_tokens_are_confirmed(server: Server) -> None:
    await server.keyring.rotate()
    keyring = server.context.keyring
    token = keyring.sign(b'{"sub":"me"}')
    key = server.state.root_keys.active
    assert key is not None
    assert keyring.verified(token) == (key.key_id, b'{"sub":"me"}')
    head, claims, signature = token.split(".")
    unsigned = base64.urlsafe_b64encode(json.dumps({"alg": "none", "kid": key.key_id}).encode()).decode()
    forged = base64.urlsafe_b64encode(b'{"sub":"you"}').decode().rstrip("=")
    for bad in (
        "",
        "a.b.c",
        "é.é.é",
        f"{head}.{claims}.",
        f"{head}.{forged}.{signature}",
        f"{unsigned.rstrip('=')}.{claims}.",
        token + ".",
    ):
        assert keyring.verified(bad) is None, bad


async def test_the_public_half_tells_nothing_of_the_private_one(server: Server) -> None:
    await server.keyring.rotate()
    (jwk,) = server.context.keyring.public_keys()
    assert jwk.pop("n")
    assert jwk.pop("kid")
    assert jwk == {"kty": "RSA", "alg": "RS256", "use": "sig", "e": "AQAB"}


async def test_a_new_key_takes_the_place_of_the_active_one(server: Server) -> None:
    first, _ = await server.keyring.rotate()
    token = server.context.keyring.sign(b"{}")
    second, _ = await server.keyring.rotate()
    assert _states(server) == {first.key_id: KEY_INACTIVE, second.key_id: KEY_ACTIVE}
    assert server.context.keyring.verified(token) == (first.key_id, b"{}")


async def test_a_full_rotation_wants_everything_encrypted_anew(server: Server) -> None:
    first, _ = await server.keyring.rotate()
    second, _ = await server.keyring.rotate(full=True)
    assert _states(server) == {first.key_id: KEY_REKEYING, second.key_id: KEY_ACTIVE}


async def test_a_prepublished_key_is_shown_but_not_used(server: Server) -> None:
    first, _ = await server.keyring.rotate()
    second, _ = await server.keyring.rotate(publish_time=2**62)
    assert _states(server) == {first.key_id: KEY_ACTIVE, second.key_id: KEY_PREPUBLISHED}
    assert {jwk["kid"] for jwk in server.context.keyring.public_keys()} == {first.key_id, second.key_id}
    with pytest.raises(KeyRefused, match="prepublished and full rotated"):
        await server.keyring.rotate(full=True, publish_time=1)


async def test_what_is_in_use_stays(server: Server) -> None:
    first, _ = await server.keyring.rotate()
    with pytest.raises(KeyRefused, match="root key not found"):
        await server.keyring.remove("nope")
    with pytest.raises(KeyRefused, match="active root key cannot be deleted"):
        await server.keyring.remove(first.key_id, force=True)
    await server.keyring.rotate()
    await server.keyring.remove(first.key_id)
    assert first.key_id not in server.state.root_keys


async def test_a_token_of_a_removed_key_counts_no_more(server: Server) -> None:
    await server.keyring.rotate()
    token = server.context.keyring.sign(b"{}")
    first, _ = await server.keyring.rotate()
    await server.keyring.rotate()
    verified = server.context.keyring.verified(token)
    assert verified is not None
    await server.keyring.remove(verified[0])
    assert server.context.keyring.verified(token) is None
    assert first.key_id in server.state.root_keys


async def test_neither_log_nor_snapshot_holds_a_secret_in_clear(server: Server) -> None:
    key = server.context.keyring.new_key("one", now=1)
    written = encode_entry(UpsertRootKey(at=1, key=key)) + b"".join(dump(server.state))
    # Private keys, however they are encoded, name their algorithm.
    assert b"PRIVATE" not in written
    assert bytes.fromhex("06092a864886f70d010101") not in written
    assert len(key.wrapped) > 32


async def test_keys_survive_a_snapshot(server: Server) -> None:
    first, _ = await server.keyring.rotate()
    restored = load(dump(server.state))
    assert restored.root_keys.active == server.state.root_keys.active
    assert restored.root_keys.active_at(10**9) == server.state.root_keys[first.key_id]


def _states(server: Server) -> dict[str, str]:
    return {key.key_id: key.state for key in server.state.root_keys}
