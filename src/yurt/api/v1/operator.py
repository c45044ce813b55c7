"""/v1/operator: how the cluster schedules, its servers, snapshots of all State."""

from __future__ import annotations

import asyncio
import base64
import os
import tempfile
import uuid
from collections.abc import AsyncIterator
from ipaddress import ip_address
from pathlib import Path

from msgspec import UNSET
from msgspec.structs import replace

from yurt.api import needs
from yurt.api.answer import Answer, empty_answer
from yurt.api.call import Call, uint64
from yurt.api.deps import Deps
from yurt.api.errors import HttpError
from yurt.api.parameters import CHECK_INDEX, STALE, text
from yurt.api.routes import ANY_METHOD, WRITE, Route
from yurt.api.v1.operator_views import (
    LeadershipTransfer,
    OperatorHealth,
    RaftConfiguration,
    RaftPeer,
    RaftServer,
    SchedulerConfigurationAnswer,
    ServerHealth,
    Updated,
    UpgradeCheck,
)
from yurt.model.autopilot import AutopilotConfiguration
from yurt.model.decode import BadRequestBody
from yurt.model.durations import duration_text, parse_duration
from yurt.model.go_types import Uint64
from yurt.model.scheduler_configuration import PreemptionConfig, SchedulerConfiguration
from yurt.model.times import SECOND_NS, time_text
from yurt.model.wire import Wire, wire_names
from yurt.server.commands.operator import ConfigurationInvalid
from yurt.version import NOMAD_VERSION

ARCHIVE_BYTES_MAX = 64 * 1024 * 1024 * 1024
DEFAULT_ALGORITHM = "binpack"
_READ_BYTES = 1 << 20
_WRONG_METHOD = (404, "Invalid method")


class PreemptionForm(
    Wire,
    frozen=True,
    kw_only=True,
    rename=wire_names(sysbatch_scheduler_enabled="SysBatchSchedulerEnabled"),
):
    """Which kinds of job may displace others; what is not said is a no."""

    system_scheduler_enabled: bool = False
    sysbatch_scheduler_enabled: bool = False
    batch_scheduler_enabled: bool = False
    service_scheduler_enabled: bool = False
    priority_delta: int | None = None


class SchedulerConfigurationForm(Wire, frozen=True, kw_only=True):
    """How the cluster is to schedule, whole: what is not said is off."""

    scheduler_algorithm: str = ""
    preemption_config: PreemptionForm = PreemptionForm()
    memory_oversubscription_enabled: bool = False
    reject_job_registration: bool = False
    pause_eval_broker: bool = False
    node_limit_for_feasibility_checks: Uint64 = 0


class AutopilotForm(Wire, frozen=True, kw_only=True):
    """How the servers are to look after each other, whole."""

    cleanup_dead_servers: bool = False
    last_contact_threshold: str = ""
    max_trailing_logs: Uint64 = 0
    min_quorum: Uint64 = 0
    server_stabilization_time: str = ""
    enable_redundancy_zones: bool = False
    disable_upgrade_migration: bool = False
    enable_custom_upgrades: bool = False


