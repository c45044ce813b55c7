"""The agent: a server, a node agent or both, in one process, until told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Awaitable, Callable, Collection
from pathlib import Path
from random import Random, SystemRandom
from typing import TYPE_CHECKING

import msgspec
import uvloop
from starlette.types import ASGIApp

from yurt.agent_guards import auditor, call_rates, http_limits, open_audit_log, rpc_limits
from yurt.agent_tls import load_tls
from yurt.api.app import HttpApp
from yurt.api.deps import AgentInfo, Deps
from yurt.api.http_server import HttpServer, bind
from yurt.api.internal.rpc import rpc_routes
from yurt.api.internal.rpc_app import RpcApp
from yurt.api.routes import RouteTable
from yurt.api.simple.app import SimpleApp
from yurt.api.simple.table import simple_routes
from yurt.api.task_api import TaskApiApp, TaskApiDoor, TaskRelay
from yurt.api.v1.table import v1_routes
from yurt.clock import SystemClock
from yurt.config import AgentConfig, reloadable_changes, reloaded
from yurt.config.blocks.server import PreemptionConfig as PreemptionBlock
from yurt.config.blocks.server import SchedulerConfig
from yurt.config.quantities import nanoseconds
from yurt.errors import YurtError
from yurt.model.acl.token import TokenLimits
from yurt.model.scheduler_configuration import (
    PRIORITY_DELTA_DEFAULT,
    PreemptionConfig,
    SchedulerConfiguration,
)
from yurt.observe import logger as log_setup
from yurt.observe.audit import AuditLog
from yurt.observe.logger import get_logger
from yurt.rehearsal import rehearse
from yurt.scheduler.ids import new_id
from yurt.scheduler.kinds.core import Thresholds
from yurt.server.plan_rejections import RejectionLimits
from yurt.server.server import Server
from yurt.server.settings import AclSettings, IntroductionSettings, SearchLimits, ServerSettings
from yurt.simple_listeners import AGENT_SETTING, SERVER_SETTING, simple_sockets
from yurt.start_banner import banner

if TYPE_CHECKING:
    from yurt.agent.agent import NodeAgent
    from yurt.agent.server_link import HttpServerLink, ServerLink

# How long open requests may go on once the agent is told to stop.
STOP_GRACE_S = 5.0

COLLECT_AFTER_OBJECTS = 50_000
COLLECT_OLDER_AFTER = 20
COLLECT_ALL_AFTER = 100

logger = get_logger("agent")


def run(config: AgentConfig, reload: Callable[[], AgentConfig] | None = None) -> int:
    """Run an agent until SIGINT or SIGTERM; SIGHUP calls `reload`. Returns the exit code.

    Raises YurtError with one clear line if it cannot start.
    """
    log_setup.configure(config.log_level, json=config.log_json, stream=sys.stdout)
    calm_collector()
    with contextlib.ExitStack() as cleanup:
        keeps = bool(config.data_dir)
        if not keeps:
            config = _with_temporary_data_dir(config, cleanup)
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(_Agent(config, reload, keeps=keeps).run())


def calm_collector() -> None:
    """Look for reference cycles less often: State holds millions of objects and makes none.

    Each full look visits every object; at the interpreter's own pace that costs about a quarter of the
    time spent on registering jobs once there are ten thousand.
    """
    gc.enable()
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER_OBJECTS, COLLECT_OLDER_AFTER, COLLECT_ALL_AFTER)


class _Agent:
    """The parts of one agent, and their lives."""

    def __init__(self, config: AgentConfig, reload: Callable[[], AgentConfig] | None, *, keeps: bool) -> None:
        self._config = config
        self._keeps = keeps
        self._reload = reload
        self._clock = SystemClock()
        # Seeded from the machine: ids must not repeat, and reading its entropy for each would cost.
        self._rng = Random(SystemRandom().getrandbits(256))
        self._stop = asyncio.Event()
        self._tls = load_tls(config, self._clock)
        self._http: HttpServer | None = None
        self._rpc: HttpServer | None = None
        self._simple: list[HttpServer] = []
        self._link: HttpServerLink | None = None
        self._audit: AuditLog | None = None
        self._renewal: asyncio.Task[None] | None = None

    async def run(self) -> int:
        """Start everything, serve, and stop everything."""
        config = self._config
        async with contextlib.AsyncExitStack() as parts:
            # Ports first: an agent that cannot serve must not touch its data.
            # A standalone client serves nothing but the simple API.
            hosts = () if config.simple_api.standalone else config.addresses.http_hosts
            http_sockets = [bind(host, config.ports.http, "ports.http") for host in hosts]
            rpc_sockets = (
                [bind(config.addresses.rpc, config.ports.rpc, "ports.rpc")] if config.server.enabled else []
            )
            for sock in (*http_sockets, *rpc_sockets):
                parts.callback(sock.close)
            self._audit = open_audit_log(config)
            if self._audit is not None:
                parts.push_async_callback(self._audit.close)
            server = await self._open_server(parts)
            link: ServerLink | None = server.nodes if server is not None else None
            node_agent = await self._open_client(parts, link)
            sys.stdout.write(banner(config, node_agent.node_id if node_agent is not None else ""))
            for notice in config.notices:
                logger.warning(notice.event, text=notice.text, keys=list(notice.keys))
            self._watch_signals()
            duties: list[Awaitable[None]] = []
            if server is not None:
                duties.append(server.run())
                deps = Deps(
                    server,
                    node_agent,
                    self._info(server),
                    self._rng,
                    reload=self._on_hangup,
                    peers_tls=lambda: self._tls.nodes,
                )
                app = HttpApp(
                    v1_routes(deps),
                    extra_headers=config.http_api_response_headers,
                    rates=call_rates(config, self._clock),
                    auditor=auditor(self._audit, config, self._clock, lambda: new_id(self._rng)),
                )
                self._http = HttpServer(app, http_sockets, tls=self._tls.http, limits=http_limits(config))
                duties.append(self._http.serve(self._stop, STOP_GRACE_S))
                for_tasks = TaskApiApp(app, server.authority, server.identities)
                if node_agent is not None:
                    node_agent.serve_tasks(lambda: TaskApiDoor(for_tasks))
                duties += self._serve_simple(
                    parts, simple_routes(deps), config.simple_api.port, SERVER_SETTING
                )
                rpc = RpcApp(
                    HttpApp(
                        rpc_routes(server.nodes, server.fleets, server.introductions, callers=self._callers)
                    ),
                    app,
                    tasks=for_tasks,
                    callers=self._callers,
                )
                self._rpc = HttpServer(rpc, rpc_sockets, tls=self._tls.rpc, limits=rpc_limits(config))
                duties.append(self._rpc.serve(self._stop, STOP_GRACE_S))
            elif node_agent is not None and http_sockets:
                door = self._door(node_agent)
                node_agent.serve_tasks(lambda: TaskApiDoor(TaskRelay(door)))
                self._http = HttpServer(door, http_sockets, tls=self._tls.http, limits=http_limits(config))
                duties.append(self._http.serve(self._stop, STOP_GRACE_S))
            if node_agent is not None:
                duties.append(node_agent.run())
                duties += self._serve_simple_agent(parts, node_agent, server)
            await self._until_stopped(duties)
        logger.info("agent.stopped")
        return 0

    def _callers(self) -> Collection[str]:
        """The names of which the certificate of a node or server must have one."""
        return self._config.rpc_callers

    def _door(self, node_agent: NodeAgent) -> ASGIApp:
        # A server without a client need not carry the client's weight.
        from yurt.api.node_door import NodeDoor  # noqa: PLC0415

        assert self._link is not None, "a node without a server in its process has a link to one"
        link = self._link
        return NodeDoor(
            node_agent,
            self._clock,
            servers=lambda: link.addresses,
            tls=lambda: self._tls.calls,
            server_name=self._config.server_tls_name,
        )

    def _serve_simple(
        self, parts: contextlib.AsyncExitStack, table: RouteTable, port: int, setting: str
    ) -> list[Awaitable[None]]:
        """Serve a part of the simple dialect, if it is on and its port is free."""
        sockets = simple_sockets(self._config, port, setting)
        for sock in sockets:
            parts.callback(sock.close)
        app = SimpleApp(
            table,
            allowed_origins=self._config.simple_api.allowed_origins,
            open_reads=self._config.dev,
            auditor=auditor(self._audit, self._config, self._clock, lambda: new_id(self._rng)),
        )
        if not sockets:
            return []
        server = HttpServer(app, sockets, tls=self._tls.http, limits=http_limits(self._config))
        self._simple.append(server)
        return [server.serve(self._stop, STOP_GRACE_S)]

    def _serve_simple_agent(
        self, parts: contextlib.AsyncExitStack, node_agent: NodeAgent, server: Server | None
    ) -> list[Awaitable[None]]:
        """Serve a node agent's part of the simple dialect, if somebody can tell who may call it."""
        from yurt.api.simple.agent import agent_routes  # noqa: PLC0415 (the client's weight, as below)

        config = self._config
        if config.acl.enabled and server is None:
            text = "access is controlled, and only an agent with a server can tell who may use this"
            logger.warning("simple_api.not_served", setting=AGENT_SETTING, text=text)
            return []
        authority = server.authority if server is not None and server.authority.is_enabled else None
        table = agent_routes(node_agent, self._clock, authority)
        return self._serve_simple(parts, table, config.simple_api.agent_port, AGENT_SETTING)

    async def _until_stopped(self, duties: list[Awaitable[None]]) -> None:
        """Run all duties until told to stop; one that fails ends the agent with its error."""
        tasks = [asyncio.ensure_future(duty) for duty in duties]
        stop = asyncio.ensure_future(self._stop.wait())
        try:
            await asyncio.wait({*tasks, stop}, return_when=asyncio.FIRST_COMPLETED)
            failed = next((task for task in tasks if task.done() and task.exception() is not None), None)
            if failed is not None:
                failed.result()
        finally:
            self._stop.set()
            for task in (*tasks, stop):
                task.cancel()
            await asyncio.gather(*tasks, stop, return_exceptions=True)

    async def _open_server(self, parts: contextlib.AsyncExitStack) -> Server | None:
        if not self._config.server.enabled:
            return None
        server = await Server.open(server_settings(self._config, keeps=self._keeps), self._clock, self._rng)
        parts.push_async_callback(server.close)
        await rehearse(self._clock)
        return server

    async def _open_client(
        self, parts: contextlib.AsyncExitStack, link: ServerLink | None
    ) -> NodeAgent | None:
        config = self._config
        if not config.client.enabled:
            return None
        # A server without a client need not carry the client's weight.
        from yurt.agent.agent import NodeAgent  # noqa: PLC0415
        from yurt.agent.server_link import HttpServerLink  # noqa: PLC0415
        from yurt.agent.simple_allocs import alloc_words_of  # noqa: PLC0415
        from yurt.agent.standalone_link import StandaloneLink  # noqa: PLC0415
        from yurt.config.client_settings import client_settings  # noqa: PLC0415

        if config.simple_api.standalone:
            simple = config.simple_api
            standalone = StandaloneLink(
                simple.server, config.simple_endpoint, clock=self._clock, token=simple.token
            )
            parts.push_async_callback(standalone.close)
            node_agent = await NodeAgent.open(client_settings(config), standalone, self._clock, self._rng)
            standalone.say = lambda: alloc_words_of(node_agent)
            parts.push_async_callback(node_agent.close)
            return node_agent
        if link is None:
            self._link = HttpServerLink(
                config.client.servers, tls=self._tls.calls, server_name=config.server_tls_name
            )
            parts.push_async_callback(self._link.close)
            link = self._link
        node_agent = await NodeAgent.open(client_settings(config), link, self._clock, self._rng)
        node_agent.use_tls_for_peers(lambda: self._tls.nodes)
        parts.push_async_callback(node_agent.close)
        return node_agent

    def _info(self, server: Server) -> AgentInfo:
        config = self._config
        return AgentInfo(
            name=config.name,
            region=config.region,
            datacenter=config.datacenter,
            config=config.as_nomad_json(),
            http_address=config.advertise.http,
            rpc_address=server.settings.rpc_advertise,
            has_client=config.client.enabled,
            pid=os.getpid(),
        )

    def _watch_signals(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._stop.set)
        loop.add_signal_handler(signal.SIGHUP, self._on_hangup)

    def _on_hangup(self) -> None:
        """Take over what can change while running; a bad file changes nothing."""
        if self._reload is None:
            return
        try:
            fresh = self._reload()
            applied, ignored = reloadable_changes(self._config, fresh)
            changed = reloaded(self._config, fresh)
            # Files may hold new certificates under their old names.
            self._tls = load_tls(changed, self._clock)
        except YurtError as error:
            logger.error("config.not_reloaded", error=str(error))
            return
        self._config = changed
        self._renewal = asyncio.ensure_future(self._renew_tls())
        if self._audit is not None:
            self._audit.reopen()
        log_setup.configure(self._config.log_level, json=self._config.log_json, stream=sys.stdout)
        logger.info("config.reloaded", applied=list(applied), needs_restart=list(ignored))

    async def _renew_tls(self) -> None:
        if self._link is not None:
            self._link.renew_tls(self._tls.calls)
        for server, tls in ((self._http, self._tls.http), (self._rpc, self._tls.rpc)):
            if server is not None:
                await server.renew_tls(tls)
        for simple in self._simple:
            await simple.renew_tls(self._tls.http)


