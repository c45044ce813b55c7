"""Capturing the state, the figures and the logs of a cluster into a directory."""

import json
import shutil
import tarfile
import threading
from pathlib import Path
from typing import NamedTuple

from yurt.cli.command import Session
from yurt.cli.errors import CommandError
from yurt.cli.lookup import find_node
from yurt.model.times import SECOND_NS
from yurt.sdk import Client, SdkError, agent, allocs, nodes

# What is there once: how the cluster is set up.
SETTINGS = {
    "cluster/agent-self.json": "/v1/agent/self",
    "cluster/members.json": "/v1/agent/members",
    "cluster/regions.json": "/v1/regions",
    "cluster/schedulers.json": "/v1/operator/scheduler/configuration",
    "cluster/autopilot.json": "/v1/operator/autopilot/configuration",
    "cluster/raft.json": "/v1/operator/raft/configuration",
    "cluster/namespaces.json": "/v1/namespaces",
    "cluster/node-pools.json": "/v1/node/pools",
}
# What changes.
STATE = {
    "jobs.json": "/v1/jobs",
    "allocations.json": "/v1/allocations",
    "evaluations.json": "/v1/evaluations",
    "deployments.json": "/v1/deployments",
    "nodes.json": "/v1/nodes",
    "services.json": "/v1/services",
    "volumes.json": "/v1/volumes",
    "metrics.json": "/v1/metrics",
    "autopilot-health.json": "/v1/operator/autopilot/health",
}
ALL = "all"
JOIN_LIMIT_S = 5.0
# Answers that mean a feature is off, not that the capture failed.
ABSENT = frozenset({404, 501})


class Capture:
    """Writes what the API tells below `directory`, and keeps a list of what it would not tell."""

    def __init__(self, session: Session, directory: Path, *, verbose: bool) -> None:
        self._session = session
        self._client = session.client.within(namespace="*")
        self._directory = directory
        self._verbose = verbose
        self._over = threading.Event()
        self.nodes: list[str] = []
        self.servers: list[str] = []
        self.problems: list[str] = []

    def find(self, *, nodes: str, node_class: str, nodes_max: int, servers: str) -> None:
        """Choose whose logs to capture. Raises `CommandError` for names that are not known."""
        try:
            members = [member.name for member in agent.members(self._client).value.members]
            listed = nodes_listing(self._client)
        except SdkError as error:
            raise CommandError(f"Error querying the cluster: {error}") from error
        self.servers = members if servers == ALL else servers.split(",")
        if nodes == ALL:
            found = [node_id for node_id, kind in listed if node_class in ("", kind)]
        else:
            found = [
                find_node(
                    self._session,
                    text,
                    not_found=f'No node(s) with prefix or id "{text}" found',
                    context="Error querying node",
                ).id
                for text in nodes.split(",")
            ]
        self.nodes = found[:nodes_max] if nodes_max > 0 else found
        try:
            self._directory.mkdir(parents=True)
        except OSError as error:
            raise CommandError(f"Cannot write {self._directory}: {(error.strerror or '').lower()}") from error

    def once(self) -> None:
        """Capture how the cluster is set up."""
        for name, path in SETTINGS.items():
            self._save(name, path)
        for node_id in self.nodes:
            self._save(f"client/{node_id}/node.json", f"/v1/node/{node_id}")
            self._save(f"client/{node_id}/host.json", "/v1/agent/host", node_id=node_id)

    def follow(
        self, *, duration_ns: int, interval_ns: int, log: "LogDetail", topics: str, event_index: int
    ) -> None:
        """Capture state every interval, and logs and events all the while."""
        sources = {
            f"client/{node}/monitor.log": _Source("/v1/agent/monitor", node_id=node, log=log)
            for node in self.nodes
        }
        for name in self.servers:
            source = _Source("/v1/agent/monitor", server_id=name, log=log)
            sources[f"server/{name}/monitor.log"] = source
        if topics not in ("", "none"):
            wanted = tuple(topic if ":" in topic else f"{topic}:*" for topic in topics.split(","))
            source = _Source("/v1/event/stream", topics=wanted, event_index=event_index)
            sources["cluster/events.json"] = source
        threads = [self._start(name, source) for name, source in sources.items()]
        end = self._session.now() + duration_ns
        count = 0
        try:
            while True:
                for name, path in STATE.items():
                    self._save(f"nomad/{count:04d}/{name}", path)
                for node_id in self.nodes:
                    self._save(
                        f"nomad/{count:04d}/client-{node_id}.json", "/v1/client/stats", node_id=node_id
                    )
                count += 1
                left = end - self._session.now()
                if left <= 0:
                    return
                self._session.sleep(min(left, interval_ns) / SECOND_NS)
        finally:
            self._over.set()
            for thread in threads:
                thread.stop()
            for thread in threads:
                thread.join(JOIN_LIMIT_S)

    def pack(self) -> Path:
        """Make one file of the directory, and remove it."""
        archive = self._directory.with_name(f"{self._directory.name}.tar.gz")
        with tarfile.open(archive, "w:gz") as tar:
            tar.add(self._directory, arcname=self._directory.name)
        shutil.rmtree(self._directory)
        return archive

    def _save(self, name: str, path: str, *, node_id: str = "") -> None:
        if self._verbose:
            self._session.console.output(f"    {path}")
        try:
            status, _, body = self._client.exchange("GET", path, node_id=node_id)
        except SdkError as error:
            self.problems.append(f"{path}: {error}")
            return
        if status in ABSENT:
            return
        if status >= 400:
            self.problems.append(f"{path}: {status} {body.decode(errors='replace').strip()}")
            return
        self._write(name, _pretty(body))

    def _write(self, name: str, data: bytes) -> None:
        target = self._directory / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)

    def _start(self, name: str, source: "_Source") -> "_Copy":
        target = self._directory / name
        target.parent.mkdir(parents=True, exist_ok=True)
        thread = _Copy(Client.of(self._session.settings), source, target, self)
        thread.start()
        return thread

    @property
    def is_over(self) -> bool:
        """Whether streams are ended on purpose."""
        return self._over.is_set()


