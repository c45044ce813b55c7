"""What was done between the recorded calls: jobs registered, changed and stopped.

The recordings leave such calls out. Each function of a scenario is called before the step it names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from tests.api.recordings.player import Player

Action: TypeAlias = Callable[[Player], None]


def a_task(command: str = "exec sleep 300", **more: Any) -> dict[str, Any]:
    """A task that runs a shell command."""
    return {
        "Name": "t",
        "Driver": "raw_exec",
        "Config": {"command": "/bin/sh", "args": ["-c", command]},
        "Resources": {"CPU": 50, "MemoryMB": 32},
        **more,
    }


def a_job(job_id: str, command: str = "exec sleep 300", **more: Any) -> dict[str, Any]:
    """A service job of one group and one task, as the recordings use it."""
    group: dict[str, Any] = {"Name": "g", "Count": 1, "Tasks": [a_task(command)]}
    group.update(more.pop("Group", {}))
    return {
        "ID": job_id,
        "Name": job_id,
        "Type": "service",
        "Datacenters": ["dc1"],
        "TaskGroups": [group],
        **more,
    }


def registered(job: dict[str, Any]) -> Action:
    """Register a job."""
    return lambda player: player.register(job)


def shown_job(job_id: str) -> Action:
    """Register a job in the form in which a later step shows it."""
    return lambda player: player.register(as_new(player.scenario.job(job_id)))


def as_new(job: dict[str, Any]) -> dict[str, Any]:
    """A stored job as somebody would register it first."""
    return {**job, "Version": 0, "Stop": False}


def in_turn(*actions: Action) -> Action:
    """Do several things."""

    def act(player: Player) -> None:
        for action in actions:
            action(player)

    return act


def stopped(job_id: str) -> Action:
    """Stop a job."""
    return lambda player: player.stop(job_id)


def bound_alloc(recorded: str, job_id: str) -> Action:
    """Say which recorded id the only allocation of a job has."""
    return lambda player: player.bind_alloc(recorded, job_id)


def scheduling(**configuration: Any) -> Action:
    """Replace how the cluster schedules."""
    return lambda player: player.set_scheduler(configuration)


def waited_for(path: str, is_so: Callable[[Any], bool]) -> Action:
    """Wait until an answer is as wanted."""
    return lambda player: player.wait_for(path, is_so)


def _marked(action: Action) -> Action:
    """Do something that a stream of events is to tell."""
    return in_turn(lambda player: player.mark(), action)


def _moves_fast(group: dict[str, Any] | None = None, **update: Any) -> dict[str, Any]:
    """A group whose deployment is soon over."""
    strategy = {
        "MaxParallel": 1,
        "MinHealthyTime": 100_000_000,
        "HealthyDeadline": 5_000_000_000,
        "ProgressDeadline": 10_000_000_000,
        **update,
    }
    return {**(group or {}), "Update": strategy}


def _empty_batch(job_id: str, **more: Any) -> dict[str, Any]:
    return a_job(job_id, Type="batch", Group={"Count": 0}, **more)


def _register_evaluated(player: Player) -> None:
    player.register(a_job("e1"))
    player.register(as_new(player.scenario.job("e2")))
    player.register(a_job("e3", Datacenters=["dc9"]))
    constraint = {"LTarget": "${attr.kernel.name}", "RTarget": "plan9", "Operand": "="}
    player.register(a_job("e4", Constraints=[constraint]))


def _register_listed(player: Player) -> None:
    nothing = {"Count": 0}
    player.register(a_job("l-a", Group=nothing, Meta={"owner": "x", "a.b": "1"}))
    player.register(_empty_batch("l-b"))
    player.register(a_job("l-c", Group=nothing, Priority=70))
    player.register(
        _empty_batch("l-d", Periodic={"Enabled": True, "Specs": ["0 0 1 1 *"], "SpecType": "cron"})
    )
    player.register(_empty_batch("l-e", ParameterizedJob={"Payload": "optional"}))


def _register_filtered(player: Player) -> None:
    nowhere = {"LTarget": "${node.class}", "RTarget": "none", "Operand": "="}
    meta = {"owner": "x", "a.b": "1"}
    player.register(a_job("f-a", Group={"Count": 3}, Constraints=[nowhere], Meta=meta))
    player.register(_empty_batch("f-b", Priority=70))


def _write_files(player: Player) -> None:
    script = (
        "echo line1; echo line2; echo line3; "
        "mkdir -p local/sub; echo '{}' > local/a.json; echo '<html>' > local/b.html; exec sleep 300"
    )
    player.register(a_job("fs", script))
    player.wait_for_log("fs", "line3")
    player.bind_alloc("f9818762-5970-5496-9404-fbfb7ba6f082", "fs")


def _show_environment(player: Player) -> None:
    task = a_task(
        "env | grep -E '^(NOMAD_|X=|Y=)' | sort; exec sleep 300",
        Env={"X": "${NOMAD_PORT_http}", "Y": "${node.datacenter}-${attr.kernel.name}-${meta.nope}"},
        Meta={"foo": "bar"},
    )
    ports = [{"Label": "http"}, {"Label": "s"}]
    group = {"Tasks": [task], "Networks": [{"DynamicPorts": ports}], "Meta": {"gm": "1"}}
    player.register(a_job("env", Group=group, Meta={"jm": "1"}))
    player.wait_for_log("env", "Y=")
    player.bind_alloc("f7ea291a-122d-07a9-ecaa-0179b4548ce6", "env")


def _drain_nodes(player: Player) -> None:
    node = player.get("/v1/nodes")[0]["ID"]
    for eligibility in ("ineligible", "eligible"):
        player.send("PUT", f"/v1/node/{node}/eligibility", {"Eligibility": eligibility})
    player.register(a_job("nd", Group=_moves_fast()))
    player.register(a_job("nds", Type="system", Group=_moves_fast()))


def _drained(player: Player) -> None:
    player.wait_for("/v1/nodes", lambda nodes: not nodes[0]["Drain"])


def _restarted(**times: int) -> Action:
    """Wait until the tasks of the signalled job run again after so many restarts."""

    def is_so(allocs: Any) -> bool:
        states = allocs[0]["TaskStates"]
        return all(
            (states[task]["Restarts"], states[task]["State"]) == (number, "running")
            for task, number in times.items()
        )

    return waited_for("/v1/job/as/allocations", is_so)


def _scaled_job(player: Player) -> dict[str, Any]:
    (_, _, first) = player.scenario.step("versions same count")["response"]["body"]["Versions"]
    newest = player.scenario.job("sc")
    group = {**newest["TaskGroups"][0], "Count": 1}
    return as_new(
        {**first, "TaskGroups": [group]} if "TaskGroups" in first else {**newest, "TaskGroups": [group]}
    )


def _purge_running(player: Player) -> None:
    player.register(as_new(player.scenario.job("pg")))


def _waits_for_another(allocs: Any) -> bool:
    return len(allocs) == 1 and bool(allocs[0]["FollowupEvalID"])


def _failed_twice(allocs: Any) -> bool:
    return len(allocs) == 2 and all(alloc["ClientStatus"] == "failed" for alloc in allocs)


def _checked(player: Player) -> None:
    """Wait until every check of the services has run; one allocation is known by its name."""

    def have_run(checks: Any) -> bool:
        return bool(checks) and all(check["Status"] != "pending" for check in checks.values())

    recorded = {"sv.g[0]": "f6c17771-f22e-c465-125f-f832635f1152"}
    for alloc in player.get("/v1/job/sv/allocations"):
        if alloc["Name"] in recorded:
            player.ids.bind(recorded[alloc["Name"]], alloc["ID"])
        player.wait_for(f"/v1/client/allocation/{alloc['ID']}/checks", have_run)


EXEC_ALLOC = "33cc8fed-4d67-c430-ff40-790c93d7447c"
EXEC_JOB = a_job(
    "ex",
    Group={"Tasks": [a_task(Actions=[{"Name": "hello", "Command": "/bin/echo", "Args": ["hi"]}])]},
)

UNRECORDED: dict[str, dict[str, Action]] = {
    "alloc_failures": {
        "alloc": waited_for("/v1/job/af/allocations", _waits_for_another),
        "allocs": in_turn(
            waited_for("/v1/job/af/allocations", _failed_twice), lambda player: player.settle()
        ),
    },
    "alloc_reads": {"alloc": shown_job("ar")},
    "alloc_signal_restart": {
        "signal": shown_job("as"),
        "restart task": lambda player: player.wait_for_log("as", "usr1"),
        "after": _restarted(t=1, u=0),
        "restart running": _restarted(t=2, u=1),
        "end": _restarted(t=3, u=2),
        "after unknown signal": _restarted(u=3),
        "restart stopped": stopped("as"),
    },
    "client_fs": {"ls": _write_files},
    "deployment_canary": {
        "plan": registered(a_job("dc", Group=_moves_fast({"Count": 2}, Canary=1))),
        "deployment": lambda player: player.settle(),
    },
    "host_volumes": {
        "read used": registered(
            a_job("hvj", Group={"Volumes": {"v": {"Name": "v", "Type": "host", "Source": "hv"}}})
        ),
        "delete": stopped("hvj"),
    },
    "job_scale": {
        "during deployment": in_turn(
            lambda player: player.register(_scaled_job(player), settled=False),
            waited_for("/v1/job/sc/deployments", bool),
        ),
        "status": lambda player: player.settle(),
        "system 2": registered(a_job("scs", Type="system")),
        "stopped policy": in_turn(stopped("scs"), stopped("sc")),
    },
    "evaluations": {
        "list": _register_evaluated,
        "delete unsafe": scheduling(PauseEvalBroker=True, PreemptionConfig={"SystemSchedulerEnabled": True}),
    },
    "event_stream_job": {
        "job": _marked(registered(a_job("evj", Group={"Count": 0}))),
        "eval": _marked(registered(a_job("evk", Group={"Count": 0}))),
        "job key": _marked(registered(a_job("evz", Group={"Count": 0}))),
        "deregister": _marked(stopped("evz")),
        "purge": _marked(lambda player: player.stop("evz", purge=True)),
        "namespace other": _marked(registered(a_job("evo", Group={"Count": 0}))),
    },
    "filter_expressions": {'ID == "f-a"': _register_filtered},
    "job_lists": {"list": _register_listed},
    "job_periodic": {"force plain": registered(a_job("plain", Group={"Count": 0}))},
    "job_plan": {"same": registered(a_job("p", Group=_moves_fast({"Count": 2})))},
    "job_purge": {
        "purge running": _purge_running,
        "registered again": shown_job("pg"),
        "scaling registered again": registered(
            a_job("sp", Group={"Count": 0, "Scaling": {"Min": 0, "Max": 3}})
        ),
        "version sent with a new job": registered(a_job("nv", Group={"Count": 0}, Version=7)),
    },
    "job_register_rules": {
        "to periodic": registered(_empty_batch("rb")),
        "from periodic": registered(
            _empty_batch("rp", Periodic={"Enabled": True, "Specs": ["0 0 1 1 *"], "SpecType": "cron"})
        ),
        "from parameterized": registered(_empty_batch("rq", ParameterizedJob={"Payload": "optional"})),
        "preserve counts": registered(a_job("pc", Group={"Count": 0, "Scaling": {"Min": 0, "Max": 5}})),
    },
    "namespaces": {
        "delete with variable": in_turn(
            lambda player: player.stop("nsj", purge=True, namespace="team"),
            lambda player: player.send("PUT", "/v1/var/kept?namespace=team", {"Items": {"a": "b"}}),
        ),
        "delete": lambda player: player.send("DELETE", "/v1/var/kept?namespace=team"),
    },
    "node_drain": {
        "drain": _drain_nodes,
        "drained": in_turn(_drained, lambda player: player.settle()),
        "forced": in_turn(_drained, lambda player: player.settle()),
    },
    "node_pools": {
        "jobs": registered(a_job("npj", NodePool="gpu")),
        "delete": lambda player: player.stop("npj", purge=True),
    },
    "exec_websocket": {"exit 3": in_turn(registered(EXEC_JOB), bound_alloc(EXEC_ALLOC, "ex"))},
    "services": {"list": in_turn(shown_job("sv"), _checked), "after": stopped("sv")},
    "task_environment": {"env": _show_environment},
}


def _without_kill_timeout(body: dict[str, Any]) -> None:
    del body["Job"]["TaskGroups"][0]["Tasks"][0]["KillTimeout"]


# Requests that the recording shows as they were changed for a later step.
CORRECTED: dict[tuple[str, str], Callable[[dict[str, Any]], None]] = {
    ("deployment_rolling", "destructive"): _without_kill_timeout,
}

# Calls after which the next one came at once.
IMPATIENT = frozenset((("deployment_canary", "update"),))
