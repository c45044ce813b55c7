"""`resources` and `network`."""

from typing import Final

from yurt.jobspec.decoding import BlockSpec, JSONObject, Nested, Reading
from yurt.jobspec.fields import plain_flag, plain_text, plain_whole, text_map, texts, whole
from yurt.jobspec.schema.placement import AFFINITIES, CONSTRAINTS


def _named(members: JSONObject, reading: Reading) -> JSONObject:
    return {"Name": reading.label, **members}


def _network(members: JSONObject, _: Reading) -> JSONObject:
    ports = members.pop("Ports") or []
    static = [port for port in ports if port["Value"] > 0]
    dynamic = [port for port in ports if port["Value"] <= 0]
    return members | {"ReservedPorts": static or None, "DynamicPorts": dynamic or None}


_PORT: Final = BlockSpec(
    plain_whole("static", "Value"),
    plain_whole("to", "To"),
    plain_text("host_network", "HostNetwork"),
    plain_flag("ignore_collision", "IgnoreCollision"),
    labels=("label",),
    finish=lambda members, reading: {"Label": reading.label, **members},
)
_DNS: Final = BlockSpec(
    texts("servers", "Servers"), texts("searches", "Searches"), texts("options", "Options")
)

NETWORK: Final = BlockSpec(
    plain_text("mode", "Mode"),
    plain_text("device", "Device"),
    plain_text("cidr", "CIDR"),
    plain_text("ip", "IP"),
    plain_text("hostname", "Hostname"),
    whole("mbits", "MBits"),
    blocks=(
        Nested("dns", "DNS", _DNS),
        Nested("cni", "CNI", BlockSpec(text_map("args", "Args"))),
        Nested("port", "Ports", _PORT, is_list=True),
    ),
    finish=_network,
)
NETWORKS: Final = Nested("network", "Networks", NETWORK, is_list=True)

_DEVICE: Final = BlockSpec(
    whole("count", "Count"), labels=("name",), blocks=(CONSTRAINTS, AFFINITIES), finish=_named
)
_NUMA: Final = BlockSpec(plain_text("affinity", "Affinity"), texts("devices", "Devices"))

RESOURCES: Final = BlockSpec(
    whole("cpu", "CPU"),
    whole("cores", "Cores"),
    whole("memory", "MemoryMB"),
    whole("memory_max", "MemoryMaxMB"),
    whole("secrets", "SecretsMB"),
    whole("disk", "DiskMB"),
    whole("iops", "IOPS"),
    blocks=(Nested("device", "Devices", _DEVICE, is_list=True), Nested("numa", "NUMA", _NUMA), NETWORKS),
)
