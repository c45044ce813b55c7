"""NVIDIA GPUs, asked about through NVML."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from yurt.agent.devices.reservation import DeviceGone, Reservation
from yurt.agent.devices.stats import DeviceGroupStats, InstanceStats, StatObject, StatValue
from yurt.agent.drivers.config_schema import Seconds, decode_config
from yurt.agent.drivers.context import BadPluginConfig
from yurt.agent.drivers.driver import TaskDevice
from yurt.model.allocated import AllocatedDevice
from yurt.model.node import DeviceAttribute, DeviceLocality, NodeDevice, NodeDeviceResource

NAME = "nvidia-gpu"
VENDOR, TYPE = "nvidia", "gpu"
VISIBLE_VARIABLE = "NVIDIA_VISIBLE_DEVICES"
# Images have a runtime that shows them their GPUs only; others find them by what CUDA reads.
CUDA_VARIABLE = "CUDA_VISIBLE_DEVICES"
PERIOD_S_MIN = 1.0

# Every program that uses a GPU needs these besides the GPU's own file; not all machines have all.
_SHARED_FILES = ("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset")
_LIBRARY = "libnvidia-ml.so.1"
_MIB = 1 << 20
# What a lane of each generation of PCI Express carries, in MB/s.
_LANE_MB_PER_S = {1: 250, 2: 500, 3: 985, 4: 1969, 5: 3938, 6: 7563}


class NvidiaOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The operator's settings: `plugin "nvidia-gpu" { config { } }`."""

    enabled: bool = True
    ignored_gpu_ids: tuple[str, ...] = ()
    fingerprint_period: Seconds = Seconds(60.0)


def nvidia_options(config: Mapping[str, Any] | None) -> NvidiaOptions:
    """Read the plugin block. Raises BadPluginConfig."""
    options, problems = decode_config(config or {}, NvidiaOptions)
    if options is None:
        raise BadPluginConfig(NAME, problems)
    if options.fingerprint_period < PERIOD_S_MIN:
        raise BadPluginConfig(NAME, [f"fingerprint_period is at least {PERIOD_S_MIN:.0f}s."])
    return options


