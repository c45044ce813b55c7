"""Which ports a tunnel may lead to."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.scheduler.reconcile.builders import a_job, an_alloc
from yurt.api.errors import HttpError
from yurt.api.v1.tunnels import Target, find_target
from yurt.model.alloc import Allocation, NetworkStatus
from yurt.model.allocated import AllocatedPort, AllocatedResources, AllocatedShared

PORTS = (
    AllocatedPort(label="http", value=23456, to=8080, host_ip="192.0.2.1"),
    AllocatedPort(label="rpc", value=23457, host_ip="192.0.2.1"),
)


def an_alloc_with_ports(*, own_address: str = "") -> Allocation:
    resources = AllocatedResources(shared=AllocatedShared(ports=PORTS))
    network = NetworkStatus(address=own_address) if own_address else None
    return replace(an_alloc(a_job()), resources=resources, network_status=network)


@pytest.mark.parametrize("name", ["http", "23456", "8080"])
def test_ports_on_the_host_are_found_by_label_and_number(name: str) -> None:
    assert find_target(an_alloc_with_ports(), name) == Target("192.0.2.1", 23456)


@pytest.mark.parametrize(("name", "port"), [("http", 8080), ("rpc", 23457), ("9999", 9999)])
def test_a_network_of_its_own_is_entered(name: str, port: int) -> None:
    assert find_target(an_alloc_with_ports(own_address="172.26.64.2"), name) == Target("172.26.64.2", port)


@pytest.mark.parametrize("name", ["22", "grpc", "", "0", "70000", "-1", "²"])
def test_the_hosts_other_ports_stay_closed(name: str) -> None:
    with pytest.raises(HttpError, match=r"it has http \(8080\), rpc \(23457\)"):
        find_target(an_alloc_with_ports(), name)


@pytest.mark.parametrize("name", ["0", "70000", "x"])
def test_a_network_of_its_own_has_no_other_ports_either(name: str) -> None:
    with pytest.raises(HttpError):
        find_target(an_alloc_with_ports(own_address="172.26.64.2"), name)
