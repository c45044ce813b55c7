"""Checks of services that the node runs itself."""

from __future__ import annotations

import hashlib

import msgspec

from yurt.agent.services.addresses import HOST, Endpoint, endpoint
from yurt.agent.services.registrations import Owner, interpolated
from yurt.model.service import Service, ServiceCheck
from yurt.model.wire import Wire

HEALTHINESS = "healthiness"
READINESS = "readiness"
PENDING = "pending"
SUCCESS = "success"
FAILURE = "failure"
IGNORE = "ignore"
WAITING_OUTPUT = "nomad: waiting to run"


class CheckResult(Wire, frozen=True, kw_only=True):
    """What a check found when it last ran; `timestamp` is in seconds."""

    id: str
    mode: str
    status: str
    status_code: int = 0
    output: str = ""
    timestamp: int = 0
    group: str = ""
    task: str = ""
    service: str = ""
    check: str = ""


class NodeCheck(msgspec.Struct, frozen=True, kw_only=True):
    """A check of a service of a task, or of the group without one."""

    id: str
    task: str
    service: Service
    check: ServiceCheck

    @property
    def mode(self) -> str:
        """Whether deployments wait for the check to pass."""
        return READINESS if self.check.on_update == IGNORE else HEALTHINESS


def checks_of(service: Service, owner: Owner) -> list[NodeCheck]:
    """The checks of a service, with all their `${…}` replaced."""
    made = interpolated(service, owner.env)
    return [
        NodeCheck(id=check_id(owner, check), task=owner.task, service=made, check=check)
        for check in made.checks or ()
    ]


def check_id(owner: Owner, check: ServiceCheck) -> str:
    """The id of a check: the same for as long as what it does is the same."""
    alloc = owner.alloc
    parts = (
        alloc.id,
        alloc.task_group,
        owner.task,
        check.name,
        check.type,
        check.port_label,
        check.on_update,
        check.address_mode,
        check.interval,
        check.timeout,
        check.protocol,
        check.path,
        check.method,
        check.tls_skip_verify,
    )
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()


def target(check: NodeCheck, owner: Owner) -> Endpoint:
    """Where a check goes to. Raises NoAddress."""
    service = check.service
    return endpoint(
        owner.alloc.resources,
        task=owner.task,
        mode=check.check.address_mode or HOST,
        label=check.check.port_label or service.port_label,
        fixed="" if check.check.address_mode else service.address,
        network=owner.network,
        status=owner.status,
    )


def pending(check: NodeCheck, alloc_name: str, *, at_s: int) -> CheckResult:
    """The result of a check that did not run yet."""
    return CheckResult(
        id=check.id,
        mode=check.mode,
        status=PENDING,
        output=WAITING_OUTPUT,
        timestamp=at_s,
        group=alloc_name,
        task=check.task,
        service=check.service.name,
        check=check.check.name,
    )
