"""Agents over TLS: who is let in, who is not, and certificates that change while agents run."""

from __future__ import annotations

import http.client
import json
import os
import ssl
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from tests.support.certificates import Certificates, Pair
from tests.support.real_agent import AgentEnded, RealAgent, clean_up, free_ports, running_agent
from yurt.model.client_protocol import Heartbeat
from yurt.model.wire import NodeID

YURT = Path(sys.executable).parent / "yurt"
FIRST_WORD_TIMEOUT_S = 30
CLIENT_ADDRESS = "127.0.0.2"


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def server_pair(certificates: Certificates) -> Pair:
    return certificates.make("server")


@pytest.fixture(scope="module")
def client_pair(certificates: Certificates) -> Pair:
    return certificates.make("client")


@pytest.fixture(scope="module")
def cli_pair(certificates: Certificates) -> Pair:
    return certificates.make("cli")


@pytest.fixture(scope="module")
def server(
    certificates: Certificates, server_pair: Pair, cli_pair: Pair, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RealAgent]:
    with running_agent(
        tmp_path_factory.mktemp("server"),
        client=False,
        more_config=certificates.block(server_pair, "verify_https_client = true"),
        tls=certificates.context(cli_pair),
    ) as agent:
        yield agent


def ask(
    port: int,
    context: ssl.SSLContext | None,
    path: str = "/v1/status/leader",
    body: bytes = b"",
    host: str = "127.0.0.1",
) -> int:
    """Make one call on a new connection, plain without a context; returns the status."""
    connection = (
        http.client.HTTPSConnection(host, port, timeout=30, context=context)
        if context is not None
        else http.client.HTTPConnection(host, port, timeout=30)
    )
    try:
        connection.request("POST" if body else "GET", path, body or None)
        return connection.getresponse().status
    finally:
        connection.close()


def test_the_api_answers_who_shows_a_certificate_of_the_authority(server: RealAgent) -> None:
    assert server.call("GET", "/v1/status/leader").status == 200


def test_the_api_hangs_up_on_callers_without_a_certificate(
    server: RealAgent, certificates: Certificates
) -> None:
    with pytest.raises((ssl.SSLError, ConnectionError, http.client.HTTPException)):
        ask(server.http_port, certificates.context())


def test_both_listeners_hang_up_on_certificates_of_another_authority(
    server: RealAgent, certificates: Certificates, tmp_path: Path
) -> None:
    foreign = certificates.context(Certificates(tmp_path).make("server"))
    for port in (server.http_port, server.rpc_port):
        with pytest.raises((ssl.SSLError, ConnectionError, http.client.HTTPException)):
            ask(port, foreign)


@pytest.mark.parametrize("listener", ["http_port", "rpc_port"])
def test_nothing_is_served_in_the_clear(server: RealAgent, listener: str) -> None:
    with pytest.raises((ConnectionError, http.client.HTTPException)):
        ask(getattr(server, listener), None)


HEARTBEAT = msgspec.msgpack.encode(Heartbeat(node_id=NodeID("nobody"), secret_id="none"))


def test_internal_calls_are_for_clients_and_servers(
    server: RealAgent, certificates: Certificates, client_pair: Pair, server_pair: Pair, cli_pair: Pair
) -> None:
    path = "/rpc/v1/heartbeat"
    statuses = [
        ask(server.rpc_port, certificates.context(pair), path, HEARTBEAT)
        for pair in (client_pair, server_pair, cli_pair)
    ]
    assert statuses == [200, 200, 403]