class NvidiaGpus:
    """The GPUs of this machine. A machine without them, or without NVIDIA's driver, has none."""

    def __init__(self, options: NvidiaOptions, *, library: Any = None) -> None:  # noqa: ANN401 - a module
        self.options = options
        self._nvml = library
        self._is_ready = False
        # The files of each GPU as last found, by its id; None for one that does not work.
        self._files: dict[str, tuple[TaskDevice, ...] | None] = {}

    def find(self) -> tuple[NodeDeviceResource, ...]:
        """Look which GPUs there are and how they are, in groups of one model. Blocks for milliseconds."""
        groups: dict[str, NodeDeviceResource] = {}
        self._files = {}
        for handle in self._handles():
            uuid = self._ask(self._nvml.nvmlDeviceGetUUID, handle)
            if uuid is None or uuid in self.options.ignored_gpu_ids:
                continue
            name = self._ask(self._nvml.nvmlDeviceGetName, handle) or "unknown"
            instance = self._instance(handle, uuid)
            group = groups.get(name)
            if group is None:
                group = NodeDeviceResource(
                    vendor=VENDOR, type=TYPE, name=name, instances=(), attributes=self._attributes(handle)
                )
            groups[name] = msgspec.structs.replace(group, instances=(*(group.instances or ()), instance))
        return tuple(groups.values())

    def reservation(self, given: Iterable[AllocatedDevice]) -> Reservation:
        """What a task needs to use the GPUs it was given, as last found. Raises DeviceGone."""
        ids = [id_ for one in given if (one.vendor, one.type) == (VENDOR, TYPE) for id_ in one.device_ids]
        if not ids:
            return Reservation()
        files: list[TaskDevice] = []
        for id_ in ids:
            own = self._files.get(id_)
            if own is None:
                raise DeviceGone(f"GPU {id_} is not on this node any more, or does not work")
            files += own
        files += [TaskDevice(path=path) for path in _SHARED_FILES if os.path.exists(path)]
        return Reservation(
            env={VISIBLE_VARIABLE: ",".join(ids), CUDA_VARIABLE: ",".join(ids)}, files=tuple(files)
        )

    def stats(self, at: str) -> tuple[DeviceGroupStats, ...]:
        """Measure all GPUs; `at` is the time to tell. Blocks for milliseconds."""
        groups: dict[str, DeviceGroupStats] = {}
        for handle in self._handles():
            uuid = self._ask(self._nvml.nvmlDeviceGetUUID, handle)
            name = self._ask(self._nvml.nvmlDeviceGetName, handle) or "unknown"
            if uuid is None or uuid in self.options.ignored_gpu_ids:
                continue
            values = self._measure(handle)
            group = groups.setdefault(name, DeviceGroupStats(vendor=VENDOR, type=TYPE, name=name))
            group.instance_stats[uuid] = InstanceStats(
                summary=values.get("Memory state"), stats=StatObject(attributes=values), timestamp=at
            )
        return tuple(groups.values())

    # --- one GPU ----------------------------------------------------------------------------------

    def _handles(self) -> list[Any]:
        """The GPUs that NVML knows; none without it, which is no trouble."""
        if not self.options.enabled:
            return []
        nvml = self._nvml = self._nvml or _load_nvml()
        if nvml is None:
            return []
        try:
            if not self._is_ready:
                nvml.nvmlInit()
                self._is_ready = True
            return [nvml.nvmlDeviceGetHandleByIndex(number) for number in range(nvml.nvmlDeviceGetCount())]
        except nvml.NVMLError:
            self._is_ready = False  # the driver may be loaded, or be exchanged, while the agent runs
            return []

    def _instance(self, handle: Any, uuid: str) -> NodeDevice:  # noqa: ANN401 - NVML's own
        minor = self._ask(self._nvml.nvmlDeviceGetMinorNumber, handle)
        problem = self._problem(handle)
        own = (TaskDevice(path=f"/dev/nvidia{minor}"),) if minor is not None else ()
        self._files[uuid] = None if problem else own
        pci = self._ask(self._nvml.nvmlDeviceGetPciInfo, handle)
        return NodeDevice(
            id=uuid,
            healthy=not problem,
            health_description=problem,
            locality=DeviceLocality(pci_bus_id=_text(pci.busId)) if pci is not None else None,
        )

    def _problem(self, handle: Any) -> str:  # noqa: ANN401 - NVML's own
        """What keeps a GPU from working; empty when it answers as it should."""
        try:
            self._nvml.nvmlDeviceGetMemoryInfo(handle)
        except self._nvml.NVMLError as error:
            return f"the GPU does not answer: {error}"
        return ""

    def _attributes(self, handle: Any) -> dict[str, DeviceAttribute]:  # noqa: ANN401 - NVML's own
        """What is known of a model; what it cannot tell is left out."""
        nvml = self._nvml
        memory = self._ask(nvml.nvmlDeviceGetMemoryInfo, handle)
        bar1 = self._ask(nvml.nvmlDeviceGetBAR1MemoryInfo, handle)
        power = self._ask(nvml.nvmlDeviceGetPowerManagementLimit, handle)
        numbers = {
            "memory": (memory.total // _MIB if memory is not None else None, "MiB"),
            "bar1": (bar1.bar1Total // _MIB if bar1 is not None else None, "MiB"),
            "power": (power // 1000 if power is not None else None, "W"),
            "cores_clock": (self._ask(nvml.nvmlDeviceGetMaxClockInfo, handle, nvml.NVML_CLOCK_SM), "MHz"),
            "memory_clock": (self._ask(nvml.nvmlDeviceGetMaxClockInfo, handle, nvml.NVML_CLOCK_MEM), "MHz"),
            "pci_bandwidth": (self._pci_bandwidth(handle), "MB/s"),
        }
        texts = {
            "driver_version": self._ask(nvml.nvmlSystemGetDriverVersion),
            "display_state": _switch(self._ask(nvml.nvmlDeviceGetDisplayMode, handle)),
            "persistence_mode": _switch(self._ask(nvml.nvmlDeviceGetPersistenceMode, handle)),
        }
        found = {
            name: DeviceAttribute(int_value=value, unit=unit)
            for name, (value, unit) in numbers.items()
            if value is not None
        }
        return found | {
            name: DeviceAttribute(string=_text(text)) for name, text in texts.items() if text is not None
        }

    def _pci_bandwidth(self, handle: Any) -> int | None:  # noqa: ANN401 - NVML's own
        generation = self._ask(self._nvml.nvmlDeviceGetMaxPcieLinkGeneration, handle)
        width = self._ask(self._nvml.nvmlDeviceGetMaxPcieLinkWidth, handle)
        if generation is None or width is None or generation not in _LANE_MB_PER_S:
            return None
        return int(_LANE_MB_PER_S[generation] * width)

    def _measure(self, handle: Any) -> dict[str, StatValue]:  # noqa: ANN401 - NVML's own
        nvml = self._nvml
        found: dict[str, StatValue] = {}

        def put(name: str, value: int | None, unit: str, whole: int | None = None) -> None:
            if value is not None:
                found[name] = StatValue(
                    int_numerator_val=int(value), int_denominator_val=whole, unit=unit, desc=name
                )

        power = self._ask(nvml.nvmlDeviceGetPowerUsage, handle)
        limit = self._ask(nvml.nvmlDeviceGetPowerManagementLimit, handle)
        put("Power usage", _thousandth(power), "W", _thousandth(limit))
        use = self._ask(nvml.nvmlDeviceGetUtilizationRates, handle)
        put("GPU utilization", use.gpu if use is not None else None, "%")
        put("Memory utilization", use.memory if use is not None else None, "%")
        for name, ask in (
            ("Encoder utilization", nvml.nvmlDeviceGetEncoderUtilization),
            ("Decoder utilization", nvml.nvmlDeviceGetDecoderUtilization),
        ):
            answer = self._ask(ask, handle)
            put(name, answer[0] if answer else None, "%")
        put("Temperature", self._ask(nvml.nvmlDeviceGetTemperature, handle, nvml.NVML_TEMPERATURE_GPU), "C")
        memory = self._ask(nvml.nvmlDeviceGetMemoryInfo, handle)
        if memory is not None:
            put("Memory state", memory.used // _MIB, "MiB", memory.total // _MIB)
        bar1 = self._ask(nvml.nvmlDeviceGetBAR1MemoryInfo, handle)
        if bar1 is not None:
            put("BAR1 buffer state", bar1.bar1Used // _MIB, "MiB", bar1.bar1Total // _MIB)
        for name, place in (
            ("ECC L1 errors", nvml.NVML_MEMORY_LOCATION_L1_CACHE),
            ("ECC L2 errors", nvml.NVML_MEMORY_LOCATION_L2_CACHE),
            ("ECC memory errors", nvml.NVML_MEMORY_LOCATION_DEVICE_MEMORY),
        ):
            errors = (nvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED, nvml.NVML_VOLATILE_ECC, place)
            put(name, self._ask(nvml.nvmlDeviceGetMemoryErrorCounter, handle, *errors), "#")
        return found

    def _ask(self, question: Callable[..., Any], *arguments: Any) -> Any:  # noqa: ANN401 - NVML's own
        """An answer of NVML; None where the GPU cannot tell."""
        try:
            return question(*arguments)
        except self._nvml.NVMLError:
            return None


def _load_nvml() -> Any:  # noqa: ANN401 - a module
    """NVIDIA's binding, where the library is that it binds; by itself it would take 13 MiB."""
    try:
        ctypes.CDLL(_LIBRARY)
    except OSError:
        return None
    import pynvml  # type: ignore[import-untyped]  # noqa: PLC0415  # NVIDIA ships it without types

    return pynvml


def _thousandth(value: int | None) -> int | None:
    return value // 1000 if value is not None else None


def _switch(value: int | None) -> str | None:
    return None if value is None else ("Enabled" if value else "Disabled")


def _text(value: str | bytes) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
