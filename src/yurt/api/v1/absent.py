"""Routes of what Yurt does not have, answered as a cluster without any of it answers."""

from __future__ import annotations

from typing import Any

from yurt.api import needs
from yurt.api.answer import Answer, empty_answer, text_answer
from yurt.api.call import Call
from yurt.api.deps import Deps
from yurt.api.errors import HttpError
from yurt.api.needs import Need
from yurt.api.routes import ANY_METHOD, WRITE, Handler, Route
from yurt.api.v1.host_volumes import HostVolumeHandlers
from yurt.model.wire import Wire

ENTERPRISE_ONLY = "Nomad Enterprise only endpoint"

_ENTERPRISE_PATHS = (
    "/v1/sentinel/policies",
    "/v1/sentinel/policy/{name}",
    "/v1/recommendation",
    "/v1/recommendations",
    "/v1/recommendations/apply",
    "/v1/recommendation/{recommendation_id}",
)


_LISTS_CSI = ("csi-list-volume", "csi-read-volume", "csi-mount-volume", "list-jobs")


class _CsiVolume(Wire, frozen=True, kw_only=True):
    """A volume, as far as it is looked at before its plugin is."""

    id: str = ""
    plugin_id: str = ""
    requested_capabilities: list[Any] | None = None
    clone_id: str = ""
    snapshot_id: str = ""

    def problems(self) -> list[str]:
        """What is wrong with it, whatever its plugin may say."""
        found = {
            "missing volume id": not self.id,
            "missing plugin id": not self.plugin_id,
            "only one of snapshot_id and clone_id is allowed": bool(self.snapshot_id and self.clone_id),
            "must include at least one capability block": not self.requested_capabilities,
        }
        return [problem for problem, is_so in found.items() if is_so]


class _CsiVolumes(Wire, frozen=True, kw_only=True):
    """The body of a write of volumes."""

    volumes: list[_CsiVolume] | None = None


class _CsiSnapshot(Wire, frozen=True, kw_only=True):
    """A snapshot that is asked for, as far as it is looked at."""

    source_volume_id: str = ""


class _CsiSnapshots(Wire, frozen=True, kw_only=True):
    """The body of a request for snapshots."""

    snapshots: list[_CsiSnapshot] | None = None


