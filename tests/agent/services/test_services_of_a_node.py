"""A node agent tells the servers of services, and its templates find them there."""

from __future__ import annotations

import asyncio
from pathlib import Path
from random import Random

import msgspec

from tests.agent.builders import a_job, a_task, an_alloc
from tests.agent.fake_servers import FakeServers
from tests.agent.services.service_jobs import a_check, a_port, a_service
from yurt.agent.agent import NodeAgent
from yurt.agent.drivers.mock import MockDriver, MockOptions
from yurt.agent.settings import ClientSettings
from yurt.clock import SystemClock
from yurt.model.task_parts import Template
from yurt.model.wire import AllocID


async def test_services_reach_the_servers_and_other_tasks_templates(tmp_path: Path) -> None:
    clock, servers = SystemClock(), FakeServers()
    settings = ClientSettings(state_dir="", alloc_dir=str(tmp_path / "alloc"), dev=True)
    mock = MockDriver(clock, MockOptions(enabled=True))
    agent = await NodeAgent.open(settings, servers, clock, Random(1), drivers={"mock_driver": mock})
    run = asyncio.create_task(agent.run())
    lasting = a_task(config={"run_for": "1h"})
    serving = a_job(lasting, type="service", group={"services": (a_service("db", a_check()),)})
    source = '{{ range nomadService "db" }}{{ .Address }}:{{ .Port }}{{ end }}'
    user = msgspec.structs.replace(lasting, templates=(Template(embedded_tmpl=source, dest_path="local/db"),))
    try:
        await servers.until(lambda: bool(servers.nodes))
        servers.place(an_alloc(serving, id=AllocID("a1"), ports=(a_port("http", 4711),)))
        await servers.until(lambda: bool(servers.services))
        (service,) = servers.services.values()
        assert (service.service_name, service.node_id) == ("db", agent.node_id)
        assert [result.status for result in (agent.checks(AllocID("a1")) or {}).values()] == ["pending"]

        servers.place(an_alloc(a_job(user), id=AllocID("a2")))
        await servers.until_status(AllocID("a2"), "running")
        assert (tmp_path / "alloc/a2/t/local/db").read_text() == "127.0.0.1:4711"

        servers.change(AllocID("a1"), desired_status="stop")
        await servers.until(lambda: not servers.services)
        await servers.until_status(AllocID("a1"), "complete")
        assert agent.checks(AllocID("a1")) is None
    finally:
        run.cancel()
        await asyncio.wait({run})
        await agent.close()
