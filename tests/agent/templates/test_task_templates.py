"""What recordings do not show about files that are rendered for tasks."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.agent.alloc_harness import RunningAlloc, a_node_context, running
from tests.agent.builders import ALLOC_ID, a_job, a_task, an_alloc
from tests.agent.templates.fake_data import FakeData
from tests.agent.virtual_clock import VirtualClock
from yurt.agent.drivers import TaskSpec
from yurt.agent.drivers.mock import MockDriver, MockOptions, MockTask
from yurt.agent.node_context import NodeContext
from yurt.agent.settings import TemplateSettings
from yurt.agent.state_db import AllocRecord, StoredAlloc, TaskRecord
from yurt.agent.templates.env_file import BadEnvLine, read_env_file
from yurt.agent.templates.quiet import QuietTime, next_look, quiet_time, quiet_time_of_all
from yurt.agent.templates.sources import OwnedQuery, ServiceQuery
from yurt.model.client_protocol import ClientAlloc
from yurt.model.service_registration import ServiceRegistration
from yurt.model.task_parts import RestartPolicy, Template, TemplateWait
from yurt.model.times import SECOND_NS
from yurt.model.wire import AllocID

RECORDINGS = Path(__file__).parents[2] / "recordings/nomad/client"
SERVICE = '{{ range nomadService "db" }}{{ .Port }}{{ end }}'
DB = ServiceQuery("default", "db")
FOLLOWING = '{{ with nomadVar "p" }}{{ .v }}{{ end }}'


class RememberingDriver(MockDriver):
    """A pretended driver that remembers what it was asked to start."""

    def __init__(self, clock: VirtualClock) -> None:
        super().__init__(clock, MockOptions())
        self.specs: list[TaskSpec] = []

    async def start(self, spec: TaskSpec) -> MockTask:
        self.specs.append(spec)
        return await super().start(spec)


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def driver(clock: VirtualClock) -> RememberingDriver:
    return RememberingDriver(clock)


@pytest.fixture
async def node(tmp_path: Path, clock: VirtualClock, driver: RememberingDriver) -> NodeContext:
    return a_node_context(tmp_path, clock, drivers={"mock_driver": driver})


@pytest.fixture
def data(node: NodeContext) -> FakeData:
    return FakeData().attach(node)


def a_template(data: str = "", path: str = "local/x", **changes: Any) -> Template:
    return msgspec.structs.replace(Template(embedded_tmpl=data, dest_path=path), **changes)


def alloc_with(*templates: Template, **task: Any) -> ClientAlloc:
    made = a_task(config={"run_for": "1000h"}, templates=templates, **task)
    return an_alloc(a_job(made, type="service", group={"update": None}))


def task_path(node: NodeContext, name: str) -> Path:
    return node.dirs.path(AllocID(ALLOC_ID)) / "t" / name


async def advance_until(clock: VirtualClock, condition: Callable[[], bool]) -> None:
    while not condition():
        await clock.advance(1)
        await asyncio.sleep(0.002)


def content(path: Path) -> str:
    return path.read_text() if path.exists() else ""


async def test_files_are_there_when_the_task_starts(node: NodeContext) -> None:
    templates = (
        a_template('{{ env "NOMAD_TASK_NAME" }}', "local/deep/er/x", perms="0600", uid=1234, gid=4321),
        a_template("s", "${NOMAD_SECRETS_DIR}/s"),
        a_template("a", "../alloc/a"),
        a_template("e", "/etc/rooted"),
    )
    async with running(alloc_with(*templates), node) as run:
        await run.until_state("t", "running")

        made = task_path(node, "local/deep/er/x")
        assert made.read_text() == "t"
        assert made.stat().st_mode & 0o7777 == 0o600
        if os.geteuid() == 0:
            assert (made.stat().st_uid, made.stat().st_gid) == (1234, 4321)
        assert task_path(node, "secrets/s").read_text() == "s"
        assert task_path(node, "../alloc/a").read_text() == "a"
        assert task_path(node, "etc/rooted").read_text() == "e"


@pytest.mark.parametrize("path", ["../../../x", "local/../../../x", "${NOMAD_ALLOC_DIR}/../../x"])
async def test_files_do_not_leave_the_allocation(node: NodeContext, path: str) -> None:
    async with running(alloc_with(a_template("x", path)), node) as run:
        await run.until_over()

    assert "escapes the alloc directory" in run.events()[-2]


async def test_links_lead_no_file_out_of_the_allocation(node: NodeContext, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    node.dirs.create(AllocID(ALLOC_ID), {"t": 0})
    task_path(node, "local/link").symlink_to(outside)
    async with running(alloc_with(a_template("x", "local/link/x")), node) as run:
        await run.until_over()

    assert "escapes" in run.events()[-1]
    assert list(outside.iterdir()) == []


async def test_a_link_in_the_place_of_the_file_is_replaced(node: NodeContext, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("kept")
    node.dirs.create(AllocID(ALLOC_ID), {"t": 0})
    task_path(node, "local/x").symlink_to(outside)
    async with running(alloc_with(a_template("new")), node) as run:
        await run.until_state("t", "running")
        assert task_path(node, "local/x").read_text() == "new"

    assert outside.read_text() == "kept"


async def test_sources_are_read_from_the_allocation_only(node: NodeContext, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("host")
    node.dirs.create(AllocID(ALLOC_ID), {"t": 0})
    task_path(node, "local/in.tmpl").write_text("[[ toUpper `x` ]]")
    good = a_template(source_path="local/in.tmpl", left_delim="[[", right_delim="]]")
    async with running(alloc_with(good), node) as run:
        await run.until_state("t", "running")
        assert task_path(node, "local/x").read_text() == "X"
    async with running(alloc_with(a_template(source_path=str(tmp_path / "secret"))), node) as run:
        await run.until_over()
    assert "escapes the alloc directory" in run.events()[-2]


async def test_a_node_may_allow_sources_from_anywhere(
    node: NodeContext, tmp_path: Path, driver: RememberingDriver
) -> None:
    (tmp_path / "shared.tmpl").write_text("host")
    open_template = TemplateSettings(disable_file_sandbox=True)
    node.settings = msgspec.structs.replace(node.settings, template=open_template)
    async with running(alloc_with(a_template(source_path=str(tmp_path / "shared.tmpl"))), node) as run:
        await run.until_state("t", "running")
        assert task_path(node, "local/x").read_text() == "host"
    assert len(driver.specs) == 1


async def test_env_files_become_variables(node: NodeContext, driver: RememberingDriver) -> None:
    templates = (
        a_template("A=1\nB=1", "local/one.env", envvars=True),
        a_template("B=2", "local/two.env", envvars=True),
    )
    async with running(alloc_with(*templates, env={"A": "task", "C": "task"}), node) as run:
        await run.until_state("t", "running")

    assert {name: driver.specs[0].env[name] for name in "ABC"} == {"A": "1", "B": "2", "C": "task"}


async def test_a_changed_env_file_is_seen_by_the_next_start(
    node: NodeContext, data: FakeData, driver: RememberingDriver, clock: VirtualClock
) -> None:
    data.put_variable("p", v="1")
    async with running(alloc_with(a_template(f"V={FOLLOWING}", envvars=True)), node) as run:
        await run.until_state("t", "running")
        data.put_variable("p", v="2")
        await advance_until(clock, lambda: len(driver.specs) == 2)

    assert [spec.env["V"] for spec in driver.specs] == ["1", "2"]


async def test_templates_wait_for_their_data(node: NodeContext, data: FakeData, clock: VirtualClock) -> None:
    names = [f'{{{{ nomadVar "{name}" }}}}' for name in "abcde"]
    async with running(alloc_with(a_template("".join(names))), node) as run:
        await advance_until(clock, lambda: "Template" in run.kinds())
        assert run.events()[-1] == (
            "Template: Missing: nomad.var.block(a@default.global), nomad.var.block(b@default.global), "
            "nomad.var.block(c@default.global), and 2 more"
        )
        assert run.state().state == "pending"
        for name in "abcde":
            data.put_variable(name, v="1")
        await run.until_state("t", "running")


async def test_services_are_followed(node: NodeContext, data: FakeData, clock: VirtualClock) -> None:
    template = a_template(
        '{{ range nomadService "db" }}{{ .Port }};{{ else }}none{{ end }}', change_mode="noop"
    )
    made = task_path(node, "local/x")
    async with running(alloc_with(template), node) as run:
        await run.until_state("t", "running")
        assert made.read_text() == "none"
        instance = ServiceRegistration(id="1", service_name="db", port=5432)
        data.put(ServiceQuery("default", "db"), (instance,))
        await advance_until(clock, lambda: content(made) == "5432;")

    assert run.kinds() == ["Received", "Task Setup", "Started"]


async def test_files_are_followed(node: NodeContext, clock: VirtualClock) -> None:
    template = a_template('{{ file (print (env "NOMAD_TASK_DIR") "/in") }}!', change_mode="noop")
    made, source = task_path(node, "local/x"), task_path(node, "local/in")
    node.dirs.create(AllocID(ALLOC_ID), {"t": 0})
    async with running(alloc_with(template), node) as run:
        await advance_until(clock, lambda: "Template" in run.kinds())
        source.write_text("one")
        await advance_until(clock, lambda: run.state().state == "running")
        assert made.read_text() == "one!"
        source.write_text("two")
        await advance_until(clock, lambda: content(made) == "two!")


async def test_a_task_that_has_ended_is_not_started_again_while_its_files_are_let_go(
    node: NodeContext, clock: VirtualClock, driver: RememberingDriver
) -> None:
    template = a_template('{{ file (print (env "NOMAD_TASK_DIR") "/in") }}')
    task = a_task(config={"run_for": "1s"}, templates=(template,))
    node.dirs.create(AllocID(ALLOC_ID), {"t": 0})
    task_path(node, "local/in").write_text("one")
    async with running(an_alloc(a_job(task, type="batch")), node) as run:
        await advance_until(clock, lambda: run.runner.is_over)

    assert run.kinds() == ["Received", "Task Setup", "Started", "Terminated"]
    assert len(driver.specs) == 1


async def test_files_elsewhere_are_read_only_where_the_node_allows_it(
    node: NodeContext, clock: VirtualClock, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("host")
    template = a_template(f'{{{{ file "{elsewhere}" }}}}')
    async with running(alloc_with(template), node) as run:
        await advance_until(clock, lambda: run.state().state == "dead")
    failure = run.events()[-1]
    assert failure.startswith("Killing: Template failed: (dynamic): execute: ")
    assert failure.endswith(f"error calling file: '{elsewhere}' is outside of sandbox")

    node.settings = msgspec.structs.replace(
        node.settings, template=TemplateSettings(disable_file_sandbox=True)
    )
    async with running(alloc_with(template), node) as run:
        await advance_until(clock, lambda: run.state().state == "running")
        assert task_path(node, "local/x").read_text() == "host"


async def test_once_means_once(node: NodeContext, data: FakeData, clock: VirtualClock) -> None:
    data.put_variable("p", v="1")
    other = a_template(FOLLOWING, "local/other", change_mode="noop")
    async with running(alloc_with(a_template(FOLLOWING, once=True), other), node) as run:
        await run.until_state("t", "running")
        data.put_variable("p", v="2")
        await advance_until(clock, lambda: content(task_path(node, "local/other")) == "2")

        assert task_path(node, "local/x").read_text() == "1"
        assert run.state().restarts == 0


async def test_reactions_are_spread_over_the_splay(
    node: NodeContext, data: FakeData, clock: VirtualClock
) -> None:
    data.put_variable("p", v="1")
    wait = TemplateWait(min=0, max=0)
    template = a_template(FOLLOWING, splay=1000 * SECOND_NS, wait=wait)
    made = task_path(node, "local/x")
    async with running(alloc_with(template), node) as run:
        await run.until_state("t", "running")
        data.put_variable("p", v="2")
        await advance_until(clock, lambda: content(made) == "2")
        changed_at = clock.now_ns()
        await advance_until(clock, lambda: run.state().restarts == 1)

    assert 2 * SECOND_NS < clock.now_ns() - changed_at <= 1001 * SECOND_NS


def a_service(port: int) -> ServiceRegistration:
    return ServiceRegistration(id="db-1", service_name="db", port=port)


async def test_many_tasks_follow_the_same_service_once(
    node: NodeContext, data: FakeData, clock: VirtualClock
) -> None:
    data.put(DB, (a_service(80),))
    tasks = [
        a_task(name, config={"run_for": "1h"}, templates=(a_template(SERVICE, change_mode="noop"),))
        for name in ("one", "two", "three")
    ]
    async with running(an_alloc(a_job(*tasks)), node) as run:
        for name in ("one", "two", "three"):
            await run.until_state(name, "running")
        data.put(DB, (a_service(81),))
        await advance_until(clock, lambda: len(data.reads) > 2)

        assert len(data.reads) == 3  # the first answer, the change, and waiting for the next one
        run.runner.stop()
        await run.until_over()


async def test_each_task_follows_variables_with_its_own_rights(
    node: NodeContext, data: FakeData, clock: VirtualClock
) -> None:
    data.put_variable("p", v="1")
    tasks = [
        a_task(name, config={"run_for": "1h"}, templates=(a_template(FOLLOWING, change_mode="noop"),))
        for name in ("one", "two")
    ]
    async with running(an_alloc(a_job(*tasks)), node) as run:
        for name in ("one", "two"):
            await run.until_state(name, "running")
        assert {followed.task for followed in data.followed if isinstance(followed, OwnedQuery)} == {
            "one",
            "two",
        }


async def test_servers_that_are_away_only_delay(
    node: NodeContext, data: FakeData, clock: VirtualClock
) -> None:
    data.put_variable("p", v="1")
    data.is_away = True
    async with running(alloc_with(a_template(FOLLOWING)), node) as run:
        await advance_until(clock, lambda: len(data.reads) > 20)
        assert run.state().state == "pending"
        data.is_away = False
        await advance_until(clock, lambda: run.state().state == "running")


async def test_a_template_that_fails_later_ends_the_task(
    node: NodeContext, data: FakeData, clock: VirtualClock
) -> None:
    data.put_variable("p", v='["a"]')
    source = '{{ with nomadVar "p" }}{{ index (parseJSON .v.Value) 0 }}{{ end }}'
    async with running(alloc_with(a_template(source, change_mode="noop")), node) as run:
        await run.until_state("t", "running")
        data.put_variable("p", v="[]")
        await advance_until(clock, lambda: run.runner.is_over)

    assert run.kinds()[-3:] == ["Killing", "Terminated", "Killed"]
    assert "index out of range: 0" in run.events()[-3]
    assert run.status == ("failed", "Failed tasks")


async def test_restarts_keep_what_was_rendered_unless_the_job_wants_it_anew(node: NodeContext) -> None:
    for renders, expected in ((False, "changed by the task"), (True, "x")):
        policy = RestartPolicy(attempts=1, interval=SECOND_NS, delay=0, render_templates=renders)
        async with running(alloc_with(a_template("x"), restart_policy=policy), node) as run:
            await run.until_state("t", "running")
            task_path(node, "local/x").write_text("changed by the task")
            run.runner.restart_task("t")
            await run.until(lambda run=run: run.kinds().count("Started") == 2)  # type: ignore[misc]
            assert task_path(node, "local/x").read_text() == expected


async def restored(node: NodeContext, alloc: ClientAlloc) -> tuple[RunningAlloc, StoredAlloc]:
    """Run an allocation, and give what an agent that dies then leaves behind."""
    made = RunningAlloc(alloc, node, None)
    run = asyncio.create_task(made.runner.run())
    await made.until_state("t", "running")
    handle = made.runner.tasks["t"].handle
    assert handle is not None
    record = TaskRecord(state=made.state(), attempt=1, handle=handle.state, done_hooks=("task_dir",))
    run.cancel()
    await asyncio.wait({run})
    return made, StoredAlloc(AllocRecord(alloc=alloc), {"t": record})


async def test_what_changed_while_the_agent_was_away_is_a_change(
    node: NodeContext, data: FakeData, driver: RememberingDriver, clock: VirtualClock
) -> None:
    data.put_variable("p", v="1")
    alloc = alloc_with(a_template(FOLLOWING))
    _, stored = await restored(node, alloc)
    data.put_variable("p", v="2")
    async with running(alloc, node, stored) as run:
        await advance_until(clock, lambda: len(driver.specs) == 2)
        await run.until_state("t", "running")

        assert run.kinds()[2:] == ["Started", "Restart Signaled", "Terminated", "Restarting", "Started"]
        assert task_path(node, "local/x").read_text() == "2"


async def test_nothing_happens_when_nothing_changed_while_the_agent_was_away(
    node: NodeContext, data: FakeData, driver: RememberingDriver, clock: VirtualClock
) -> None:
    data.put_variable("p", v="1")
    alloc = alloc_with(a_template(FOLLOWING))
    _, stored = await restored(node, alloc)
    reads = len(data.reads)
    async with running(alloc, node, stored) as run:
        await advance_until(clock, lambda: len(data.reads) > reads + 1)
        await clock.advance(60)

        assert run.kinds() == ["Received", "Task Setup", "Started"]
    assert len(driver.specs) == 1


def test_the_recorded_env_file() -> None:
    source = (RECORDINGS / "template-env.tmpl").read_text().replace('{{ env "NOMAD_JOB_NAME" }}', "tm")

    assert read_env_file(source) == json.loads((RECORDINGS / "template-env.json").read_text())


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("9BAD=1", "error on line 1: key must start with [A-Za-z_] but found '9'"),
        ("A=1\nno", "error on line 2: missing ="),
        ("=1", "error on line 1: empty key"),
        ("A-B=1", "error on line 1: key characters must be [A-Za-z0-9_./] but found '-'"),
        ('A="x', 'error on line 1: unmatched "'),
        ("A='x", "error on line 1: unmatched '"),
        ('A="\\q"', "error on line 1: incomplete escape sequence"),
    ],
)
def test_bad_env_lines(text: str, problem: str) -> None:
    with pytest.raises(BadEnvLine) as failure:
        read_env_file(text)
    assert str(failure.value) == problem


def test_env_values() -> None:
    assert read_env_file("A=a 'b  ' \"c\\t\" # d\nB='x '\nC=  y  ") == {"A": "a b   c\t", "B": "x ", "C": "y"}


@pytest.mark.parametrize(
    ("wait", "settings", "expected"),
    [
        (None, TemplateSettings(), (5, 240)),
        (TemplateWait(min=SECOND_NS), TemplateSettings(), (1, 240)),
        (TemplateWait(min=9 * SECOND_NS, max=2 * SECOND_NS), TemplateSettings(), (9, 9)),
        (TemplateWait(min=0, max=0), TemplateSettings(wait_bound_min=3 * SECOND_NS), (3, 3)),
        (None, TemplateSettings(wait_bound_max=2 * SECOND_NS), (2, 2)),
    ],
)
def test_quiet_times(
    wait: TemplateWait | None, settings: TemplateSettings, expected: tuple[int, int]
) -> None:
    found = quiet_time(a_template(wait=wait), settings)

    assert (found.least // SECOND_NS, found.most // SECOND_NS) == expected


def test_news_put_rendering_off_but_not_for_ever() -> None:
    quiet = quiet_time_of_all([QuietTime(5, 100), QuietTime(2, 20)])

    assert quiet == QuietTime(5, 20)
    assert next_look(0, 10, quiet) == 15
    assert next_look(0, 18, quiet) == 20
