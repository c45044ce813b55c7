"""Debian's Prometheus scrapes an agent, and the requests by which Prometheus finds services."""

from __future__ import annotations

import contextlib
import gzip
import http.client
import json
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.support.real_agent import RealAgent, running_agent

SCRAPED_TIMEOUT_S = 60.0
POLL_S = 0.1
TELEMETRY = "telemetry {\n  prometheus_metrics = true\n}\n"


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealAgent]:
    with running_agent(tmp_path_factory.mktemp("agent"), more_config=TELEMETRY) as started:
        yield started


@contextlib.contextmanager
def _prometheus(directory: Path, target: str) -> Iterator[int]:
    """Prometheus on loopback, scraping one target; gives its port."""
    binary = shutil.which("prometheus")
    assert binary, "these tests need Debian's prometheus: apt-get install prometheus"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    config = directory / "prometheus.yml"
    scrape = {
        "job_name": "yurt",
        "metrics_path": "/v1/metrics",
        "params": {"format": ["prometheus"]},
        "scrape_interval": "1s",
        "static_configs": [{"targets": [target]}],
    }
    # JSON is YAML.
    config.write_text(json.dumps({"scrape_configs": [scrape]}))
    command = [
        binary,
        f"--config.file={config}",
        f"--storage.tsdb.path={directory / 'tsdb'}",
        f"--web.listen-address=127.0.0.1:{port}",
    ]
    with (
        (directory / "prometheus.log").open("wb") as log,
        subprocess.Popen(command, stdout=log, stderr=log) as process,
    ):
        try:
            yield port
        finally:
            process.terminate()
            process.wait()


def _ask(port: int, path: str, headers: Mapping[str, str] | None = None) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("GET", path, headers=dict(headers or {}))
        answer = connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
    finally:
        connection.close()


def _value(port: int, expression: str) -> list[Any]:
    try:
        status, _, body = _ask(port, f"/api/v1/query?query={quote(expression)}")
    except OSError:
        return []
    return json.loads(body)["data"]["result"] if status == http.HTTPStatus.OK else []


def test_prometheus_scrapes_the_metrics(agent: RealAgent, tmp_path: Path) -> None:
    agent.call("GET", "/v1/jobs")
    with _prometheus(tmp_path, f"127.0.0.1:{agent.http_port}") as port:
        end = time.monotonic() + SCRAPED_TIMEOUT_S
        while not (found := _value(port, 'nomad_http_requests{path="/v1/jobs"}')):
            assert time.monotonic() < end, (tmp_path / "prometheus.log").read_text()[-3000:]
            time.sleep(POLL_S)  # Prometheus scrapes on its own clock
        assert float(found[0]["value"][1]) >= 1
        assert [one["value"][1] for one in _value(port, "up")] == ["1"]


def test_metrics_are_refused_where_they_are_not_enabled(tmp_path: Path) -> None:
    with running_agent(tmp_path, client=False) as plain:
        answer = plain.call("GET", "/v1/metrics?format=prometheus")
    assert (answer.status, answer.text) == (415, "Prometheus is not enabled")


@pytest.fixture(scope="module")
def service(agent: RealAgent) -> str:
    """A registered service of one instance."""
    task = {"Name": "t", "Driver": "raw_exec", "Config": {"command": "/bin/sleep", "args": ["600"]}}
    port = {"Label": "http"}
    offered = {"Name": "shop", "PortLabel": "http", "Tags": ["blue", "v1"], "Provider": "nomad"}
    group = {"Name": "g", "Tasks": [task], "Networks": [{"DynamicPorts": [port]}], "Services": [offered]}
    answer = agent.call("PUT", "/v1/jobs", {"Job": {"ID": "shop", "Name": "shop", "TaskGroups": [group]}})
    assert answer.status == 200, answer.text
    agent.wait_for("/v1/service/shop", lambda found: len(found) == 1)
    return "shop"


def test_services_are_found_as_prometheus_asks_for_them(agent: RealAgent, service: str) -> None:
    headers = {"Accept-Encoding": "gzip", "Authorization": "Bearer none", "User-Agent": "Prometheus/2.42"}
    status, answered, body = _ask(
        agent.http_port, "/v1/services?namespace=default&region=global&stale=", headers
    )
    assert (status, answered["content-encoding"]) == (200, "gzip")
    assert int(answered["x-nomad-index"]) > 0
    (listed,) = json.loads(gzip.decompress(body))
    assert listed["Namespace"] == "default"
    assert [(one["ServiceName"], sorted(one["Tags"])) for one in listed["Services"]] == [
        (service, ["blue", "v1"])
    ]
    path = f"/v1/service/{service}?namespace=default&region=global&stale="
    status, answered, body = _ask(agent.http_port, path, headers)
    assert (status, answered["content-encoding"]) == (200, "gzip")
    (instance,) = json.loads(gzip.decompress(body))
    assert instance["ServiceName"] == service
    assert instance["Address"]
    assert instance["Port"] > 0
    assert {"ID", "AllocID", "JobID", "NodeID", "Datacenter", "Namespace", "Tags"} <= set(instance)


def test_a_blocking_query_sees_a_service_come(agent: RealAgent, service: str) -> None:
    _, answered, _ = _ask(agent.http_port, "/v1/services?stale=")
    index = answered["x-nomad-index"]
    _, answered, _ = _ask(agent.http_port, f"/v1/services?stale=&index={index}&wait=10ms")
    assert answered["x-nomad-index"] == index


def test_discovery_needs_a_token_where_access_is_controlled(tmp_path: Path) -> None:
    guarded = RealAgent(tmp_path, client=False, more_config="acl {\n  enabled = true\n}\n")
    guarded.start()
    try:
        secret = guarded.call("PUT", "/v1/acl/bootstrap").json["SecretID"]
        path = "/v1/services?namespace=default&region=global&stale="
        assert _ask(guarded.http_port, path)[0] == http.HTTPStatus.FORBIDDEN
        allowed = _ask(guarded.http_port, path, {"Authorization": f"Bearer {secret}"})
        assert (allowed[0], json.loads(allowed[2])) == (200, [])
    finally:
        guarded.stop()
