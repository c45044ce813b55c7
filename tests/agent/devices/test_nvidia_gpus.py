"""What NVML tells of GPUs, as nodes offer it and tasks get it; `tests/device` asks real ones."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.agent.alloc_harness import a_node_context, running
from tests.agent.builders import a_job, a_task, an_alloc
from tests.agent.drivers.specs import a_spec
from tests.agent.virtual_clock import VirtualClock
from yurt.agent.devices.nvidia import NvidiaGpus, nvidia_options
from yurt.agent.devices.reservation import DeviceGone
from yurt.agent.drivers import BadPluginConfig, TaskDevice
from yurt.agent.drivers.docker.config import DockerConfig
from yurt.agent.drivers.docker.container import Facts, container_body
from yurt.agent.drivers.docker.options import DockerOptions
from yurt.agent.drivers.exec.bundle import device_file
from yurt.agent.node_context import NodeContext
from yurt.model.allocated import AllocatedDevice
from yurt.model.node import DeviceAttribute, DeviceLocality

FIRST, SECOND = "GPU-0f6b2b1c", "GPU-9d31a7ee"
MIB = 1 << 20


class FakeNvml:
    """NVML as far as it is asked: two GPUs of one model, in the words of the real library."""

    class NVMLError(Exception):
        """What the real one raises."""

    NVML_CLOCK_SM, NVML_CLOCK_MEM, NVML_TEMPERATURE_GPU = 1, 2, 0
    NVML_MEMORY_ERROR_TYPE_UNCORRECTED = NVML_VOLATILE_ECC = 0
    NVML_MEMORY_LOCATION_L1_CACHE, NVML_MEMORY_LOCATION_L2_CACHE, NVML_MEMORY_LOCATION_DEVICE_MEMORY = 0, 1, 2

    def __init__(self) -> None:
        self.uuids = [FIRST, SECOND]
        self.lost: set[int] = set()
        self.has_driver = True

    def nvmlInit(self) -> None:
        if not self.has_driver:
            raise self.NVMLError("Driver Not Loaded")

    def __getattr__(self, name: str) -> Any:
        answers: dict[str, Any] = {
            "nvmlDeviceGetCount": lambda: len(self.uuids),
            "nvmlDeviceGetHandleByIndex": lambda number: number,
            "nvmlDeviceGetUUID": lambda number: self.uuids[number],
            "nvmlDeviceGetName": lambda _: "NVIDIA H200",
            "nvmlDeviceGetMinorNumber": lambda number: number,
            "nvmlDeviceGetPciInfo": lambda number: SimpleNamespace(busId=f"00000000:0{number}:06.0"),
            "nvmlDeviceGetMemoryInfo": self._memory,
            "nvmlDeviceGetBAR1MemoryInfo": lambda _: SimpleNamespace(bar1Total=262144 * MIB, bar1Used=MIB),
            "nvmlDeviceGetPowerManagementLimit": lambda _: 700_000,
            "nvmlDeviceGetPowerUsage": lambda _: 113_400,
            "nvmlDeviceGetMaxClockInfo": lambda _, kind: 1980 if kind == self.NVML_CLOCK_SM else 3201,
            "nvmlDeviceGetMaxPcieLinkGeneration": lambda _: 5,
            "nvmlDeviceGetMaxPcieLinkWidth": lambda _: 16,
            "nvmlSystemGetDriverVersion": lambda: "580.159.04",
            "nvmlDeviceGetDisplayMode": lambda _: 0,
            "nvmlDeviceGetPersistenceMode": lambda _: 1,
            "nvmlDeviceGetUtilizationRates": lambda _: SimpleNamespace(gpu=42, memory=7),
            "nvmlDeviceGetTemperature": lambda *_: 37,
        }
        return answers.get(name, self._cannot)

    def _memory(self, number: int) -> SimpleNamespace:
        if number in self.lost:
            raise self.NVMLError("GPU is lost")
        return SimpleNamespace(total=143771 * MIB, used=10 * MIB)

    def _cannot(self, *_arguments: object) -> None:
        raise self.NVMLError("Not Supported")


def gpus(nvml: FakeNvml | None = None, **config: object) -> NvidiaGpus:
    return NvidiaGpus(nvidia_options(config), library=nvml or FakeNvml())


def given(*ids: str) -> tuple[AllocatedDevice, ...]:
    return (AllocatedDevice(vendor="nvidia", type="gpu", name="NVIDIA H200", device_ids=ids),)


def test_gpus_of_one_model_are_one_group() -> None:
    [group] = gpus().find()

    assert (group.vendor, group.type, group.name) == ("nvidia", "gpu", "NVIDIA H200")
    assert [(one.id, one.healthy, one.locality) for one in group.instances or ()] == [
        (FIRST, True, DeviceLocality(pci_bus_id="00000000:00:06.0")),
        (SECOND, True, DeviceLocality(pci_bus_id="00000000:01:06.0")),
    ]
    assert group.attributes == {
        "memory": DeviceAttribute(int_value=143771, unit="MiB"),
        "bar1": DeviceAttribute(int_value=262144, unit="MiB"),
        "power": DeviceAttribute(int_value=700, unit="W"),
        "cores_clock": DeviceAttribute(int_value=1980, unit="MHz"),
        "memory_clock": DeviceAttribute(int_value=3201, unit="MHz"),
        "pci_bandwidth": DeviceAttribute(int_value=63008, unit="MB/s"),
        "driver_version": DeviceAttribute(string="580.159.04"),
        "display_state": DeviceAttribute(string="Disabled"),
        "persistence_mode": DeviceAttribute(string="Enabled"),
    }


def test_ignored_gpus_are_not_offered() -> None:
    [group] = gpus(ignored_gpu_ids=[FIRST]).find()
    assert [one.id for one in group.instances or ()] == [SECOND]


def test_without_gpus_nothing_is_said() -> None:
    nvml = FakeNvml()
    nvml.has_driver = False
    found = gpus(nvml)

    assert found.find() == ()
    assert found.stats("now") == ()
    assert gpus(enabled=False).find() == ()


def test_this_machine_answers_too() -> None:
    """Whatever it has: the real library finds its GPUs, or none."""
    groups = NvidiaGpus(nvidia_options(None)).find()
    assert bool(groups) == any(path.name[6:].isdigit() for path in Path("/dev").glob("nvidia[0-9]*"))


def test_a_lost_gpu_is_unhealthy_and_given_to_nobody() -> None:
    nvml = FakeNvml()
    nvml.lost = {1}
    found = gpus(nvml)
    [group] = found.find()

    assert [(one.healthy, one.health_description) for one in group.instances or ()] == [
        (True, ""),
        (False, "the GPU does not answer: GPU is lost"),
    ]
    with pytest.raises(DeviceGone, match=SECOND):
        found.reservation(given(SECOND))


def test_a_task_gets_the_files_of_its_own_gpus() -> None:
    found = gpus()
    found.find()
    reserved = found.reservation(given(SECOND))

    assert reserved.env == {"NVIDIA_VISIBLE_DEVICES": SECOND, "CUDA_VISIBLE_DEVICES": SECOND}
    assert reserved.files[0].path == "/dev/nvidia1"
    assert "/dev/nvidia0" not in {file.path for file in reserved.files}
    assert found.reservation(given(FIRST, SECOND)).env["NVIDIA_VISIBLE_DEVICES"] == f"{FIRST},{SECOND}"
    other = AllocatedDevice(vendor="intel", type="qat", name="x", device_ids=("a",))
    assert found.reservation((other,)).files == ()


def test_statistics_name_what_the_gpu_can_tell() -> None:
    [group] = gpus().stats("2026-01-01T00:00:00Z")
    stats = group.instance_stats[FIRST]

    assert stats.summary is not None
    assert (stats.summary.int_numerator_val, stats.summary.int_denominator_val) == (10, 143771)
    told = {name: (value.int_numerator_val, value.unit) for name, value in stats.stats.attributes.items()}
    assert told == {
        "Power usage": (113, "W"),
        "GPU utilization": (42, "%"),
        "Memory utilization": (7, "%"),
        "Temperature": (37, "C"),
        "Memory state": (10, "MiB"),
        "BAR1 buffer state": (1, "MiB"),
    }


@pytest.mark.parametrize("config", [{"enabled": "perhaps"}, {"gpus": 1}, {"fingerprint_period": "1ms"}])
def test_bad_settings_are_refused(config: dict[str, Any]) -> None:
    with pytest.raises(BadPluginConfig, match="nvidia-gpu"):
        nvidia_options(config)


def test_docker_uses_nvidias_runtime_for_gpus(tmp_path: Path) -> None:
    spec = a_spec(tmp_path, {}, devices=(TaskDevice(path="/dev/nvidia0"),))
    for wanted, used in (("", "nvidia"), ("runc", "runc")):
        config = DockerConfig(image="x", runtime=wanted)
        body = container_body(spec, config, DockerOptions(), Facts(image_id="x"))
        assert body["HostConfig"]["Runtime"] == used


def test_a_device_file_is_named_by_its_numbers() -> None:
    null = device_file(TaskDevice(path="/dev/null"))
    assert (null.rule, null.major) == ("c 1:3 rw", os.major(os.stat("/dev/null").st_rdev))


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def node(tmp_path: Path, clock: VirtualClock) -> NodeContext:
    context = a_node_context(tmp_path, clock)
    context.devices = gpus()
    context.devices.find()
    return context


async def test_the_environment_of_a_task_names_its_gpus(node: NodeContext) -> None:
    alloc = an_alloc(a_job(a_task(config={"run_for": "1h"})))
    alloc.resources.tasks["t"] = type(alloc.resources.tasks["t"])(devices=given(FIRST))
    async with running(alloc, node) as run:
        await run.until_state("t", "running")
        env = run.runner.tasks["t"].env().variables

    assert env["NVIDIA_VISIBLE_DEVICES"] == FIRST


async def test_a_task_whose_gpu_is_gone_does_not_start(node: NodeContext) -> None:
    alloc = an_alloc(a_job(a_task(config={"run_for": "1h"})))
    alloc.resources.tasks["t"] = type(alloc.resources.tasks["t"])(devices=given("GPU-gone"))
    async with running(alloc, node) as run:
        await run.until_event(
            "t", "Task hook failed: devices: GPU GPU-gone is not on this node any more, or does not work"
        )
