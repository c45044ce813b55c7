"""/v1/volumes/claims and /v1/volumes/claim: claims of groups on sticky volumes."""

from __future__ import annotations

from yurt.api import needs
from yurt.api.answer import Answer, empty_answer
from yurt.api.call import ALL_NAMESPACES, Call
from yurt.api.deps import Deps
from yurt.api.listing import by_id
from yurt.api.routes import ANY_METHOD, Route
from yurt.model.volume_claim import VolumeClaim
from yurt.server.commands.host_volumes import HostVolumeCommands


class VolumeClaimHandlers:
    """The handlers of claims."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps
        self._commands = HostVolumeCommands(deps.server.context)

    def routes(self) -> tuple[Route, ...]:
        """Their part of the route table."""
        return (
            Route(
                path="/v1/volumes/claims",
                handlers=dict.fromkeys(ANY_METHOD, self.list),
                summary="List claims of volumes",
                needs=needs.listed("host-volume-read"),
                response=list[VolumeClaim],
            ),
            Route(
                path="/v1/volumes/claim/{claim_id}",
                handlers={"DELETE": self.delete},
                summary="Delete a claim, so that its group may go elsewhere",
                needs=needs.namespace("host-volume-delete"),
            ),
        )

    async def list(self, call: Call) -> Answer:
        """/v1/volumes/claims."""
        table = self._deps.state.volume_claims
        job_id, group = call.query.get("job_id", ""), call.query.get("task_group", "")
        volume, prefix = call.query.get("volume_name", ""), call.query.get("prefix", "")

        def wanted(claim: VolumeClaim) -> bool:
            return (
                call.namespace in (ALL_NAMESPACES, claim.namespace)
                and call.permissions.allows(claim.namespace, "host-volume-read")
                and job_id in ("", claim.job_id)
                and group in ("", claim.task_group_name)
                and volume in ("", claim.volume_name)
                and claim.id.startswith(prefix)
            )

        return await self._deps.list(
            call,
            [("volume-claims", None)],
            lambda: (max(table.index, 1), table.rows()),
            by_id(lambda claim: claim.id),
            where=wanted,
        )

    async def delete(self, call: Call) -> Answer:
        """DELETE /v1/volumes/claim/<id>."""
        index = await self._commands.delete_claim(call.path["claim_id"], call.namespace)
        return empty_answer(index)