def client_agent(
    directory: Path, certificates: Certificates, pair: Pair, server_port: int
) -> subprocess.Popen[str]:
    """Start an agent that is only a client."""
    directory.mkdir(exist_ok=True)
    config = directory / "client.hcl"
    # An address that no certificate has: agents are known by their roles, not by where they are.
    config.write_text(
        f"""
data_dir  = "{directory}/data"
name      = "client1"
bind_addr = "{CLIENT_ADDRESS}"
advertise {{
  http = "{CLIENT_ADDRESS}"
  rpc  = "{CLIENT_ADDRESS}"
}}
ports {{
  http = {free_ports(1)[0]}
}}
simple_api {{
  enabled = false
}}
client {{
  enabled = true
  servers = ["127.0.0.1:{server_port}"]
}}
"""
        + certificates.block(pair)
    )
    command = [str(YURT), "agent", "-config", str(config)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def ended(process: subprocess.Popen[str], directory: Path) -> str:
    """End an agent; returns all it said."""
    process.terminate()
    output, _ = process.communicate(timeout=FIRST_WORD_TIMEOUT_S)
    clean_up(directory)
    return output


def said(process: subprocess.Popen[str], text: str) -> bool:
    """Wait until an agent says `text`; False if it ends without."""
    assert process.stdout is not None
    return any(text in line for line in process.stdout)


def test_a_client_joins_with_its_certificate(
    server: RealAgent, certificates: Certificates, client_pair: Pair, tmp_path: Path
) -> None:
    process = client_agent(tmp_path, certificates, client_pair, server.rpc_port)
    try:
        nodes = server.wait_for("/v1/nodes", lambda nodes: any(n["Status"] == "ready" for n in nodes))
        assert [node["Name"] for node in nodes] == ["client1"]
        # The server hands this on to the node, over TLS as well.
        asked = server.call("GET", f"/v1/client/stats?node_id={nodes[0]['ID']}")
        assert (asked.status, "Memory" in asked.text) == (200, True)
        # What the node is asked it hands on to a server.
        address = server.call("GET", f"/v1/node/{nodes[0]['ID']}").json["HTTPAddr"]
        host, _, port = address.partition(":")
        context = certificates.context(client_pair)
        context.check_hostname = False
        assert ask(int(port), context, "/v1/nodes", host=host) == 200
    finally:
        ended(process, tmp_path)


def test_a_client_believes_no_server_with_a_clients_certificate(
    certificates: Certificates, client_pair: Pair, tmp_path: Path
) -> None:
    """Whoever has taken over a client must not be able to play the server for others."""
    impostor_config = certificates.block(client_pair).replace("verify_server_hostname = true", "")
    with running_agent(
        tmp_path / "impostor",
        client=False,
        more_config=impostor_config,
        tls=certificates.context(),
    ) as impostor:
        process = client_agent(tmp_path / "client", certificates, client_pair, impostor.rpc_port)
        try:
            assert said(process, "server.global.nomad"), "it says which name it missed"
            assert impostor.call("GET", "/v1/nodes").json == []
        finally:
            ended(process, tmp_path / "client")


def test_simulated_nodes_join_over_tls(
    server: RealAgent, certificates: Certificates, client_pair: Pair, cli_pair: Pair
) -> None:
    def simulate(pair: Pair) -> subprocess.Popen[str]:
        flags = ("-ca-cert", str(certificates.authority), "-client-cert", str(pair.certificate))
        command = [str(YURT), "node", "simulate", "-count", "2", "-leave", "-address", server.address, *flags]
        return subprocess.Popen(
            [*command, "-client-key", str(pair.key)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    process = simulate(client_pair)
    assert process.stdout is not None
    assert process.stdout.readline() == "2 nodes joined\n"
    process.terminate()
    assert process.communicate(timeout=FIRST_WORD_TIMEOUT_S)[0] == "2 nodes left\n"

    refused = simulate(cli_pair)
    output, _ = refused.communicate(timeout=FIRST_WORD_TIMEOUT_S)
    assert "the certificate of cli.global.nomad may not do this" in output


def test_the_command_line_takes_its_files_from_flags_and_environment(
    server: RealAgent, certificates: Certificates, cli_pair: Pair
) -> None:
    files = {
        "CACERT": str(certificates.authority),
        "CLIENT_CERT": str(cli_pair.certificate),
        "CLIENT_KEY": str(cli_pair.key),
    }

    def status(arguments: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(YURT), "server", "members", *arguments],
            env={"PATH": os.environ["PATH"], **environment},
            capture_output=True,
            text=True,
            check=False,
        )

    flags = [
        f"-{name.lower().replace('_', '-').replace('cacert', 'ca-cert')}={f}" for name, f in files.items()
    ]
    ways = [
        status(["-address", server.address, *flags], {}),
        status([], {"YURT_ADDR": server.address, **{f"YURT_{n}": f for n, f in files.items()}}),
        status([], {"NOMAD_ADDR": server.address, **{f"NOMAD_{n}": f for n, f in files.items()}}),
    ]
    assert [way.returncode for way in ways] == [0, 0, 0], ways
    no_authority = status(["-address", server.address], {})
    assert no_authority.returncode == 1
    assert "certificate signed by unknown authority" in no_authority.stderr
    assert "YURT_CACERT" in no_authority.stderr


def served_serial(port: int, certificates: Certificates, pair: Pair) -> str:
    """The serial number of the certificate that a listener shows."""
    connection = http.client.HTTPSConnection(
        "127.0.0.1", port, timeout=30, context=certificates.context(pair)
    )
    connection.connect()
    try:
        certificate = connection.sock.getpeercert()
        assert certificate
        return str(certificate["serialNumber"])
    finally:
        connection.close()


def test_new_certificates_are_taken_over_and_open_connections_stay(
    tmp_path: Path, wait_until: Callable[[Callable[[], bool]], None]
) -> None:
    certificates = Certificates(tmp_path / "authority")
    cli = certificates.make("cli")
    pair = certificates.make("server")
    with running_agent(
        tmp_path / "agent",
        client=False,
        more_config=certificates.block(pair),
        tls=certificates.context(cli),
    ) as agent:
        before = served_serial(agent.http_port, certificates, cli)
        kept = agent.connect()
        kept.request("GET", "/v1/status/leader")
        assert kept.getresponse().read()
        certificates.make("server")
        agent.hang_up()
        wait_until(lambda: served_serial(agent.http_port, certificates, cli) != before)
        wait_until(lambda: served_serial(agent.rpc_port, certificates, cli) != before)
        sock = kept.sock
        kept.request("GET", "/v1/status/leader")
        assert kept.getresponse().read()
        assert kept.sock is sock
        kept.close()


def test_a_bad_certificate_changes_nothing_on_reload(
    tmp_path: Path, wait_until: Callable[[Callable[[], bool]], None]
) -> None:
    certificates = Certificates(tmp_path / "authority")
    cli = certificates.make("cli")
    pair = certificates.make("server")
    with running_agent(
        tmp_path / "agent",
        client=False,
        more_config=certificates.block(pair),
        tls=certificates.context(cli),
    ) as agent:
        before = served_serial(agent.http_port, certificates, cli)
        pair.certificate.write_text("not a certificate")
        agent.hang_up()
        wait_until(lambda: "config.not_reloaded" in agent.log.read_text())
        assert served_serial(agent.http_port, certificates, cli) == before


def test_an_agent_says_in_one_line_which_file_keeps_it_from_starting(tmp_path: Path) -> None:
    certificates = Certificates(tmp_path / "authority")
    pair = certificates.make("server")
    agent = RealAgent(tmp_path / "agent", client=False, more_config=certificates.block(pair))
    pair.key.unlink()
    with pytest.raises(AgentEnded):
        agent.start()
    line = f"==> tls.key_file {pair.key} cannot be read: No such file or directory\n"
    assert agent.log.read_text() == line


def test_node_addresses_and_settings_say_that_the_agent_has_tls(server: RealAgent) -> None:
    config = server.call("GET", "/v1/agent/self").json["config"]["TLSConfig"]
    assert (config["EnableHTTP"], config["EnableRPC"], config["VerifyHTTPSClient"]) == (True, True, True)
    assert "PRIVATE KEY" not in json.dumps(config)