class OperatorHandlers:
    """The handlers of /v1/operator."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    def routes(self) -> tuple[Route, ...]:
        """Their part of the route table."""
        return (
            Route(
                path="/v1/operator/scheduler/configuration",
                handlers={"GET": self.read_scheduler, **dict.fromkeys(WRITE, self.set_scheduler)},
                summary="Read or replace how the cluster schedules",
                takes={"GET": (STALE,), **dict.fromkeys(WRITE, (CHECK_INDEX,))},
                response={"GET": SchedulerConfigurationAnswer, **dict.fromkeys(WRITE, Updated)},
                needs={"GET": needs.operator("read"), **dict.fromkeys(WRITE, needs.operator("write"))},
                request=SchedulerConfigurationForm,
            ),
            Route(
                path="/v1/operator/snapshot",
                handlers={"GET": self.save, **dict.fromkeys(WRITE, self.restore)},
                summary="Save all state to an archive, or restore it from one",
                takes={"GET": (STALE,)},
                content_type="application/x-gzip",
                needs={
                    "GET": needs.OperatorCapability("snapshot-save"),
                    **dict.fromkeys(WRITE, needs.MANAGEMENT),
                },
            ),
            Route(
                path="/v1/operator/autopilot/configuration",
                handlers={"GET": self.read_autopilot, "PUT": self.set_autopilot},
                summary="Read or replace how the servers look after each other",
                takes={"GET": (STALE,), "PUT": (CHECK_INDEX,)},
                needs={"GET": needs.operator("read"), "PUT": needs.operator("write")},
                wrong_method=_WRONG_METHOD,
                request=AutopilotForm,
                response={"GET": AutopilotConfiguration, "PUT": bool},
            ),
            Route(
                path="/v1/operator/autopilot/health",
                handlers={"GET": self.autopilot_health},
                summary="Say whether the servers are well",
                response=OperatorHealth,
                needs=needs.operator("read"),
                wrong_method=_WRONG_METHOD,
            ),
            Route(
                path="/v1/operator/raft/configuration",
                handlers={"GET": self.raft_configuration},
                summary="List the servers that keep the log",
                takes=(STALE,),
                response=RaftConfiguration,
                needs=needs.MANAGEMENT,
                wrong_method=(405, ""),
            ),
            Route(
                path="/v1/operator/raft/peer",
                handlers={"DELETE": self.remove_peer},
                summary="Remove a server from those that keep the log",
                takes=(text("id", "The server's id."), text("address", "Refused: name the id.")),
                needs=needs.MANAGEMENT,
                wrong_method=_WRONG_METHOD,
            ),
            Route(
                path="/v1/operator/raft/transfer-leadership",
                handlers=dict.fromkeys(WRITE, self.transfer_leadership),
                summary="Make another server the leader",
                takes=(text("id", "The server's id."), text("address", "The server's address, `IP:port`.")),
                response=LeadershipTransfer,
                needs=needs.MANAGEMENT,
            ),
            Route(
                path="/v1/operator/raft/{action}",
                handlers=dict.fromkeys(ANY_METHOD, self.unknown_raft),
                summary="Refuse unknown actions",
                needs=needs.MANAGEMENT,
            ),
            Route(
                path="/v1/operator/upgrade-check/{check}",
                handlers={"GET": self.upgrade_check},
                summary="Say what keeps the cluster from an upgrade",
                response=UpgradeCheck,
                needs=needs.operator("read"),
            ),
        )

    async def read_scheduler(self, call: Call) -> Answer:
        """GET /v1/operator/scheduler/configuration."""
        call.check_read()
        stored = self._deps.state.scheduler_configuration
        body = SchedulerConfigurationAnswer(scheduler_config=stored, index=stored.modify_index)
        return Answer(body=body, index=stored.modify_index, is_read=True)

    async def set_scheduler(self, call: Call) -> Answer:
        """PUT /v1/operator/scheduler/configuration."""
        try:
            form: SchedulerConfigurationForm = await call.read(SchedulerConfigurationForm)
        except BadRequestBody as error:
            raise HttpError(400, f"Error parsing scheduler config: {error}") from None
        preemption = form.preemption_config
        configuration = SchedulerConfiguration(
            scheduler_algorithm=form.scheduler_algorithm or DEFAULT_ALGORITHM,
            preemption_config=PreemptionConfig(
                system_scheduler_enabled=preemption.system_scheduler_enabled,
                sysbatch_scheduler_enabled=preemption.sysbatch_scheduler_enabled,
                batch_scheduler_enabled=preemption.batch_scheduler_enabled,
                service_scheduler_enabled=preemption.service_scheduler_enabled,
                priority_delta=UNSET if preemption.priority_delta is None else preemption.priority_delta,
            ),
            memory_oversubscription_enabled=form.memory_oversubscription_enabled,
            reject_job_registration=form.reject_job_registration,
            pause_eval_broker=form.pause_eval_broker,
            node_limit_for_feasibility_checks=form.node_limit_for_feasibility_checks,
        )
        try:
            done = await self._deps.commands.operator.set_scheduler_configuration(
                configuration, check_index=_check_index(call)
            )
        except ConfigurationInvalid as error:
            raise HttpError(400, str(error)) from None
        return Answer(body=Updated(updated=done.is_updated, index=done.index), index=done.index)

    async def read_autopilot(self, _call: Call) -> Answer:
        """GET /v1/operator/autopilot/configuration."""
        return Answer(body=self._deps.state.autopilot_configuration)

    async def set_autopilot(self, call: Call) -> Answer:
        """PUT /v1/operator/autopilot/configuration."""
        try:
            form: AutopilotForm = await call.read(AutopilotForm)
        except BadRequestBody as error:
            raise HttpError(400, f"Error parsing autopilot config: {error}") from None
        given = {name: getattr(form, name) for name in AutopilotForm.__struct_fields__}
        for name in ("last_contact_threshold", "server_stabilization_time"):
            given[name] = _duration(given[name])
        done = await self._deps.commands.operator.set_autopilot_configuration(
            replace(AutopilotConfiguration(), **given), check_index=_check_index(call)
        )
        return Answer(body=done.is_updated)

    async def autopilot_health(self, _call: Call) -> Answer:
        """GET /v1/operator/autopilot/health."""
        info, server_id = self._deps.info, self._deps.server_id
        server = ServerHealth(
            id=server_id,
            name=f"{info.name}.{info.region}",
            address=info.rpc_address,
            serf_status="alive",
            version=NOMAD_VERSION,
            leader=True,
            last_contact="0s",
            last_term=1,
            last_index=self._deps.server.log.last_index,
            healthy=True,
            voter=True,
            stable_since=time_text(self._deps.started_at // SECOND_NS * SECOND_NS),
        )
        return Answer(
            body=OperatorHealth(
                healthy=True,
                failure_tolerance=0,
                servers=(server,),
                leader=server_id,
                voters=(server_id,),
            )
        )

    async def raft_configuration(self, _call: Call) -> Answer:
        """GET /v1/operator/raft/configuration."""
        info = self._deps.info
        server = RaftServer(
            id=self._deps.server_id,
            node=f"{info.name}.{info.region}",
            address=info.rpc_address,
            leader=True,
            voter=True,
            raft_protocol="3",
        )
        return Answer(body=RaftConfiguration(servers=(server,)))

    async def remove_peer(self, call: Call) -> Answer:
        """DELETE /v1/operator/raft/peer: the only server cannot be removed."""
        if call.query.get("address"):
            raise HttpError(
                400, "Removing a peer by address is not supported in the current raft protocol version"
            )
        peer = call.query.get("id", "")
        if not peer:
            raise HttpError(400, "Must specify the peer's ID to remove")
        if peer != self._deps.server_id:
            raise HttpError(500, f'id "{peer}" was not found in the Raft configuration')
        raise HttpError(500, "the only server cannot be removed; add another one first")

    async def transfer_leadership(self, call: Call) -> Answer:
        """PUT /v1/operator/raft/transfer-leadership: to the only server, hence nothing to do."""
        wanted = _wanted_leader(call)
        info = self._deps.info
        own = RaftPeer(address=info.rpc_address, id=self._deps.server_id)
        name = "id" if "id" in call.query else "address"
        if wanted not in (own.address, own.id):
            raise HttpError(400, f'{name} "{wanted}" was not found in the Raft configuration')
        return Answer(body=LeadershipTransfer(sender=own, target=own, noop=True))

    async def unknown_raft(self, _call: Call) -> Answer:
        """/v1/operator/raft/<anything else>."""
        raise HttpError(404, "Invalid method")

    async def upgrade_check(self, call: Call) -> Answer:
        """GET /v1/operator/upgrade-check/<check>."""
        if call.path["check"] != "vault-workload-identity":
            raise HttpError(404, f"Path {call.url_path} not found")
        index = self._deps.state.index
        return Answer(body=UpgradeCheck(index=index), index=index, is_read=True)

    async def save(self, _call: Call) -> Answer:
        """GET /v1/operator/snapshot."""
        path = _temporary_file()
        try:
            sha256 = await self._deps.server.save_archive(path)
            size = path.stat().st_size
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        digest = base64.b64encode(bytes.fromhex(sha256)).decode()
        return Answer(
            stream=_file_parts(path),
            content_type="application/x-gzip",
            headers={"Digest": f"sha-256={digest}", "Content-Length": str(size)},
            index=self._deps.state.index,
            is_read=True,
            # It is compressed already, and its length is told.
            is_compressible=False,
        )

    async def restore(self, call: Call) -> Answer:
        """PUT /v1/operator/snapshot."""
        path = _temporary_file()
        try:
            with path.open("wb") as file:
                async for part in call.stream(ARCHIVE_BYTES_MAX):
                    await asyncio.to_thread(file.write, part)
            await self._deps.server.restore_archive(path)
        finally:
            path.unlink(missing_ok=True)
        return empty_answer(self._deps.state.index)


def _duration(text: str) -> str:
    """A duration in its usual form; an empty text is none at all."""
    try:
        return duration_text(parse_duration(text or "0"))
    except ValueError:
        raise HttpError(400, f'Error parsing autopilot config: time: invalid duration "{text}"') from None


def _check_index(call: Call) -> int | None:
    text = call.query.get("cas", "")
    if not text:
        return None
    index = uint64(text)
    if index is None:
        raise HttpError(400, f'Error parsing cas value: strconv.ParseUint: parsing "{text}": invalid syntax')
    return index


def _wanted_leader(call: Call) -> str:
    """The id or address of the server that is to lead. Raises HttpError."""
    ids, addresses = call.values("id"), call.values("address")
    if not ids and not addresses:
        raise HttpError(400, "must specify id or address")
    if ids and addresses:
        raise HttpError(400, "must specify either id or address")
    name, given = ("id", ids) if ids else ("address", addresses)
    if len(given) > 1:
        raise HttpError(400, f"must specify only one {name}")
    if not given[0]:
        raise HttpError(400, f"{name} must be non-empty")
    if ids:
        try:
            uuid.UUID(given[0])
        except ValueError:
            raise HttpError(400, "id must be a uuid: uuid string is wrong length") from None
        return given[0]
    host, _, port = given[0].rpartition(":")
    try:
        ip_address(host.strip("[]"))
        int(port)
    except ValueError:
        raise HttpError(400, "address must be in IP:port format: not an ip:port") from None
    return given[0]


def _temporary_file() -> Path:
    descriptor, name = tempfile.mkstemp(prefix="yurt-snapshot-")
    os.close(descriptor)
    return Path(name)


async def _file_parts(path: Path) -> AsyncIterator[bytes]:
    """The parts of a file, which is removed in the end."""
    try:
        with path.open("rb") as file:
            while part := await asyncio.to_thread(file.read, _READ_BYTES):
                yield part
    finally:
        await asyncio.to_thread(path.unlink)