class AbsentHandlers:
    """The handlers of enterprise features and CSI."""

    def __init__(self, deps: Deps, host_volumes: HostVolumeHandlers) -> None:
        self._deps = deps
        self._host_volumes = host_volumes

    def routes(self) -> tuple[Route, ...]:
        """Their part of the route table."""
        return (*self._enterprise_routes(), *self._volume_routes())

    def _enterprise_routes(self) -> tuple[Route, ...]:
        return (
            *(
                Route(
                    path=path,
                    handlers=dict.fromkeys(ANY_METHOD, self.enterprise),
                    summary="Refuse what only Nomad Enterprise has",
                    needs=needs.KNOWN_CALLER,
                )
                for path in _ENTERPRISE_PATHS
            ),
            Route(
                path="/v1/operator/license",
                handlers={"GET": self.license, "PUT": self.enterprise},
                summary="Say that no licence is needed",
                success_status={"GET": 204},
                needs=needs.KNOWN_CALLER,
            ),
            Route(
                path="/v1/operator/utilization",
                handlers={"POST": self.enterprise},
                summary="Refuse what only Nomad Enterprise has",
                needs=needs.operator("write"),
            ),
        )

    def _volume_routes(self) -> tuple[Route, ...]:
        csi_write = needs.All((needs.namespace("csi-write-volume"), needs.plugin("read")))
        routes: tuple[tuple[str, dict[str, tuple[Handler, Need]], str], ...] = (
            (
                "/v1/volumes",
                {
                    "GET": (
                        self.volumes,
                        needs.Checked(told="ns:csi-list-volume for type csi", check=_may_list_volumes),
                    ),
                    **dict.fromkeys(WRITE, (self.no_volumes, csi_write)),
                },
                "List volumes",
            ),
            (
                "/v1/volumes/external",
                {"GET": (self.no_plugin, needs.listed(*_LISTS_CSI))},
                "Refuse to ask a plugin for volumes",
            ),
            (
                "/v1/volumes/snapshot",
                {
                    "GET": (self.no_plugin, needs.listed(*_LISTS_CSI)),
                    **dict.fromkeys(WRITE, (self.no_snapshots, csi_write)),
                    "DELETE": (self.no_plugin, csi_write),
                },
                "Refuse to ask a plugin for snapshots",
            ),
            (
                "/v1/volume/csi/{volume_id}/create",
                {"PUT": (self.no_volumes, csi_write)},
                "Refuse to make a volume",
            ),
            (
                "/v1/volume/csi/{volume_id}/delete",
                {"DELETE": (self.no_csi_volume, csi_write)},
                "Find no volume to destroy",
            ),
            (
                "/v1/volume/csi/{volume_id}/detach",
                {
                    "DELETE": (
                        self.no_attached_volume,
                        needs.All((needs.namespace("csi-mount-volume"), needs.plugin("read"))),
                    )
                },
                "Find no volume to detach",
            ),
            (
                "/v1/volume/csi/{volume_id}",
                {
                    "GET": (
                        self.no_volume,
                        needs.namespace("csi-read-volume", "csi-mount-volume", "read-job"),
                    ),
                    "PUT": (self.no_volumes, csi_write),
                    "DELETE": (self.no_csi_volume, needs.namespace("csi-write-volume")),
                },
                "Find no volume",
            ),
            ("/v1/plugins", {"GET": (self.plugins, needs.plugin("list"))}, "List plugins"),
            (
                "/v1/plugin/csi/{plugin_id}",
                {"GET": (self.missing_plugin, needs.plugin("read"))},
                "Find no plugin",
            ),
        )
        return tuple(
            Route(
                path=path,
                handlers={method: handler for method, (handler, _) in served.items()},
                needs={method: need for method, (_, need) in served.items()},
                summary=summary,
            )
            for path, served, summary in routes
        )

    async def enterprise(self, _call: Call) -> Answer:
        """What only Nomad Enterprise has."""
        raise HttpError(501, ENTERPRISE_ONLY)

    async def license(self, _call: Call) -> Answer:
        """GET /v1/operator/license: nothing, successfully."""
        answer = empty_answer()
        answer.status = 204
        return answer

    async def volumes(self, call: Call) -> Answer:
        """GET /v1/volumes."""
        kind = call.query.get("type", "")
        if not kind:
            return Answer(body=[])
        if kind not in ("csi", "host"):
            raise HttpError(404, "resource not found")
        if kind == "host":
            return await self._host_volumes.list(call)
        return Answer(body=[], index=0, is_read=True)

    async def plugins(self, call: Call) -> Answer:
        """GET /v1/plugins."""
        kind = call.query.get("type", "")
        if not kind:
            return Answer(body=[])
        if kind != "csi":
            return empty_answer()
        return Answer(body=[], index=self._deps.state.nodes.index, is_read=True)

    async def no_volumes(self, call: Call) -> Answer:
        """A write of volumes: refused, since there is no plugin that could have them."""
        form: _CsiVolumes = await call.read(_CsiVolumes)
        if not form.volumes:
            raise HttpError(500, "missing volume definition")
        for volume in form.volumes:
            problems = volume.problems()
            if problems:
                raise HttpError(500, f"validation: {', '.join(problems)}")
        raise HttpError(500, f"no CSI plugin named: {form.volumes[0].plugin_id} could be found")

    async def no_snapshots(self, call: Call) -> Answer:
        """PUT /v1/volumes/snapshot: there is no volume to make one of."""
        form: _CsiSnapshots = await call.read(_CsiSnapshots)
        if not form.snapshots:
            raise HttpError(500, "missing snapshot definition")
        raise HttpError(500, f"volume not found: {form.snapshots[0].source_volume_id}")

    async def no_volume(self, _call: Call) -> Answer:
        """GET /v1/volume/csi/<id>."""
        return _missing("volume not found", 0)

    async def missing_plugin(self, _call: Call) -> Answer:
        """GET /v1/plugin/csi/<id>."""
        return _missing("plugin not found", 0)

    async def no_csi_volume(self, call: Call) -> Answer:
        """DELETE /v1/volume/csi/<id>."""
        try:
            call.flag("force")
        except HttpError:
            raise HttpError(400, "invalid force value") from None
        raise HttpError(500, f"volume not found: {call.path['volume_id']}")

    async def no_attached_volume(self, call: Call) -> Answer:
        """DELETE /v1/volume/csi/<id>/detach."""
        if not call.query.get("node"):
            raise HttpError(400, "detach requires node ID")
        raise HttpError(500, f"volume not found: {call.path['volume_id']}")

    async def no_plugin(self, _call: Call) -> Answer:
        """What a plugin would have to answer."""
        raise HttpError(500, "no such plugin")


async def _may_list_volumes(call: Call) -> bool:
    """CSI volumes are for those who may list them; of others everybody is shown what they may see."""
    return call.query.get("type", "") != "csi" or await needs.listed(*_LISTS_CSI).is_met(call)


def _missing(text: str, index: int) -> Answer:
    answer = text_answer(404, text)
    answer.index, answer.is_read = index, True
    return answer
