"""What the Docker Engine tells of containers, images and itself, as far as it is used."""

from __future__ import annotations

import msgspec


class _Answer(msgspec.Struct, frozen=True, kw_only=True, rename="pascal"):
    """Names are Docker's."""


class Version(_Answer, frozen=True, kw_only=True):
    """`GET /version`."""

    version: str = ""


class Info(_Answer, frozen=True, kw_only=True):
    """`GET /info`."""

    runtimes: dict[str, msgspec.Raw] | None = None
    os_type: str = msgspec.field(name="OSType", default="")
    cgroup_version: str = ""


class IpamConfig(_Answer, frozen=True, kw_only=True):
    """One range of a network's addresses."""

    gateway: str = ""


class Ipam(_Answer, frozen=True, kw_only=True):
    """How a network gives out addresses."""

    config: tuple[IpamConfig, ...] | None = None


class Network(_Answer, frozen=True, kw_only=True):
    """`GET /networks/<name>`."""

    ipam: Ipam = msgspec.field(name="IPAM", default=Ipam())


class ContainerState(_Answer, frozen=True, kw_only=True):
    """How a container is, or how it ended."""

    running: bool = False
    oom_killed: bool = msgspec.field(name="OOMKilled", default=False)
    exit_code: int = 0
    error: str = ""
    started_at: str | None = None
    finished_at: str | None = None


class Endpoint(_Answer, frozen=True, kw_only=True):
    """A container in a network."""

    ip_address: str = msgspec.field(name="IPAddress", default="")
    global_ipv6_address: str = msgspec.field(name="GlobalIPv6Address", default="")


class NetworkSettings(_Answer, frozen=True, kw_only=True):
    """All networks of a container."""

    sandbox_key: str = ""
    networks: dict[str, Endpoint] | None = None


class ContainerConfig(_Answer, frozen=True, kw_only=True):
    """What a container was made with."""

    tty: bool = False
    labels: dict[str, str] | None = None


class Container(_Answer, frozen=True, kw_only=True):
    """`GET /containers/<id>/json`."""

    id: str
    image: str = ""
    state: ContainerState = ContainerState()
    config: ContainerConfig = ContainerConfig()
    network_settings: NetworkSettings = NetworkSettings()


class ListedContainer(_Answer, frozen=True, kw_only=True):
    """An entry of `GET /containers/json`; `created` in seconds."""

    id: str
    created: int = 0
    labels: dict[str, str] | None = None


class Image(_Answer, frozen=True, kw_only=True):
    """`GET /images/<name>/json`."""

    id: str


class Created(_Answer, frozen=True, kw_only=True):
    """`POST /containers/create` and `POST /containers/<id>/exec`."""

    id: str


class Exec(_Answer, frozen=True, kw_only=True):
    """`GET /exec/<id>/json`."""

    exit_code: int | None = None


class CpuUsage(msgspec.Struct, frozen=True, kw_only=True):
    """Compute used so far, in nanoseconds."""

    usage_in_usermode: int = 0
    usage_in_kernelmode: int = 0


class Throttling(msgspec.Struct, frozen=True, kw_only=True):
    """How often and how long a container was held up."""

    throttled_periods: int = 0
    throttled_time: int = 0


class ContainerCpu(msgspec.Struct, frozen=True, kw_only=True):
    """A container's compute."""

    cpu_usage: CpuUsage = CpuUsage()
    throttling_data: Throttling = Throttling()


class ContainerMemory(msgspec.Struct, frozen=True, kw_only=True):
    """A container's memory, in bytes."""

    usage: int = 0
    max_usage: int = 0
    stats: dict[str, int] = {}


class ContainerStats(msgspec.Struct, frozen=True, kw_only=True):
    """`GET /containers/<id>/stats`."""

    cpu_stats: ContainerCpu = ContainerCpu()
    memory_stats: ContainerMemory = ContainerMemory()


class ProgressDetail(msgspec.Struct, frozen=True, kw_only=True):
    """How far one layer is."""

    current: int = 0
    total: int = 0


class Progress(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A line of what is told during a pull or load."""

    status: str = ""
    id: str = ""
    error: str = ""
    stream: str = ""
    progress_detail: ProgressDetail | None = None