def _with_temporary_data_dir(config: AgentConfig, cleanup: contextlib.ExitStack) -> AgentConfig:
    """An agent that was given no data_dir gets one that goes with it."""
    assert config.keeps_nothing, "only a dev agent or a standalone one may lack a data_dir"
    directory = tempfile.mkdtemp(prefix="yurt-dev-")
    cleanup.callback(shutil.rmtree, directory, ignore_errors=True)
    # Tasks run as other users too and must reach their directories below.
    Path(directory).chmod(0o755)
    return msgspec.structs.replace(config, data_dir=directory)


def _preemption(block: PreemptionBlock) -> PreemptionConfig:
    """The block as the API has it: what Nomad does not know is left out unless it was set."""
    settings = msgspec.structs.asdict(block)
    if block.priority_delta == PRIORITY_DELTA_DEFAULT:
        del settings["priority_delta"]
    return PreemptionConfig(**settings)


def server_settings(config: AgentConfig, *, keeps: bool) -> ServerSettings:
    """The server's part of the configuration; without `keeps` it writes nothing to disk."""
    server = config.server
    first = server.default_scheduler_config or SchedulerConfig()
    return ServerSettings(
        name=config.name,
        region=config.region,
        datacenter=config.datacenter,
        data_dir=Path(config.directories().server) if keeps else None,
        min_heartbeat_ttl_s=server.min_heartbeat_ttl_s,
        heartbeat_grace_s=server.heartbeat_grace_s,
        failover_heartbeat_ttl_s=server.failover_heartbeat_ttl_s,
        max_heartbeats_per_second=server.max_heartbeats_per_second,
        snapshot_interval_s=server.raft_snapshot_interval_s,
        snapshot_threshold=server.raft_snapshot_threshold,
        trailing_entries=server.raft_trailing_logs,
        gc_interval_s=server.job_gc_interval_s,
        gc_thresholds=Thresholds(
            evals=nanoseconds(server.eval_gc_threshold_s),
            batch_evals=nanoseconds(server.batch_eval_gc_threshold_s),
            jobs=nanoseconds(server.job_gc_threshold_s),
            deployments=nanoseconds(server.deployment_gc_threshold_s),
            nodes=nanoseconds(server.node_gc_threshold_s),
            acl_tokens=nanoseconds(server.acl_token_gc_threshold_s),
        ),
        job_max_count=server.job_max_count,
        job_priority_default=server.job_default_priority,
        job_priority_max=server.job_max_priority,
        job_source_bytes_max=server.job_max_source_bytes,
        job_versions_kept=server.job_tracked_versions,
        plan_rejections=(
            RejectionLimits(
                threshold=server.plan_rejection_tracker.node_threshold,
                window_s=server.plan_rejection_tracker.node_window_s,
            )
            if server.plan_rejection_tracker.enabled
            else None
        ),
        event_batches_kept=server.event_buffer_size,
        search=SearchLimits(
            is_fuzzy=server.search.fuzzy_enabled,
            ids_max=server.search.limit_query,
            names_max=server.search.limit_results,
            text_length_min=server.search.min_term_length,
        ),
        introductions=IntroductionSettings(
            enforcement=server.client_introduction.enforcement,
            default_ttl=nanoseconds(server.client_introduction.default_identity_ttl_s),
            ttl_max=nanoseconds(server.client_introduction.max_identity_ttl_s),
        ),
        acl=AclSettings(
            is_enabled=config.acl.enabled,
            token_ttl=TokenLimits(
                ttl_min=nanoseconds(config.acl.token_min_expiration_ttl_s),
                ttl_max=nanoseconds(config.acl.token_max_expiration_ttl_s),
            ),
        ),
        first_scheduler_configuration=SchedulerConfiguration(
            scheduler_algorithm=first.scheduler_algorithm,
            memory_oversubscription_enabled=first.memory_oversubscription_enabled,
            reject_job_registration=first.reject_job_registration,
            pause_eval_broker=first.pause_eval_broker,
            preemption_config=_preemption(first.preemption_config),
        ),
        **({"enabled_schedulers": server.enabled_schedulers} if server.enabled_schedulers else {}),
        rpc_advertise=config.advertise.rpc,
        oidc_issuer=server.oidc_issuer,
        root_key_gc_interval_s=server.root_key_gc_interval_s,
        root_key_gc_threshold=nanoseconds(server.root_key_gc_threshold_s),
        root_key_rotation_threshold=nanoseconds(server.root_key_rotation_threshold_s),
    )
