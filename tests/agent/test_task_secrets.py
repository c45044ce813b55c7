"""Secrets of a task: fetched from variables, known to its settings, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agent.alloc_harness import a_node_context, running
from tests.agent.builders import a_job, a_task, an_alloc
from tests.agent.templates.fake_data import FakeData
from tests.agent.virtual_clock import VirtualClock
from yurt.agent.node_context import NodeContext
from yurt.agent.templates.sources import OwnedQuery
from yurt.model.task_parts import Secret

PASSWORD = Secret(name="db", provider="nomad", path="nomad/jobs/j")


@pytest.fixture
def node(tmp_path: Path) -> NodeContext:
    return a_node_context(tmp_path, VirtualClock())


async def test_settings_refer_to_the_items_of_a_variable(node: NodeContext) -> None:
    data = FakeData().attach(node)
    data.put_variable("nomad/jobs/j", password="s3cret")
    task = a_task(
        config={"run_for": "1h", "stdout_string": "${secret.db.password}"},
        secrets=(PASSWORD,),
        env={"DSN": "user:${secret.db.password}@db"},
    )
    async with running(an_alloc(a_job(task)), node) as run:
        await run.until_state("t", "running")
        env = run.runner.tasks["t"].env()
        assert env.variables["DSN"] == "user:s3cret@db"
        assert "s3cret" not in (value for name, value in env.variables.items() if name != "DSN")
        assert not any("s3cret" in text for text in run.events())
        (asked,) = data.followed
        assert isinstance(asked, OwnedQuery)
        assert asked.task == "t"


async def test_a_variable_that_is_not_there_keeps_the_task_from_starting(node: NodeContext) -> None:
    FakeData().attach(node)
    task = a_task(config={"run_for": "1h"}, secrets=(PASSWORD,))
    async with running(an_alloc(a_job(task)), node) as run:
        await run.until(lambda: any("no variable nomad/jobs/j@default" in text for text in run.events()))


async def test_another_provider_is_named(node: NodeContext) -> None:
    FakeData().attach(node)
    secret = Secret(name="db", provider="vault", path="kv/db")
    task = a_task(config={"run_for": "1h"}, secrets=(secret,))
    async with running(an_alloc(a_job(task)), node) as run:
        await run.until_state("t", "dead")
        assert any('provider "vault" is not served' in text for text in run.events())