class LogDetail(NamedTuple):
    """How much of the logs is captured."""

    level: str = ""
    with_location: bool = False


class _Source(NamedTuple):
    """An endless answer: a log, or events."""

    path: str
    node_id: str = ""
    server_id: str = ""
    log: LogDetail = LogDetail()
    topics: tuple[str, ...] = ()
    event_index: int = 0


class _Copy(threading.Thread):
    """Copies an endless answer into a file until it is stopped."""

    def __init__(self, client: Client, source: _Source, target: Path, capture: Capture) -> None:
        super().__init__(name=source.path, daemon=True)
        self._client = client
        self._source = source
        self._target = target
        self._capture = capture

    def run(self) -> None:
        """Copy."""
        try:
            answer = self._client.stream(
                self._source.path,
                node_id=self._source.node_id,
                server_id=self._source.server_id,
                log_level=self._source.log.level,
                log_include_location=self._source.log.with_location,
                topic=self._source.topics,
                index=self._source.event_index or "",
            )
            with answer as stream, self._target.open("wb") as file:
                chunks = allocs.data_of(stream) if self._target.suffix == ".log" else stream.chunks()
                for data in chunks:
                    file.write(data)
                    file.flush()
        except SdkError as error:
            if not self._capture.is_over:
                self._capture.problems.append(f"{self._target.name}: {error}")

    def stop(self) -> None:
        """End the stream."""
        self._client.transport.abort()


def nodes_listing(client: Client) -> list[tuple[str, str]]:
    """The ids and classes of all nodes that are up."""
    return [(node.id, node.node_class) for node in nodes.listing(client).value if node.status != "down"]


def _pretty(body: bytes) -> bytes:
    try:
        return json.dumps(json.loads(body), indent=2).encode() + b"\n"
    except ValueError:
        return body
