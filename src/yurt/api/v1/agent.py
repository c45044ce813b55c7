"""/v1/agent, /v1/status, /v1/regions and the public keys."""

from __future__ import annotations

import asyncio
import os
import platform
import socket
import sys
from typing import Any

from yurt.api import needs
from yurt.api.answer import TEXT_TYPE, Answer, empty_answer
from yurt.api.call import Call
from yurt.api.deps import Deps
from yurt.api.errors import HttpError
from yurt.api.needs import Need
from yurt.api.parameters import BLOCKING, NODE_ID, SERVER_ID, Parameter, flag, text
from yurt.api.routes import ANY_METHOD, WRITE, Handler, Route
from yurt.api.v1.agent_views import (
    AgentSelf,
    DiskUse,
    Health,
    HostData,
    Joined,
    Jwks,
    Member,
    Members,
    OpenIdConfiguration,
    SchedulerWorker,
    SchedulerWorkers,
    SchedulerWorkersConfig,
)
from yurt.model.decode import BadRequestBody
from yurt.model.multi_error import multi_error_text
from yurt.model.times import time_text
from yurt.model.wire import NodeID, Wire
from yurt.observe.host_stats import host_stats
from yurt.version import NOMAD_VERSION, VERSION

JWKS_MAX_AGE_S = 900
GOSSIP_PORT = 4648
# What may be in the environment and must not leave the machine.
_SECRET_WORDS = ("TOKEN", "SECRET", "PASSWORD", "KEY", "LICENSE")


class SchedulerWorkersRequest(
    Wire,
    frozen=True,
    kw_only=True,
    rename=lambda name: name,
):
    """How many schedulers to run, and for what."""

    num_schedulers: int = 0
    enabled_schedulers: tuple[str, ...] | None = None


_ADDRESSES = Parameter("address", "The address of a server.", is_repeated=True)
_TAKES = {
    "/v1/agent/health": (Parameter("type", "`client` or `server`; both without.", is_repeated=True),),
    "/v1/agent/host": (NODE_ID, SERVER_ID),
    "/.well-known/jwks.json": BLOCKING,
    "/v1/agent/join": (_ADDRESSES,),
    "/v1/agent/force-leave": (text("node", "The server's name."), flag("prune", "Forget it altogether.")),
}


