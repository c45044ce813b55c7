"""`node status` and `eval status` print what was recorded."""

from typing import Any

from tests.cli.command_line import CommandLine, same
from tests.cli.objects import an_alloc_stub, an_eval
from tests.cli.transcripts import at, read_transcript
from tests.sdk.replay_server import ReplayServer, Reply, Request

NODE_ID = "61b9092a-eef9-a2e2-8bf3-61051a09648f"
GIB = 1024**3


def a_node_stub() -> dict[str, Any]:
    return {
        "ID": NODE_ID,
        "Address": "127.0.0.1",
        "Datacenter": "dc1",
        "Name": "node1",
        "NodePool": "default",
        "NodeClass": "",
        "Version": "2.0.6-dev",
        "Drain": False,
        "SchedulingEligibility": "eligible",
        "Status": "ready",
    }


def is_by_name(request: Request) -> bool:
    """Whether nodes of a name are asked for, which no recorded node has."""
    return "Name ==" in request.query.get("filter", "")


def serve_node(server: ReplayServer) -> None:
    driver = {"Detected": True, "Healthy": True}
    node = {
        **a_node_stub(),
        "NodeResources": {
            "Cpu": {"CpuShares": 4598},
            "Memory": {"MemoryMB": 24 * 1024},
            "Disk": {"DiskMB": 252 * 1024},
        },
        "Drivers": {
            **dict.fromkeys(("raw_exec", "exec", "mock_driver", "java"), driver),
            "docker": {"Detected": False, "Healthy": False},
        },
        "Events": [
            {"Timestamp": "2026-11-15T09:15:47Z", "Subsystem": "Cluster", "Message": "Node registered"}
        ],
    }
    server.on("GET", "/v1/nodes", lambda request: Reply([] if is_by_name(request) else [a_node_stub()]))
    server.on("GET", "/v1/nodes?prefix=0000", [])
    server.on("GET", "/v1/nodes?filter=Name+%3D%3D+%22nobody%22", [])
    server.on("GET", f"/v1/node/{NODE_ID}", node)
    server.on("GET", f"/v1/node/{NODE_ID}/allocations", [])
    stats = {
        "Uptime": 4062,
        "CPUTicksConsumed": 4598.7,
        "Memory": {"Used": int(3.6 * GIB), "Total": 24 * GIB},
        "AllocDirStats": {"Used": 21 * GIB, "Size": 252 * GIB},
    }
    server.on("GET", "/v1/client/stats", stats)


def test_node_status(yurt: CommandLine) -> None:
    serve_node(yurt.server)
    for step in read_transcript("node-status").steps:
        if step.command.startswith("yurt"):
            same(yurt, step, {"N": NODE_ID})


def test_what_a_node_only_counts_is_shown_with_how_much_is_given_out(yurt: CommandLine) -> None:
    serve_node(yurt.server)
    yurt.server.on("GET", f"/v1/node/{NODE_ID}", {**a_node_stub(), "Countables": {"seat": 3, "licence": 1}})
    seats = {"Vendor": "countable", "Type": "seat", "Name": "seat", "DeviceIDs": ["0", "2"]}
    alloc = {
        "ID": "0a0b0c0d-0000-0000-0000-000000000000",
        "NodeID": NODE_ID,
        "ClientStatus": "running",
        "AllocatedResources": {"Tasks": {"t": {"Devices": [seats]}}},
    }
    yurt.server.on("GET", f"/v1/node/{NODE_ID}/allocations", [alloc])
    out = yurt(f"yurt node status {NODE_ID}").stdout
    assert "Countable Resources\nName     Allocated\nlicence  0/1\nseat     2/3\n" in out


def test_a_nodes_allocations_show_the_version_of_their_job(yurt: CommandLine) -> None:
    serve_node(yurt.server)
    alloc = {
        "ID": "0a0b0c0d-0000-0000-0000-000000000000",
        "NodeID": NODE_ID,
        "TaskGroup": "g",
        "DesiredStatus": "run",
    }
    yurt.server.on("GET", f"/v1/node/{NODE_ID}/allocations", [{**alloc, "Job": {"ID": "web", "Version": 7}}])
    result = yurt(f"yurt node status -short {NODE_ID}")
    assert result.stdout.splitlines()[-1].split()[:5] == ["0a0b0c0d", NODE_ID[:8], "g", "7", "run"]


def test_node_that_cannot_be_asked_is_still_shown(yurt: CommandLine) -> None:
    serve_node(yurt.server)
    yurt.server.on("GET", "/v1/client/stats", Reply(b"No path to node", 404))
    result = yurt(f"yurt node status {NODE_ID}")
    assert result.exit_code == 0
    assert "Error fetching node stats: Unexpected response code: 404 (No path to node)" in result.stderr
    assert "Allocated Resources" in result.stdout
    assert "Host Resource Utilization" not in result.stdout


def test_next_page_is_offered(yurt: CommandLine) -> None:
    yurt.server.on("GET", "/v1/nodes", Reply([a_node_stub()], headers={"X-Nomad-NextToken": "tok"}))
    result = yurt("yurt node status -per-page 1")
    assert "To get the next page run:" in result.stdout
    assert yurt.server.requests[0].query == {"per_page": "1"}


EVAL_ID = "5ccdf80f-c8e5-17d2-3964-e10ca3d8c031"


def test_eval_status(yurt: CommandLine) -> None:
    server = yurt.server
    created, modified = at("2026-11-15T09:04:40Z"), at("2026-11-15T09:04:41Z")
    yurt.set_time(at("2026-11-15T09:04:42Z"))
    evaluation = an_eval(
        EVAL_ID,
        JobID="hello",
        StatusDescription="",
        CreateTime=created,
        ModifyTime=modified,
        PlanAnnotations={"DesiredTGUpdates": {"one": {"Place": 1}}},
    )
    server.on("GET", "/v1/evaluations", [evaluation])
    server.on("GET", "/v1/evaluations?prefix=0000", [])
    server.on("GET", f"/v1/evaluation/{EVAL_ID}", evaluation)
    alloc = an_alloc_stub(
        "73fa91db-1ebc-8dd0-13ce-228254d121bf",
        "one",
        ClientStatus="complete",
        CreateTime=created,
        ModifyTime=modified,
    )
    server.on("GET", f"/v1/evaluation/{EVAL_ID}/allocations", [alloc])
    transcript = read_transcript("eval")
    same(yurt, transcript.step("yurt eval status -verbose ${E:8}"), {"E": EVAL_ID})
    server.on("GET", f"/v1/evaluation/{EVAL_ID}", {**evaluation, "ModifyTime": created})
    same(yurt, transcript.step("yurt eval status $E"), {"E": EVAL_ID})
    same(yurt, transcript.step('yurt eval status -t "{{.Status}}" $E'), {"E": EVAL_ID})
    same(yurt, transcript.step("yurt eval status 0000"))
    same(yurt, transcript.step("yurt eval status"))


def test_left_out_members_can_be_used_in_templates(yurt: CommandLine) -> None:
    yurt.server.on("GET", "/v1/evaluations", [an_eval(EVAL_ID)])
    yurt.server.on("GET", f"/v1/evaluation/{EVAL_ID}", an_eval(EVAL_ID))
    assert yurt(f"yurt eval status -t 'next={{{{.NextEval}}}}' {EVAL_ID}").stdout == "next=\n"
