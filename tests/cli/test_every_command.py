"""Every command of the registry, against a real agent, in an order that lets them share one cluster."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.cli.command_line import CommandLine
from tests.cli.real_commands import RealCommands
from tests.support.real_agent import RealAgent, running_agent
from yurt.cli.registry import COMMANDS, NOT_OFFERED

WEB = """
job "web" {
  update {
    min_healthy_time = "0s"
  }
  group "g" {
    count = 1
    network {
      port "http" {}
    }
    scaling {
      min = 1
      max = 5
    }
    service {
      name     = "web"
      port     = "http"
      provider = "nomad"
      tags     = ["a"]
    }
    task "t" {
      driver = "raw_exec"
      config {
        command = "/bin/sh"
        args    = ["-c", "echo started; while true; do sleep 1; done"]
      }
      action "hi" {
        command = "/bin/echo"
        args    = ["action says hi"]
      }
      resources {
        cpu    = 20
        memory = 20
      }
    }
  }
}
"""
ONCE = """
job "once" {
  type = "batch"
  MORE
  group "g" {
    task "t" {
      driver = "raw_exec"
      config {
        command = "/bin/true"
      }
      resources {
        cpu    = 20
        memory = 20
      }
    }
  }
}
"""


class Row(NamedTuple):
    """A command line, the exit code it must have and a text it must show."""

    path: str
    arguments: str = ""
    exit_code: int = 0
    shows: str = ""
    stdin: str = ""
    # An id that must be there before: looking it up waits for it.
    after: str = ""

    def __str__(self) -> str:
        return f"{self.path} {self.arguments}".strip()


# `{alloc}`, `{node}` and the like stand for ids of the cluster at that moment.
ROWS = (
    # Offline.
    Row("version", shows="Yurt v"),
    Row("completion", "bash", shows="complete -o default"),
    Row("complete-words", "job st", shows="status"),
    Row("fmt", "-check web.nomad.hcl"),
    Row("config validate", "agent.hcl", shows="Configuration is valid!"),
    Row("agent", "-help", shows="Usage: yurt agent"),
    Row("context set", "-address {address} here", shows='Saved context "here"'),
    Row("context use", "here", shows="Using context"),
    Row("context list", "-json", shows='"Current": true'),
    Row("context show", "here", shows="{address}"),
    Row("context delete", "here", shows="Deleted"),
    Row("job init", "-short first.nomad.hcl", shows="Example job file written"),
    Row("init", "second.nomad.hcl", shows="Example job file written"),
    Row("node pool init", "-quiet pool.nomad.hcl"),
    Row("var init", "-quiet spec.nv.hcl"),
    Row("volume init", "volume.hcl", shows="volume.hcl"),
    Row("tls ca create", shows="nomad-agent-ca.pem"),
    Row("tls ca info", "nomad-agent-ca.pem", shows="Common Name"),
    Row("tls cert create", "-cli", shows="global-cli-nomad.pem"),
    Row("tls cert info", "global-cli-nomad.pem", shows="Serial Number"),
    Row("operator gossip keyring generate"),
    # Jobs.
    Row("job validate", "web.nomad.hcl", shows="Job validation successful"),
    Row("validate", "web.nomad.hcl", shows="Job validation successful"),
    Row("job plan", "web.nomad.hcl", exit_code=1, shows="Scheduler dry-run"),
    Row("plan", "-detailed-exitcode web.nomad.hcl", exit_code=2, shows="+ Job"),
    Row("job run", "-wait -timeout 60s web.nomad.hcl", shows="Deployment successful"),
    Row("run", "-wait -timeout 60s once.nomad.hcl", shows="Job ended successfully"),
    Row("job wait", "once", shows="Job ended successfully"),
    Row("plan", "-detailed-exitcode web.nomad.hcl", shows='Job: "web"'),
    Row("job status", "web", shows="Latest Deployment"),
    Row("job status", "-json nothing", exit_code=1, shows="No job(s)"),
    Row("status", "web", shows="Latest Deployment"),
    Row("job allocs", "web", shows="{alloc:8}"),
    Row("job deployments", "-latest web", shows="successful"),
    Row("job inspect", "web", shows='"ID": "web"'),
    Row("inspect", "-hcl web", shows='job "web"'),
    Row("job history", "web", shows="Version     = 0"),
    Row("job tag apply", "-name good web", shows="good"),
    Row("job tag unset", "-name good web", shows="good"),
    Row("job eval", "-detach web", shows="Created eval ID"),
    Row("job scale", "web 2", shows="finished with status"),
    Row("job scaling-events", "web", shows="PrevCount"),
    Row("job revert", "web 0", shows="successful"),
    Row("job promote", "-detach web", exit_code=1, shows="can't promote"),
    Row("job restart", "-on-error fail web", shows="Finished job restart"),
    Row("job action", "-job web -group g -task t hi", shows="action says hi", after="{alloc}"),
    Row("action", "-job web -alloc {alloc} -task t hi", shows="action says hi"),
    Row("job stop", "-detach once"),
    Row("job start", "-detach once", shows="Evaluation ID"),
    Row("stop", "-detach -purge once"),
    Row("start", "-detach web", exit_code=1, shows="not stopped"),
    Row("run", "periodic.nomad.hcl", shows="Approximate next launch time"),
    Row("job periodic force", "-detach nightly", shows="Evaluation ID"),
    Row("run", "parameterized.nomad.hcl", shows="Job registration successful"),
    Row("job dispatch", "-detach onrequest", shows="Dispatched Job ID"),
    Row("why", "web", shows="what each node says"),
    Row("logs", "-tail web", shows="| started"),
    Row("top", shows="Allocations"),
    # Allocations.
    Row("alloc status", "{alloc}", shows="Recent Events"),
    Row("alloc-status", "-short {alloc}", shows="Tasks"),
    Row("alloc logs", "{alloc} t", shows="started"),
    Row("alloc fs", "{alloc} alloc/logs", shows="t.stdout.0"),
    Row("fs", "-stat {alloc} alloc/logs/t.stdout.0", shows="text/plain"),
    Row("alloc checks", "{alloc}", shows="0"),
    Row("alloc exec", "{alloc} /bin/echo inside", shows="inside"),
    Row("exec", "-job web /bin/sh -c 'exit 3'", exit_code=3, after="{alloc}"),
    Row("alloc cp", "{alloc}:alloc/logs/t.stdout.0 copied", shows="Copied 1 files"),
    Row("alloc port-forward", "{alloc} nope", exit_code=1, shows="it has http ("),
    Row("alloc pause", "{alloc} t", exit_code=1, shows="Enterprise only"),
    Row("alloc signal", "-s SIGCONT {alloc} t"),
    Row("alloc restart", "{alloc} t"),
    Row("alloc stop", "-detach {alloc}"),
    # Deployments and evaluations.
    Row("deployment list", shows="{deployment:8}"),
    Row("deployment status", "{deployment}", shows="Deployed"),
    Row("deployment pause", "{deployment}", exit_code=1, shows="can't"),
    Row("deployment resume", "-detach {deployment}", exit_code=1, shows="can't"),
    Row("deployment promote", "-detach {deployment}", exit_code=1, shows="can't"),
    Row("deployment fail", "-detach {deployment}", exit_code=1, shows="can't"),
    Row("deployment unblock", "-detach {deployment}", exit_code=1),
    Row("eval list", "-per-page 1", shows="Results have been paginated"),
    Row("eval status", "{eval}", shows="Placement Failures"),
    Row("eval-status", "{eval}", shows="Placement Failures"),
    Row("eval delete", "{eval}", exit_code=1, shows="broker"),
    Row("event stream", "-json extra", exit_code=1, shows="takes no arguments"),
    # Nodes.
    Row("node status", "node1", shows="{node}"),
    Row("node-status", "-self -short", shows="{node}"),
    Row("node eligibility", "-disable node1", shows="ineligible"),
    Row("node eligibility", "-enable node1", shows="eligible"),
    Row("node drain", "-disable -yes node1", shows="{node}"),
    Row("node-drain", "-monitor -self", shows="No drain strategy set"),
    Row("node config", "-servers", shows="127.0.0.1"),
    Row("client-config", "-servers", shows="127.0.0.1"),
    Row("node meta apply", "-node-id node1 color=red"),
    Row("node meta read", "-node-id node1", shows="red"),
    Row("node pool apply", "pool.nomad.hcl", shows="applied"),
    Row("node pool list", shows="default"),
    Row("node pool info", "default", shows="Default node pool"),
    Row("node pool nodes", "default", shows="node1"),
    Row("node pool jobs", "default", shows="web"),
    Row("node pool delete", "example", shows="deleted"),
    Row("node identity get", "node1", shows="Claim Key"),
    Row("node identity renew", "node1"),
    Row("node intro create", "-node-pool nowhere", exit_code=1),
    Row("node simulate", "-help", shows="Usage: yurt node simulate"),
    # Namespaces, variables, services, scaling, volumes.
    Row("namespace apply", "-description d apps", shows='"apps"'),
    Row("namespace list", shows="apps"),
    Row("namespace status", "apps", shows="Description"),
    Row("namespace inspect", "apps", shows='"Name": "apps"'),
    Row("namespace delete", "apps", shows='"apps"'),
    Row("var put", "app/x k=v", shows='"k": "v"'),
    Row("var get", "-item k app/x", shows="v"),
    Row("var list", shows="app/x"),
    Row("var lock", "app/lock /bin/true"),
    Row("var purge", "app/x", shows="purged"),
    Row("service list", shows="web", after="{service}"),
    Row("service info", "web", shows="[a]", after="{service}"),
    Row("service delete", "web {service}"),
    Row("scaling policy list", shows="horizontal"),
    Row("scaling policy info", "{policy}", shows="Target"),
    Row("volume status", shows="Dynamic Host Volumes"),
    Row("volume create", "missing.hcl", exit_code=1, shows="missing.hcl"),
    Row("volume register", "missing.hcl", exit_code=1, shows="missing.hcl"),
    Row("volume delete", "-secret k=v nope", exit_code=1),
    Row("volume delete", "-secret novalue nope", exit_code=1, shows="Error parsing secret value"),
    Row("volume deregister", "nope", exit_code=1),
    Row("volume detach", "nope node1", exit_code=1),
    Row("volume claim list", shows=""),
    Row("volume claim delete", "-y nope", exit_code=1),
    Row("plugin status", shows="Container Storage Interface"),
    # Access: the cluster is open, which the servers say.
    Row("acl bootstrap", exit_code=1, shows="ACL support disabled"),
    Row("acl policy list", exit_code=1, shows="ACL support disabled"),
    Row("acl policy info", "p", exit_code=1, shows="ACL support disabled"),
    Row("acl policy self", exit_code=1, shows="ACL support disabled"),
    Row("acl policy apply", "p policy.hcl", exit_code=1, shows="ACL support disabled"),
    Row("acl policy delete", "p", exit_code=1, shows="ACL support disabled"),
    Row("acl role list", exit_code=1, shows="ACL support disabled"),
    Row("acl role info", "{node}", exit_code=1, shows="ACL support disabled"),
    Row("acl role create", "-name r -policy p", exit_code=1, shows="ACL support disabled"),
    Row("acl role update", "-name r {node}", exit_code=1, shows="ACL support disabled"),
    Row("acl role delete", "{node}", exit_code=1, shows="ACL support disabled"),
    Row("acl token list", exit_code=1, shows="ACL support disabled"),
    Row("acl token self", shows="acls-disabled"),
    Row("acl token info", "{node}", exit_code=1, shows="ACL support disabled"),
    Row("acl token create", "-policy p", exit_code=1, shows="ACL support disabled"),
    Row("acl token update", "-name n {node}", exit_code=1, shows="ACL support disabled"),
    Row("acl token delete", "{node}", exit_code=1, shows="ACL support disabled"),
    Row("acl auth-method list", exit_code=1, shows="ACL support disabled"),
    Row("acl auth-method info", "m", exit_code=1, shows="ACL support disabled"),
    Row(
        "acl auth-method create",
        "-name m -type JWT -max-token-ttl 1h -token-locality local -config '{{}}'",
        exit_code=1,
        shows="ACL support disabled",
    ),
    Row("acl auth-method update", "-max-token-ttl 1h m", exit_code=1, shows="ACL support disabled"),
    Row("acl auth-method delete", "m", exit_code=1, shows="ACL support disabled"),
    Row("acl binding-rule list", exit_code=1, shows="ACL support disabled"),
    Row("acl binding-rule info", "{node}", exit_code=1, shows="ACL support disabled"),
    Row(
        "acl binding-rule create",
        "-auth-method m -bind-type role -bind-name r",
        exit_code=1,
        shows="ACL support disabled",
    ),
    Row("acl binding-rule update", "-bind-name r {node}", exit_code=1, shows="ACL support disabled"),
    Row("acl binding-rule delete", "{node}", exit_code=1, shows="ACL support disabled"),
    Row("login", "-method m", exit_code=1),
    # Servers and operators.
    Row("agent-info", shows="client"),
    Row("check"),
    Row("server members", shows="alive"),
    Row("server-members", shows="alive"),
    Row("server join", "127.0.0.1:1", exit_code=1),
    Row("server-join", "127.0.0.1:1", exit_code=1),
    Row("server force-leave", "nobody"),
    Row("server-force-leave", "nobody"),
    Row("monitor", "-help", shows="Usage: yurt monitor"),
    Row("operator api", "/v1/status/leader", shows="127.0.0.1"),
    Row("operator metrics", shows="Gauges"),
    Row("operator autopilot get-config", shows="CleanupDeadServers"),
    Row("operator autopilot set-config", "-cleanup-dead-servers=true", shows="updated"),
    Row("operator autopilot health", shows="Healthy:"),
    Row("operator raft list-peers", shows="leader"),
    Row("operator raft list-peers", "-json", shows='"Leader": true'),
    Row("operator root keyring list", "-json", shows='"KeyID"'),
    Row("job scaling-events", "-json web", shows='"PreviousCount": 1'),
    Row("acl token self", "-t '{{{{.Name}}}}'", shows="ACLs disabled token"),
    Row("operator raft remove-peer", "-peer-id nobody", exit_code=1),
    Row("operator raft transfer-leadership", "-peer-id nobody", exit_code=1),
    Row("operator scheduler get-config", shows="binpack"),
    Row("operator scheduler set-config", "-scheduler-algorithm spread", shows="updated"),
    Row("operator root keyring list", shows="active"),
    Row("operator root keyring rotate", "-now", shows="active"),
    Row("operator root keyring remove", "{node}", exit_code=1),
    Row("operator gossip keyring list", exit_code=1),
    Row("operator gossip keyring install", "k", exit_code=1),
    Row("operator gossip keyring use", "k", exit_code=1),
    Row("operator gossip keyring remove", "k", exit_code=1),
    Row("operator snapshot save", "state.snap", shows="state.snap"),
    Row("operator snapshot inspect", "state.snap", shows="Total"),
    Row("operator debug", "-duration 0s -event-topic Job", shows="Created debug archive: nomad-debug-"),
    Row("operator debug", "-duration 0s -pprof-duration 1s -vault-token t", shows="Not captured: profiles"),
    Row("debug", "-duration 0s -output captured", shows="Created debug directory: captured/nomad-debug-"),
    Row("operator raft info", "{data}", shows="Last Index"),
    Row("operator raft logs", "{data}", shows='"Index": 1'),
    Row("operator client-state", "{data}", exit_code=1, shows="stop the agent that uses it"),
    Row("monitor export", exit_code=1, shows="Either -service-name or -on-disk must be set"),
    Row("quota init", "quota.hcl", shows="quota.hcl"),
    Row("quota apply", "quota.hcl", shows="default-quota"),
    Row("quota list", shows="default-quota"),
    Row("quota status", "default-quota", shows="Quota Limits"),
    Row("quota inspect", "default-quota", shows='"Name": "default-quota"'),
    Row("quota delete", "default-quota", shows="default-quota"),
    *(Row(path, exit_code=1, shows="Yurt does not offer this command") for path in NOT_OFFERED),
    Row("system gc"),
    Row("system reconcile summaries"),
    Row("ui", exit_code=1, shows="serves no web UI"),
    Row("ui", "-show-url -authenticate", exit_code=1, shows="Could not get one-time token"),
    # Last, as it replaces everything.
    Row("operator snapshot restore", "state.snap", shows="Snapshot Restored"),
)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("work")
    files = {
        "web.nomad.hcl": WEB.lstrip(),
        "once.nomad.hcl": ONCE.replace("  MORE\n", ""),
        "periodic.nomad.hcl": ONCE.replace('"once"', '"nightly"').replace(
            "MORE", 'periodic {\n crons = ["0 0 1 1 *"]\n }'
        ),
        "parameterized.nomad.hcl": ONCE.replace('"once"', '"onrequest"').replace("MORE", "parameterized {}"),
        "agent.hcl": 'name = "n"\n',
        "policy.hcl": 'namespace "default" {\n policy = "read"\n}\n',
    }
    for name, text in files.items():
        (directory / name).write_text(text)
    return directory


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealAgent]:
    with running_agent(tmp_path_factory.mktemp("agent")) as agent:
        yield agent


def _is_running(alloc: Any) -> bool:  # JSON
    return any(state["State"] == "running" for state in (alloc["TaskStates"] or {}).values())


class _Ids:
    """Ids of the cluster, looked up when a row names them."""

    def __init__(self, agent: RealAgent) -> None:
        self._agent = agent

    def fill(self, text: str) -> str:
        names = ("alloc", "eval", "deployment", "node", "service", "policy", "address", "data")
        for name in names:
            if f"{{{name}" in text:
                value = self._find(name)
                text = text.replace(f"{{{name}}}", value).replace(f"{{{name}:8}}", value[:8])
        return text.replace("{{", "{").replace("}}", "}")

    def _find(self, name: str) -> str:
        if name == "address":
            return self._agent.address
        if name == "data":
            return str(self._agent.directory / "data")
        if name == "alloc":
            found = self._agent.wait_for(
                "/v1/job/web/allocations",
                lambda allocs: any(_is_running(alloc) for alloc in allocs),
            )
            return str(next(alloc["ID"] for alloc in found if _is_running(alloc)))
        path = {
            "eval": "/v1/job/web/evaluations",
            "deployment": "/v1/job/web/deployments",
            "node": "/v1/nodes",
            "service": "/v1/service/web",
            "policy": "/v1/scaling/policies",
        }[name]
        return str(self._agent.wait_for(path, bool)[0]["ID"])


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_command(
    yurt: CommandLine,
    agent: RealAgent,
    directory: Path,
    monkeypatch: pytest.MonkeyPatch,
    row: Row,
) -> None:
    monkeypatch.chdir(directory)
    monkeypatch.setenv("NOMAD_ADDR", agent.address)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(directory))
    ids = _Ids(agent)
    ids.fill(row.after)

    result = yurt(ids.fill(f"yurt {row.path} {row.arguments}"), stdin=row.stdin)

    assert result.exit_code == row.exit_code, result.stdout + result.stderr
    assert ids.fill(row.shows) in result.stdout + result.stderr


def test_the_state_of_a_stopped_agent_can_be_read(agent: RealAgent, directory: Path) -> None:
    agent.kill()
    try:
        result = RealCommands(agent, directory)("operator", "client-state", str(agent.directory))
    finally:
        agent.start()
    assert result.exit_code == 0, result.stderr
    assert any("t" in alloc["Tasks"] for alloc in json.loads(result.stdout)["Allocations"].values())


def test_every_command_is_exercised() -> None:
    assert {entry.path for entry in COMMANDS} - {row.path for row in ROWS} == set()


LISTS = (
    "job status",
    "alloc status",
    "deployment list",
    "eval list",
    "service list",
    "scaling policy list",
    "plugin status",
    "volume claim list",
    "context list",
)


@pytest.mark.parametrize("command", LISTS)
def test_an_empty_list_is_an_empty_list_for_programs(empty: RealCommands, command: str) -> None:
    result = empty(*command.split(), "-json")
    assert (result.exit_code, json.loads(result.stdout)) == (0, []), result.stdout
    assert result.stderr == ""


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealCommands]:
    """A cluster without work."""
    with running_agent(tmp_path_factory.mktemp("empty")) as agent:
        yield RealCommands(agent, tmp_path_factory.mktemp("nothing"))
