"""Copying files and forwarding ports, against a real agent."""

import re
import signal
import socket
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.real_commands import RealCommands, read_until
from tests.support.real_agent import RealAgent, running_agent

JOB = """
job "site" {
  group "g" {
    network {
      port "http" {}
    }
    task "web" {
      driver = "raw_exec"
      config {
        command = "/usr/bin/env"
        args    = ["python3", "-m", "http.server", "${NOMAD_PORT_http}", "--directory", "local"]
      }
      resources {
        cpu    = 20
        memory = 20
      }
    }
    task "side" {
      driver = "raw_exec"
      config {
        command = "/bin/sleep"
        args    = ["1000"]
      }
      resources {
        cpu    = 20
        memory = 20
      }
    }
  }
}
"""


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealAgent]:
    with running_agent(tmp_path_factory.mktemp("agent")) as agent:
        commands = RealCommands(agent, tmp_path_factory.mktemp("jobs"))
        assert commands("run", "-detach", commands.write("site.nomad.hcl", JOB)).exit_code == 0
        agent.wait_for(
            "/v1/job/site/allocations", lambda found: [a["ClientStatus"] for a in found] == ["running"]
        )
        yield agent


@pytest.fixture
def yurt(agent: RealAgent, tmp_path: Path) -> RealCommands:
    return RealCommands(agent, tmp_path)


def test_a_directory_goes_in_and_comes_back(yurt: RealCommands, tmp_path: Path) -> None:
    (tmp_path / "out" / "deep").mkdir(parents=True)
    (tmp_path / "out" / "deep" / "a b.bin").write_bytes(bytes(range(256)) * 1000)
    (tmp_path / "out" / "run.sh").write_text("true\n")
    (tmp_path / "out" / "run.sh").chmod(0o755)

    into = yurt("alloc", "cp", "-job", "out", "site:web/local/tree")
    back = yurt("alloc", "cp", "-job", "site:web/local/tree", "back")

    assert into.stdout == back.stdout == "Copied 2 files, 256005 bytes\n", into.stderr + back.stderr
    assert (tmp_path / "back/deep/a b.bin").read_bytes() == bytes(range(256)) * 1000
    assert (tmp_path / "back/run.sh").stat().st_mode & 0o777 == 0o755


def test_a_file_goes_into_a_directory_or_gets_a_new_name(yurt: RealCommands, tmp_path: Path) -> None:
    yurt.write("one.txt", "one\n")
    assert yurt("alloc", "cp", "-job", "-task", "side", "one.txt", "site:alloc/data/").exit_code == 0
    assert yurt("alloc", "cp", "-job", "one.txt", "site:side/local/other/two.txt").exit_code == 0
    assert yurt("alloc", "fs", "-job", "site", "alloc/data/one.txt").stdout == "one\n"
    assert yurt("alloc", "fs", "-job", "site", "side/local/other/two.txt").stdout == "one\n"
    assert yurt("alloc", "cp", "-job", "site:side/local/other/two.txt", ".").exit_code == 0
    assert (tmp_path / "two.txt").read_text() == "one\n"


@pytest.mark.parametrize(
    ("source", "destination", "problem"),
    [
        ("here", "there", "One of the two must be in an allocation"),
        ("site:web/local", "site:web/local", "One of the two must be in an allocation"),
        ("nowhere", "site:web/local/", "Error reading nowhere: no such file or directory"),
        ("/etc/hostname", "site:web/bin/x", "is none of these"),
        ("/etc/hostname", "site:web/local/../../../x", "leads out of the allocation"),
        ("/etc/hostname", "site:alloc/data/", "is running the following tasks"),
        ("site:web/missing", ".", "no such file or directory"),
        ("site:../../../etc/passwd", ".", "Error reading"),
    ],
)
def test_copies_that_cannot_be_made_say_why(
    yurt: RealCommands, tmp_path: Path, source: str, destination: str, problem: str
) -> None:
    result = yurt("alloc", "cp", "-job", source, destination)
    assert result.exit_code == 1
    assert problem in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == []


def test_a_local_port_leads_to_the_allocation(yurt: RealCommands) -> None:
    yurt.write("page.txt", "served\n" * 10_000)
    assert yurt("alloc", "cp", "-job", "page.txt", "site:web/local/").exit_code == 0
    with yurt.started("alloc", "port-forward", "-job", "site", ":http") as forwarding:
        said = read_until(forwarding, "Press ctrl+c")
        port = re.search(r"Forwarding 127\.0\.0\.1:(\d+) to \"http\"", said)
        assert port is not None, said
        for _ in range(3):
            with urllib.request.urlopen(f"http://127.0.0.1:{port[1]}/page.txt", timeout=30) as answer:
                assert answer.read() == b"served\n" * 10_000
        forwarding.send_signal(signal.SIGINT)
        assert forwarding.wait(30) == 0


@pytest.mark.parametrize(
    ("pair", "problem"),
    [
        ("22", '"22" is no port of allocation'),
        ("grpc", "it has http ("),
        ("1:2:3", "is no pair of ports"),
        ("70000:http", "ports go up to 65535"),
    ],
)
def test_other_ports_are_refused(yurt: RealCommands, pair: str, problem: str) -> None:
    result = yurt("alloc", "port-forward", "-job", "site", pair)
    assert result.exit_code == 1
    assert problem in result.stderr


def test_a_taken_local_port_is_reported(yurt: RealCommands) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        result = yurt("alloc", "port-forward", "-job", "site", f"{port}:http")
    assert result.exit_code == 1
    assert f"Cannot listen on 127.0.0.1:{port}: address already in use" in result.stderr
