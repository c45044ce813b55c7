"""Time identities and variables: signing a token, recognising it, encrypting and decrypting items."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from random import Random
from statistics import median

from yurt.clock import SystemClock
from yurt.model.variable import VariableKey
from yurt.server.identities import TokenClaims
from yurt.server.server import Server
from yurt.server.settings import ServerSettings

TARGETS = {
    "sign_us": "<= 1000",
    "verify_first_us": "<= 100",
    "verify_again_us": "<= 5",
    "decrypt_us": "<= 50",
}
ROUNDS = 9
CALLS = 200


def run() -> dict[str, float]:
    """Return microseconds a call, with RSA keys of 2048 bits and a variable of 1 KiB."""
    return asyncio.run(_run())


async def _run() -> dict[str, float]:
    server = await Server.open(ServerSettings(name="bench"), SystemClock(), Random(1))
    await server.keyring.rotate()
    keyring = server.context.keyring
    claims = TokenClaims(sub="global:default:web:g:t:default", aud="nomadproject.io", nomad_task="t")
    token = server.identities.sign(claims).token
    now = server.clock.now_ns()
    key = VariableKey("default", "app/db")
    place = f"{key.namespace}\0{key.path}".encode()
    plain = b"x" * 1024
    key_id, data = keyring.encrypt(plain, place)
    return {
        "sign_us": _microseconds(lambda: server.identities.sign(claims)),
        "verify_first_us": _microseconds(lambda: keyring.verified(token)),
        "verify_again_us": _microseconds(lambda: server.identities.verify(token, now)),
        "encrypt_us": _microseconds(lambda: keyring.encrypt(plain, place)),
        "decrypt_us": _microseconds(lambda: keyring.decrypt(key_id, data, place)),
    }


def _microseconds(call: Callable[[], object]) -> float:
    rounds = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        for _ in range(CALLS):
            call()
        rounds.append((time.perf_counter() - began) / CALLS * 1e6)
    return round(median(rounds), 2)
