"""Allocations in networks of their own, made by the distribution's CNI plugins."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.agent.network.network_jobs import (
    BRIDGE,
    BRIDGED,
    MARK,
    OTHER,
    SERVE,
    SUBNET,
    a_job,
    assert_no_traces,
    fetch,
    host_address,
    output,
    remove_bridges,
    run,
    stop,
    traces,
)
from tests.support.real_agent import RealAgent, running_agent


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealAgent]:
    directory = tmp_path_factory.mktemp("networks")
    (directory / "cni").mkdir()
    other = {
        "cniVersion": "0.4.0",
        "name": "other",
        "plugins": [
            {
                "type": "bridge",
                "bridge": OTHER,
                "ipam": {
                    "type": "host-local",
                    "subnet": f"172.31.{MARK % 250}.0/24",
                    "dataDir": f"{directory}/ipam",
                },
                "dns": {"nameservers": ["172.31.0.53"]},
            }
        ],
    }
    (directory / "cni/other.conflist").write_text(json.dumps(other))
    config = f"""
client {{
  bridge_network_name   = "{BRIDGE}"
  bridge_network_subnet = "{SUBNET}"
  cni_config_dir        = "{directory}/cni"
  options = {{ "user.denylist" = "nobody-at-all" }}
}}
"""
    try:
        with running_agent(directory, more_config=config) as started:
            yield started
    finally:
        remove_bridges()


def test_the_node_offers_the_networks_that_can_be_made(agent: RealAgent) -> None:
    [listed] = agent.call("GET", "/v1/nodes").json
    node = agent.call("GET", f"/v1/node/{listed['ID']}").json

    modes = {network["Mode"] for network in node["NodeResources"]["NodeNetworks"]}
    assert {"host", "bridge", "cni/other"} <= modes
    versions = {name: node["Attributes"][f"plugins.cni.version.{name}"] for name in ("bridge", "portmap")}
    assert all(version[0].isdigit() or version[0] == "v" for version in versions.values())


def test_a_port_of_the_host_leads_into_the_bridge_network(agent: RealAgent) -> None:
    alloc = run(agent, a_job("bridged", SERVE, network=BRIDGED))
    status = alloc["NetworkStatus"]

    assert status["Address"].startswith(f"172.30.{MARK % 250}.")
    assert status["InterfaceName"] == "eth0"
    assert fetch(host_address(alloc)) == status["Address"]
    assert fetch(f"{status['Address']}:8080") == status["Address"]

    stop(agent, "bridged", alloc["ID"])
    assert_no_traces(alloc["ID"])


def test_a_restarted_agent_finds_the_network_again(agent: RealAgent) -> None:
    alloc = run(agent, a_job("lasting", SERVE, network=BRIDGED))
    address = fetch(host_address(alloc))
    agent.kill()
    assert fetch(host_address(alloc)) == address

    agent.start()
    found = agent.wait_for(f"/v1/allocation/{alloc['ID']}", lambda body: body["ClientStatus"] == "running")
    assert found["NetworkStatus"]["Address"] == address
    assert fetch(host_address(alloc)) == address
    assert found["TaskStates"]["t"]["Restarts"] == 0

    stop(agent, "lasting", alloc["ID"])
    assert_no_traces(alloc["ID"])


def test_a_network_whose_allocation_is_forgotten_is_taken_down(agent: RealAgent) -> None:
    alloc = run(agent, a_job("forgotten", SERVE, network=BRIDGED))
    assert traces(alloc["ID"])
    agent.kill()
    (agent.directory / "data/client/state.db").unlink()
    agent.start()
    agent.wait_for("/v1/nodes", lambda nodes: nodes[0]["Status"] == "ready")
    stop(agent, "forgotten", alloc["ID"])

    assert_no_traces(alloc["ID"])


def test_an_isolated_task_sees_its_names(agent: RealAgent) -> None:
    network = BRIDGED | {
        "Hostname": "web-${NOMAD_ALLOC_INDEX}",
        "DNS": {"Servers": ["10.0.0.53"], "Searches": ["example.net"], "Options": ["ndots:2"]},
    }
    script = "hostname; cat /etc/resolv.conf; ls /sys/class/net; echo end; exec sleep 1000"
    alloc = run(agent, a_job("named", script, driver="exec", network=network))

    lines = output(agent, alloc["ID"], "end")
    assert lines[:4] == ["web-0", "search example.net", "nameserver 10.0.0.53", "options ndots:2"]
    assert lines[4:6] == ["eth0", "lo"]
    stop(agent, "named", alloc["ID"])


def test_dns_settings_hold_on_the_hosts_network_too(agent: RealAgent) -> None:
    network = {"Mode": "host", "DNS": {"Servers": ["10.0.0.54"]}}
    script = "grep -c '^nameserver 10.0.0.54$' /etc/resolv.conf; echo end; exec sleep 1000"
    alloc = run(agent, a_job("dns-only", script, driver="exec", network=network))

    assert output(agent, alloc["ID"], "end")[0] == "1"
    stop(agent, "dns-only", alloc["ID"])


def test_mode_none_has_a_loopback_and_nothing_else(agent: RealAgent) -> None:
    script = "cat /proc/net/route | wc -l; busybox ip -o addr; echo end; exec sleep 1000"
    alloc = run(agent, a_job("alone", script, network={"Mode": "none"}))

    lines = output(agent, alloc["ID"], "end")
    assert all(" lo " in line for line in lines[1:-1])
    assert any("127.0.0.1" in line for line in lines)
    stop(agent, "alone", alloc["ID"])
    assert_no_traces(alloc["ID"])


def test_an_operators_network_is_joined_by_name(agent: RealAgent) -> None:
    script = "cat /etc/resolv.conf; echo end; exec sleep 1000"
    alloc = run(agent, a_job("operators", script, driver="exec", network={"Mode": "cni/other"}))

    assert alloc["NetworkStatus"]["Address"].startswith(f"172.31.{MARK % 250}.")
    assert alloc["NetworkStatus"]["DNS"]["Servers"] == ["172.31.0.53"]
    assert "nameserver 172.31.0.53" in output(agent, alloc["ID"], "end")
    stop(agent, "operators", alloc["ID"])


def test_a_service_is_found_at_the_address_of_its_network(agent: RealAgent) -> None:
    job = a_job("served", SERVE, network=BRIDGED)
    job["TaskGroups"][0]["Services"] = [
        {"Name": "served", "Provider": "nomad", "PortLabel": "http", "AddressMode": "alloc"}
    ]
    alloc = run(agent, job)
    [service] = agent.wait_for("/v1/service/served", lambda found: found)

    assert (service["Address"], service["Port"]) == (alloc["NetworkStatus"]["Address"], 8080)
    stop(agent, "served", alloc["ID"])


def test_a_plugin_that_fails_is_told(agent: RealAgent) -> None:
    broken = {"cniVersion": "0.4.0", "name": "broken", "type": "no-such-plugin"}
    (agent.directory / "cni/broken.conf").write_text(json.dumps(broken))
    agent.stop()
    agent.start()
    alloc = run(agent, a_job("broken", SERVE, network={"Mode": "cni/broken"}), status="failed")

    [failure] = [e for e in alloc["TaskStates"]["t"]["Events"] if e["Type"] == "Setup Failure"]
    assert 'pre-run hook "network" failed' in failure["DisplayMessage"]
    assert (
        'plugin type="no-such-plugin" failed: it is in none of the directories' in failure["DisplayMessage"]
    )
    assert_no_traces(alloc["ID"])
