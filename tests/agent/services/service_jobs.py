"""Services, and who is told of them, for tests."""

from __future__ import annotations

import socket
from collections.abc import Iterable
from typing import Any

import msgspec

from yurt.agent.node_context import NodeContext
from yurt.model.allocated import AllocatedPort
from yurt.model.service import CheckRestart, Service, ServiceCheck
from yurt.model.service_registration import ServiceRegistration
from yurt.model.times import SECOND_NS


class RememberingRegistrar:
    """A Registrar that keeps what it is told."""

    def __init__(self) -> None:
        self.services: dict[str, ServiceRegistration] = {}
        self.log: list[str] = []

    def attach(self, node: NodeContext) -> RememberingRegistrar:
        node.services = self
        return self

    def put(self, services: Iterable[ServiceRegistration]) -> None:
        for service in services:
            self.services[service.id] = service
            self.log.append(f"+{service.service_name}")

    def remove(self, service_ids: Iterable[str]) -> None:
        for service_id in sorted(service_ids):
            removed = self.services.pop(service_id, None)
            if removed is not None:
                self.log.append(f"-{removed.service_name}")

    @property
    def names(self) -> list[str]:
        return sorted(service.service_name for service in self.services.values())


def a_check(kind: str = "tcp", **changes: Any) -> ServiceCheck:
    made = ServiceCheck(
        name="c", type=kind, interval=2 * SECOND_NS, timeout=SECOND_NS, path="/" if kind == "http" else ""
    )
    return msgspec.structs.replace(made, **changes)


def check_restart(limit: int, grace_s: int) -> CheckRestart:
    return CheckRestart(limit=limit, grace=grace_s * SECOND_NS)


def a_service(name: str = "chk", *checks: ServiceCheck, **changes: Any) -> Service:
    made = Service(name=name, provider="nomad", port_label="http", checks=checks or None)
    return msgspec.structs.replace(made, **changes)


def a_port(label: str = "http", value: int = 0, **changes: Any) -> AllocatedPort:
    made = AllocatedPort(label=label, value=value or free_port(), host_ip="127.0.0.1")
    return msgspec.structs.replace(made, **changes)


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port
