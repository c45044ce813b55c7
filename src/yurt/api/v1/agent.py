"""/v1/agent, /v1/status and the public keys."""

from __future__ import annotations

from yurt.api.answer import Answer
from yurt.api.call import Call
from yurt.api.deps import Deps
from yurt.api.errors import HttpError
from yurt.api.routes import Route
from yurt.version import NOMAD_VERSION, VERSION

JWKS_MAX_AGE_S = 900


class AgentHandlers:
    """The handlers of /v1/agent, /v1/status and /.well-known."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    def routes(self) -> tuple[Route, ...]:
        """Their part of the route table."""
        return (
            Route(path="/v1/status/leader", handlers={"GET": self.leader}, summary="Name the leader"),
            Route(path="/v1/status/peers", handlers={"GET": self.peers}, summary="List the servers"),
            Route(path="/v1/agent/self", handlers={"GET": self.self}, summary="Describe this agent"),
            Route(
                path="/v1/agent/health",
                handlers={"GET": self.health},
                summary="Say whether the agent is well",
            ),
            Route(path="/v1/regions", handlers={"GET": self.regions}, summary="List the regions"),
            Route(path="/.well-known/jwks.json", handlers={"GET": self.jwks}, summary="List the public keys"),
        )

    async def leader(self, _call: Call) -> Answer:
        """GET /v1/status/leader."""
        return Answer(body=self._deps.info.rpc_address)

    async def peers(self, _call: Call) -> Answer:
        """GET /v1/status/peers."""
        return Answer(body=[self._deps.info.rpc_address])

    async def regions(self, _call: Call) -> Answer:
        """GET /v1/regions."""
        return Answer(body=[self._deps.info.region])

    async def self(self, _call: Call) -> Answer:
        """GET /v1/agent/self."""
        info = self._deps.info
        return Answer(
            body={
                "config": info.config,
                "member": {
                    "Name": f"{info.name}.{info.region}",
                    "Addr": info.rpc_address.rpartition(":")[0],
                    "Port": int(info.rpc_address.rpartition(":")[2]),
                    "Status": "alive",
                    "Tags": {
                        "build": NOMAD_VERSION,
                        "dc": info.datacenter,
                        "region": info.region,
                        "role": "nomad",
                        "yurt": VERSION,
                    },
                },
                "stats": self._stats(),
            }
        )

    async def health(self, call: Call) -> Answer:
        """GET /v1/agent/health."""
        kind = call.query.get("type", "")
        if kind not in ("", "server", "client"):
            kind = ""
        body: dict[str, dict[str, object]] = {}
        if kind in ("", "server"):
            body["server"] = {"ok": True, "message": "ok"}
        if kind in ("", "client") and self._deps.info.has_client:
            body["client"] = {"ok": True, "message": "ok"}
        return Answer(body=body)

    async def jwks(self, _call: Call) -> Answer:
        """GET /.well-known/jwks.json."""
        keys = self._deps.server.signing_keys
        if not keys:
            raise HttpError(500, "No cluster leader")
        return Answer(
            body={"keys": [key.public_jwk() for key in keys]},
            headers={"Cache-Control": f"max-age={JWKS_MAX_AGE_S}"},
        )

    def _stats(self) -> dict[str, dict[str, str]]:
        state = self._deps.state
        return {
            "nomad": {
                "bootstrap": "true",
                "known_regions": "1",
                "leader": "true",
                "leader_addr": self._deps.info.rpc_address,
                "server": "true",
            },
            "raft": {
                "applied_index": str(state.index),
                "commit_index": str(self._deps.server.log.last_index),
                "last_log_index": str(self._deps.server.log.last_index),
                "num_peers": "0",
                "state": "Leader",
            },
            "runtime": {"version": VERSION},
        }
