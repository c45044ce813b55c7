"""Tasks get the environment that was recorded, and the same under YURT_ names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.agent.builders import ALLOC_ID, a_job, a_node, a_task, an_alloc
from yurt.agent.settings import DEFAULT_ENV_DENYLIST
from yurt.agent.task_env import (
    ISOLATED_PATHS,
    TaskEnv,
    TaskEnvParts,
    TaskPaths,
    host_environment,
    task_env,
)
from yurt.model.allocated import AllocatedPort, AllocatedTaskResources
from yurt.model.client_protocol import ClientAlloc
from yurt.model.connect import ConsulConnect, ConsulProxy, ConsulSidecarService, ConsulUpstream
from yurt.model.job import Job
from yurt.model.policies import ParameterizedJobConfig
from yurt.model.resources import NetworkResource, Port, Resources
from yurt.model.service import Service

RECORDINGS = Path(__file__).parents[1] / "recordings/nomad/client/env"
ALLOC_DIR = "/data/alloc"
AGENT_ENV = {"HOME": "/root", "PATH": "/bin", "SOMEHOST": "leak", "NOMAD_TOKEN": "secret"}
NODE = a_node(attributes={"cpu.arch": "amd64"}, meta={"rack": "r1"})


def recorded(name: str) -> dict[str, str]:
    """A recorded environment with our alloc and paths in place of the placeholders."""
    text = (RECORDINGS / name).read_text()
    for placeholder, value in {
        "<alloc_dir>": ALLOC_DIR,
        "<alloc id, first 8>": ALLOC_ID[:8],
        "<alloc id>": ALLOC_ID,
        "<agent's PATH>": AGENT_ENV["PATH"],
    }.items():
        text = text.replace(placeholder, value)
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return dict(line.split("=", 1) for line in lines)


def recorded_job() -> Job:
    """The job of env/job.nomad.hcl."""
    raw = a_task(
        "raw",
        driver="raw_exec",
        meta={"owner": "task"},
        env={
            "FOO": "bar-${NOMAD_TASK_NAME}-${attr.cpu.arch}-${meta.rack}-${nope}",
            "lower": "v",
            "NOMAD_PORT_http": "override",
            "PORTREF": "${NOMAD_PORT_http} ${NOMAD_ADDR_db_main} ${NOMAD_ADDR_db-main} "
            '${env["HOME"]} ${NOMAD_META_owner}',
        },
        resources=Resources(cpu=200, memory_mb=64),
    )
    exe = a_task("exe", resources=Resources(cpu=150, memory_mb=64, memory_max_mb=128))
    dock = a_task("dock", env={"A": "1"}, resources=Resources(cpu=100, memory_mb=64))
    return a_job(
        raw,
        exe,
        dock,
        id="envjob",
        name="envjob",
        meta={"owner": "team-a", "my-key": "dash", "CamelCase": "x${NOMAD_ALLOC_INDEX}"},
        group={"name": "g1", "meta": {"owner": "group", "level": "${node.unique.name}"}},
    )


def recorded_alloc() -> ClientAlloc:
    ports = (
        AllocatedPort(label="http", value=20001, to=8080, host_ip="127.0.0.1"),
        AllocatedPort(label="db-main", value=20002, host_ip="127.0.0.1"),
        AllocatedPort(label="fixed", value=23456, host_ip="127.0.0.1"),
    )
    return an_alloc(recorded_job(), ports=ports)


def made(
    alloc: ClientAlloc,
    task_name: str,
    paths: TaskPaths = ISOLATED_PATHS,
    **parts: Any,
) -> TaskEnv:
    group = alloc.job.task_groups[0]
    task = group.task(task_name)
    assert task is not None
    return task_env(alloc, task, node=NODE, region="global", parts=TaskEnvParts(paths=paths, **parts))


def without_twins(env: TaskEnv) -> dict[str, str]:
    return {name: value for name, value in env.variables.items() if not name.startswith("YURT_")}


def test_raw_exec_as_recorded() -> None:
    root = f"{ALLOC_DIR}/{ALLOC_ID}"
    paths = TaskPaths(
        alloc_dir=f"{root}/alloc", task_dir=f"{root}/raw/local", secrets_dir=f"{root}/raw/secrets"
    )
    host = host_environment(AGENT_ENV, frozenset(DEFAULT_ENV_DENYLIST))
    env = made(recorded_alloc(), "raw", paths, host=host)

    assert without_twins(env) == recorded("raw_exec.txt")


def test_exec_as_recorded() -> None:
    host = host_environment(AGENT_ENV, frozenset(DEFAULT_ENV_DENYLIST))
    # The driver adds the user's variables, the identity hook the tokens.
    by_others = {"HOME", "LOGNAME", "USER", "NOMAD_TOKEN", "NOMAD_TOKEN_aws", "NOMAD_UNIX_ADDR"}
    env = without_twins(made(recorded_alloc(), "exe", host=host))
    expected = recorded("exec.txt")

    assert {n: v for n, v in env.items() if n not in by_others} == {
        n: v for n, v in expected.items() if n not in by_others
    }


def test_docker_as_recorded() -> None:
    env = without_twins(made(recorded_alloc(), "dock"))
    by_the_image = {"HOME", "HOSTNAME", "PATH"}

    assert env == {n: v for n, v in recorded("docker.txt").items() if n not in by_the_image}


def test_older_task_networks_as_recorded() -> None:
    alloc = an_alloc(a_job(a_task("t"), a_task("u")))
    network = NetworkResource(ip="127.0.0.1", dynamic_ports=(Port(label="web", value=20001),))
    tasks = alloc.resources.tasks | {"t": AllocatedTaskResources(networks=(network,))}
    alloc = msgspec.structs.replace(alloc, resources=msgspec.structs.replace(alloc.resources, tasks=tasks))
    expected = recorded("task-network.txt")
    seen = without_twins(made(alloc, "t")) | {
        n: v for n, v in without_twins(made(alloc, "u")).items() if "_t_web" in n
    }

    assert {n: v for n, v in seen.items() if "web" in n} == expected
    assert not [n for n in without_twins(made(alloc, "u")) if n.endswith("_web") and "_t_" not in n]


def test_a_dispatched_child_as_recorded() -> None:
    child = "par/dispatch-<unix time>-<8 hex>"
    job = a_job(
        id=child,
        name=child,
        parent_id="par",
        dispatched=True,
        meta={"base": "b", "req": "1", "opt": "x"},
        parameterized_job=ParameterizedJobConfig(meta_required=("req",), meta_optional=("opt", "opt2")),
    )
    env = without_twins(made(an_alloc(job), "t"))

    assert {n: v for n, v in env.items() if n.startswith(("NOMAD_META_", "NOMAD_JOB_"))} == recorded(
        "dispatched.txt"
    )


def test_every_nomad_name_has_a_yurt_twin_with_the_final_value() -> None:
    variables = made(recorded_alloc(), "raw").variables

    for name, value in variables.items():
        if name.startswith("NOMAD_"):
            assert variables["YURT_" + name.removeprefix("NOMAD_")] == value
    assert variables["YURT_PORT_http"] == "override"


def with_env(**env: str) -> ClientAlloc:
    return an_alloc(a_job(a_task(env=env)))


@pytest.mark.parametrize(
    ("env", "name", "value"),
    [
        pytest.param({"A": "${YURT_TASK_NAME}"}, "A", "t", id="twins can be referred to"),
        pytest.param({"A": "1", "B": "${A}2"}, "B", "12", id="keys that sort before are seen"),
        pytest.param({"A": "${B}", "B": "1"}, "A", "${B}", id="keys that sort after are not"),
        pytest.param({"NOMAD_ALLOC_ID": "mine"}, "NOMAD_ALLOC_ID", "mine", id="override"),
        pytest.param({"YURT_ALLOC_ID": "mine"}, "YURT_ALLOC_ID", "mine", id="override a twin"),
    ],
)
def test_values_of_the_task(env: dict[str, str], name: str, value: str) -> None:
    assert made(with_env(**env), "t").variables[name] == value


def test_templates_win_over_hooks_and_those_over_the_task() -> None:
    env = made(
        with_env(A="task", B="task", C="task"),
        "t",
        hooks={"B": "hook", "C": "hook"},
        templates={"C": "template"},
    )

    assert [env.variables[name] for name in "ABC"] == ["task", "hook", "template"]


def test_ipv6_addresses_are_bracketed() -> None:
    port = AllocatedPort(label="http", value=20001, host_ip="fd00::2")
    variables = made(an_alloc(ports=(port,)), "t").variables

    assert variables["NOMAD_ADDR_http"] == "[fd00::2]:20001"
    assert variables["NOMAD_IP_http"] == "fd00::2"


def test_upstreams_are_reachable_on_the_loopback() -> None:
    upstream = ConsulUpstream(destination_name="my-db", local_bind_port=5432)
    proxy = ConsulProxy(upstreams=(upstream,))
    service = Service(connect=ConsulConnect(sidecar_service=ConsulSidecarService(proxy=proxy)))
    variables = made(an_alloc(a_job(group={"services": (service,)})), "t").variables

    assert variables["NOMAD_UPSTREAM_ADDR_my-db"] == "127.0.0.1:5432"
    assert variables["NOMAD_UPSTREAM_PORT_my_db"] == "5432"


def test_services_and_checks_see_the_cleaned_names() -> None:
    env = made(recorded_alloc(), "dock")

    assert env.interpolate("${NOMAD_PORT_db_main} ${NOMAD_PORT_db-main} ${node.pool}") == (
        "20002 ${NOMAD_PORT_db-main} default"
    )


def test_reserved_cores_are_a_set() -> None:
    alloc = an_alloc()
    given = alloc.resources.tasks["t"]
    cpu = msgspec.structs.replace(given.cpu, reserved_cores=(7, 0, 1, 2))
    tasks = {"t": msgspec.structs.replace(given, cpu=cpu)}
    alloc = msgspec.structs.replace(alloc, resources=msgspec.structs.replace(alloc.resources, tasks=tasks))

    assert made(alloc, "t").variables["NOMAD_CPU_CORES"] == "0-2,7"


def test_the_agents_own_names_only_fill_gaps() -> None:
    env = made(an_alloc(), "t", host={"NOMAD_ALLOC_ID": "host", "LANG": "C"})

    assert env.variables["NOMAD_ALLOC_ID"] == ALLOC_ID
    assert env.variables["LANG"] == "C"