class AgentHandlers:
    """The handlers of /v1/agent, /v1/status, /v1/regions and /.well-known."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    def routes(self) -> tuple[Route, ...]:
        """Their part of the route table."""
        read, write = needs.agent("read"), needs.agent("write")
        reads: tuple[tuple[str, Handler, str, Need, Any], ...] = (
            ("/v1/agent/self", self.self, "Describe this agent", read, AgentSelf),
            (
                "/v1/agent/health",
                self.health,
                "Say whether the agent is well",
                needs.ANYONE,
                dict[str, Health],
            ),
            ("/v1/agent/members", self.members, "List the servers", needs.node("read"), Members),
            ("/v1/agent/host", self.host, "Describe the machine", read, HostData),
            ("/v1/agent/schedulers", self.schedulers, "List the schedulers here", read, SchedulerWorkers),
            ("/v1/regions", self.regions, "List the regions", needs.ANYONE, list[str]),
            ("/.well-known/jwks.json", self.jwks, "List the public keys", needs.ANYONE, Jwks),
            (
                "/.well-known/openid-configuration",
                self.openid_configuration,
                "Describe who signs identities",
                needs.ANYONE,
                OpenIdConfiguration,
            ),
        )
        writes: tuple[tuple[str, Handler, str, Any], ...] = (
            ("/v1/agent/join", self.join, "Make this server known to others", Joined),
            ("/v1/agent/force-leave", self.force_leave, "Forget a server that failed", None),
            ("/v1/agent/reload", self.reload, "Read the configuration again", None),
        )
        return (
            *(
                Route(
                    path=path,
                    handlers={"GET": handler},
                    summary=summary,
                    needs=need,
                    is_local=True,
                    takes=_TAKES.get(path, ()),
                    response=response,
                )
                for path, handler, summary, need, response in reads
            ),
            *(
                Route(
                    path=path,
                    handlers=dict.fromkeys(WRITE, handler),
                    summary=summary,
                    needs=write,
                    is_local=True,
                    takes=_TAKES.get(path, ()),
                    response=response,
                )
                for path, handler, summary, response in writes
            ),
            Route(
                path="/v1/agent/servers",
                handlers={"GET": self.servers, **dict.fromkeys(WRITE, self.set_servers)},
                summary="List or set the servers of this client",
                needs={"GET": read, **dict.fromkeys(WRITE, write)},
                is_local=True,
                takes=dict.fromkeys(WRITE, (_ADDRESSES,)),
                response=list[str],
            ),
            Route(
                path="/v1/agent/schedulers/config",
                handlers={"GET": self.scheduler_workers, **dict.fromkeys(WRITE, self.set_scheduler_workers)},
                summary="Read or set how many schedulers this server runs",
                needs={"GET": read, **dict.fromkeys(WRITE, write)},
                is_local=True,
                request=SchedulerWorkersRequest,
                response=dict.fromkeys(("GET", *WRITE), SchedulerWorkersConfig),
            ),
            Route(
                path="/v1/agent/keyring/{action}",
                handlers=dict.fromkeys(ANY_METHOD, self.keyring),
                summary="Refuse to show gossip keys, of which there are none",
                needs=write,
                is_local=True,
            ),
            Route(
                path="/v1/agent/pprof/{profile}",
                handlers={"GET": self.pprof},
                summary="Give the command line of this agent",
                needs=write,
                is_local=True,
                content_type="text/plain",
            ),
            Route(
                path="/v1/status/leader",
                handlers={"GET": self.leader},
                summary="Name the leader",
                needs=needs.ANYONE,
                response=str,
            ),
            Route(
                path="/v1/status/peers",
                handlers={"GET": self.peers},
                summary="List the servers",
                needs=needs.ANYONE,
                response=list[str],
            ),
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
        return Answer(
            body=AgentSelf(config=self._deps.info.config, member=self._member(), stats=self._stats())
        )

    async def health(self, call: Call) -> Answer:
        """GET /v1/agent/health."""
        kinds = call.values("type") or ["client", "server"]
        body: dict[str, Health] = {}
        if "client" in kinds and self._deps.info.has_client:
            body["client"] = Health()
        if "server" in kinds:
            body["server"] = Health()
        return Answer(body=body)

    async def members(self, _call: Call) -> Answer:
        """GET /v1/agent/members."""
        info = self._deps.info
        return Answer(
            body=Members(
                server_name=info.name,
                server_region=info.region,
                server_dc=info.datacenter,
                members=(self._member(),),
            )
        )

    async def servers(self, _call: Call) -> Answer:
        """GET /v1/agent/servers."""
        if not self._deps.info.has_client:
            raise HttpError(501, "Invalid method")
        return Answer(body=[self._deps.info.rpc_address])

    async def set_servers(self, call: Call) -> Answer:
        """PUT /v1/agent/servers: a client beside its server needs no other."""
        if not self._deps.info.has_client:
            raise HttpError(501, "Invalid method")
        if not any(call.values("address")):
            raise HttpError(400, "missing server address")
        return empty_answer()

    async def join(self, call: Call) -> Answer:
        """PUT /v1/agent/join: servers find each other through their log, not by gossip."""
        addresses = [address for address in call.values("address") if address]
        if not addresses:
            raise HttpError(400, "missing address to join")
        refused = "servers find each other through their log; configure the same one"
        problems = [f"failed to join {address}: {refused}" for address in addresses]
        return Answer(body=Joined(error=multi_error_text(problems)))

    async def force_leave(self, call: Call) -> Answer:
        """PUT /v1/agent/force-leave: a server that is not known is no error."""
        if not call.query.get("node"):
            raise HttpError(400, "missing node to force leave")
        try:
            call.flag("prune")
        except HttpError:
            raise HttpError(400, "invalid prune value") from None
        return empty_answer()

    async def reload(self, _call: Call) -> Answer:
        """PUT /v1/agent/reload."""
        if self._deps.reload is not None:
            self._deps.reload()
        return empty_answer()

    async def schedulers(self, _call: Call) -> Answer:
        """GET /v1/agent/schedulers."""
        worker = SchedulerWorker(
            enabled_schedulers=tuple(self._deps.server.settings.enabled_schedulers),
            id=self._deps.server_id,
            started=time_text(self._deps.started_at),
            status="Started",
            workload_status="WaitingToDequeue",
        )
        return Answer(body=SchedulerWorkers(schedulers=(worker,), server_id=self._server_name()))

    async def scheduler_workers(self, _call: Call) -> Answer:
        """GET /v1/agent/schedulers/config."""
        return Answer(
            body=SchedulerWorkersConfig(
                enabled_schedulers=tuple(self._deps.server.settings.enabled_schedulers),
                num_schedulers=1,
                server_id=self._server_name(),
            )
        )

    async def set_scheduler_workers(self, call: Call) -> Answer:
        """PUT /v1/agent/schedulers/config: only what is there already can be asked for."""
        try:
            request: SchedulerWorkersRequest = await call.read(SchedulerWorkersRequest)
        except BadRequestBody as error:
            raise HttpError(400, f"Invalid request: {error}") from None
        known = self._deps.server.settings.enabled_schedulers
        kinds = request.enabled_schedulers or ()
        if request.num_schedulers < 0 or any(kind not in known for kind in kinds):
            raise HttpError(400, "Invalid request")
        if request.num_schedulers not in (0, 1) or (kinds and set(kinds) != set(known)):
            raise HttpError(
                501, "this server runs one scheduler for all types; it cannot be changed while it runs"
            )
        return await self.scheduler_workers(call)

    async def host(self, call: Call) -> Answer:
        """GET /v1/agent/host."""
        if call.query.get("node_id") and call.query.get("server_id"):
            raise HttpError(400, "Can only forward to either client node or server")
        return Answer(
            body=HostData(
                os=f"{platform.system().lower()} {platform.release()}",
                network=({"Hostname": socket.gethostname()},),
                resolv_conf=_text_of("/etc/resolv.conf"),
                hosts=_text_of("/etc/hosts"),
                environment=_environment(),
                disk=await asyncio.to_thread(_disks, self._deps.info.config.get("DataDir") or "/"),
            )
        )

    async def keyring(self, _call: Call) -> Answer:
        """/v1/agent/keyring/<action>: servers do not gossip, so there are no keys for it."""
        raise HttpError(500, "1/1 nodes reported failure")

    async def pprof(self, call: Call) -> Answer:
        """GET /v1/agent/pprof/<profile>: profiles of Go programs do not exist here."""
        profile = call.path["profile"]
        if not profile:
            raise HttpError(404, "Invalid method")
        if profile != "cmdline":
            raise HttpError(404, f"Pprof profile not found profile: {profile}")
        return Answer(
            body="\0".join(sys.argv).encode(),
            content_type=TEXT_TYPE,
            headers={"X-Content-Type-Options": "nosniff"},
        )

    async def jwks(self, call: Call) -> Answer:
        """GET /.well-known/jwks.json."""
        state = self._deps.state

        def read() -> tuple[int, list[dict[str, Any]]]:
            return max(state.root_keys.index, 1), self._deps.server.context.keyring.public_keys()

        answer = await self._deps.read(call, [("root-keys", None)], read)
        if not answer.body:
            raise HttpError(500, "No cluster leader")
        answer.body = Jwks(keys=tuple(answer.body))
        answer.headers = {"Cache-Control": f"max-age={JWKS_MAX_AGE_S}"}
        return answer

    async def openid_configuration(self, _call: Call) -> Answer:
        """GET /.well-known/openid-configuration."""
        issuer = self._deps.server.settings.oidc_issuer
        if not issuer:
            raise HttpError(404, "OIDC Discovery endpoint disabled")
        return Answer(
            body=OpenIdConfiguration(issuer=issuer, jwks_uri=f"{issuer.rstrip('/')}/.well-known/jwks.json")
        )

    def _server_name(self) -> str:
        return f"{self._deps.info.name}.{self._deps.info.region}"

    def _member(self) -> Member:
        info = self._deps.info
        host, _, port = info.rpc_address.rpartition(":")
        return Member(
            name=self._server_name(),
            addr=host,
            port=GOSSIP_PORT,
            tags={
                "bootstrap": "1",
                "build": NOMAD_VERSION,
                "dc": info.datacenter,
                "expect": "1",
                "id": self._deps.server_id,
                "port": port,
                "raft_vsn": "3",
                "region": info.region,
                "revision": "",
                "role": "nomad",
                "rpc_addr": host,
                "vsn": "1",
            },
        )

    def _stats(self) -> dict[str, dict[str, str]]:
        state = self._deps.state
        agent = self._deps.node_agent
        client = {} if agent is None else {"client": self._client_stats(agent.node_id)}
        return {
            **client,
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

    def _client_stats(self, node_id: NodeID) -> dict[str, str]:
        live = (alloc for alloc in self._deps.state.allocs.of_node(node_id) if not alloc.is_client_terminal)
        return {
            "node_id": node_id,
            "known_servers": self._deps.info.rpc_address,
            "num_allocations": str(sum(1 for _ in live)),
        }


def _text_of(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError as error:
        return f"{path} cannot be read: {error.strerror}"


def _disks(directory: str) -> dict[str, DiskUse]:
    """How full the disks are, by where they are mounted."""
    return {
        disk.mountpoint: DiskUse(disk_mb=disk.size // 2**20, used_mb=disk.used // 2**20)
        for disk in host_stats(directory, mhz=0.0).disk_stats
    }


def _environment() -> dict[str, str]:
    """The agent's environment, without what must stay secret."""
    return {
        name: "<redacted>" if any(word in name.upper() for word in _SECRET_WORDS) else value
        for name, value in os.environ.items()
    }
