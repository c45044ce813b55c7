"""Work beyond a quota waits, and goes on by itself once the quota has room."""

from __future__ import annotations

from typing import Any

import pytest

from tests.server.running import ScriptedNode, a_server, placed, register, until
from tests.server.virtual_time import run_virtual
from tests.state.builders import a_group, a_job
from yurt.model.alloc import CLIENT_COMPLETE
from yurt.model.namespace import Namespace
from yurt.model.quota import QuotaLimit, QuotaResources, QuotaSpec, QuotaStorage
from yurt.model.variable import VariableKey
from yurt.server.commands.namespaces import NamespaceCommands, NamespaceRefused
from yurt.server.commands.quotas import QuotaCommands, QuotaRefused, usage_of
from yurt.server.commands.variables import QuotaReached, VariableCommands
from yurt.server.server import Server


def a_quota(**limit: Any) -> QuotaSpec:
    return QuotaSpec(name="team", limits=(QuotaLimit(region="global", region_limit=QuotaResources(**limit)),))


async def limit(server: Server, **limits: Any) -> None:
    await QuotaCommands(server.context).upsert(a_quota(**limits))
    await NamespaceCommands(server.context).upsert(Namespace(name="default", quota="team"))


def test_work_resumes_when_the_quota_is_raised_or_freed() -> None:
    async def story() -> None:
        async with a_server() as server:
            await limit(server, allocations=1)
            node = ScriptedNode(server)
            await node.join()
            async with node.beating():
                await register(server, a_job("web", a_group(count=3), region="global"))
                await until(server, lambda state: len(placed(state)) == 1)
                blocked = [one for one in server.state.evals if one.status == "blocked"]
                assert [one.quota_limit_reached for one in blocked] == ["team"]
                await limit(server, allocations=2)
                await until(server, lambda state: len(placed(state)) == 2)
                await register(server, a_job("other", a_group(count=1), region="global", type="batch"))
                first = placed(server.state)[0]
                await node.look()
                await node.report(first, CLIENT_COMPLETE)
                await until(server, lambda state: len(placed(state)) + len(placed(state, "other")) == 2)
                used = server.state.quota_uses.used("team")
                assert used.amounts[-1] == 2

    run_virtual(story())


def test_a_quota_in_use_stays_and_an_unknown_one_is_refused() -> None:
    async def story() -> None:
        async with a_server() as server:
            quotas, namespaces = QuotaCommands(server.context), NamespaceCommands(server.context)
            with pytest.raises(NamespaceRefused, match="non-existent quota"):
                await namespaces.upsert(Namespace(name="default", quota="team"))
            await limit(server, cpu=1)
            with pytest.raises(QuotaRefused, match="used by namespaces: default"):
                await quotas.delete("team")
            await namespaces.upsert(Namespace(name="default"))
            await quotas.delete("team")
            with pytest.raises(QuotaRefused, match="quota not found"):
                await quotas.delete("team")
            with pytest.raises(QuotaRefused, match="must have a region"):
                await quotas.upsert(QuotaSpec(name="x", limits=(QuotaLimit(),)))
            with pytest.raises(QuotaRefused, match="invalid name"):
                await quotas.upsert(QuotaSpec(name="a b", limits=a_quota().limits))

    run_virtual(story())


async def test_variables_count_for_the_quota_of_their_namespace() -> None:
    async with a_server() as server:
        await server.keyring.rotate()
        variables = VariableCommands(server.context)
        await limit(server, storage=QuotaStorage(variables_mb=1))
        big = {"a": "x" * 60_000}
        for number in range(17):
            await variables.put(VariableKey("default", f"app/{number}"), big)
        with pytest.raises(QuotaReached):
            await variables.put(VariableKey("default", "app/more"), big)
        assert (await variables.put(VariableKey("default", "app/1"), {"a": "small"})).is_done
        assert (await variables.put(VariableKey("other", "app/more"), big)).is_done
        spec = server.state.quotas["team"]
        (used,) = usage_of(server.state, spec, "global").used.values()
        assert used.region_limit is not None
        assert used.region_limit.storage == QuotaStorage(variables_mb=1)
