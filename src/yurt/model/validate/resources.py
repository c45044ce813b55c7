"""Problems with what a task asks of its node."""

from __future__ import annotations

from yurt.model.go_text import quoted
from yurt.model.multi_error import deeper, nested
from yurt.model.resources import NUMA, RequestedDevice, Resources
from yurt.model.task_parts import LogConfig
from yurt.model.validate.placement import affinities_errors, constraints_errors

CPU_MHZ_MIN = 1
MEMORY_MB_MIN = 10
MEMORY_MAX_UNLIMITED = -1
LOG_FILES_MIN = 1
LOG_FILE_MB_MIN = 1
DEVICE_NAME_PARTS_MAX = 3

_NUMA_AFFINITIES = ("none", "prefer", "require")


def resources_errors(resources: Resources) -> list[str]:
    """Check CPU, memory, devices and NUMA wishes."""
    errors = []
    if resources.cores > 0 and resources.cpu > 0:
        errors.append("Task can only ask for 'cpu' or 'cores' resource, not both.")
    if resources.cores < 0:
        errors.append(f"cores value ({resources.cores}) cannot be negative")
    errors += deeper(_minimum_errors(resources))
    if resources.disk_mb > 0:
        errors.append("Task can't ask for disk resources, they have to be specified at the task group level.")
    for number, device in enumerate(resources.devices or (), start=1):
        errors += nested(_device_errors(device), under=f"device {number} failed validation")
    if resources.numa is not None:
        errors += _numa_errors(resources.numa, resources.devices or ())
    errors += _memory_errors(resources)
    return errors


def _minimum_errors(resources: Resources) -> list[str]:
    errors = []
    if resources.cores == 0 and resources.cpu < CPU_MHZ_MIN:
        errors.append(f"minimum CPU value is {CPU_MHZ_MIN}; got {resources.cpu}")
    if resources.memory_mb < MEMORY_MB_MIN:
        errors.append(f"minimum MemoryMB value is {MEMORY_MB_MIN}; got {resources.memory_mb}")
    return errors


def _memory_errors(resources: Resources) -> list[str]:
    errors = []
    memory, most, secrets = resources.memory_mb, resources.memory_max_mb, resources.secrets_mb
    if most not in (0, MEMORY_MAX_UNLIMITED) and most < memory:
        errors.append(f"MemoryMaxMB value ({most}) should be larger than MemoryMB value ({memory})")
    if secrets > memory:
        errors.append(f"SecretsMB value ({secrets}) cannot be larger than MemoryMB value ({memory})")
    if secrets < 0:
        errors.append(f"SecretsMB value ({secrets}) cannot be negative")
    return errors


def _device_errors(device: RequestedDevice) -> list[str]:
    errors = []
    parts = device.name.split("/")
    if not all(parts) or len(parts) > DEVICE_NAME_PARTS_MAX:
        errors.append(
            "device name must be given as one of the following: type, vendor/type, or vendor/type/name"
        )
    return errors + constraints_errors(device.constraints) + affinities_errors(device.affinities)


def _numa_errors(numa: NUMA, devices: tuple[RequestedDevice, ...]) -> list[str]:
    requested = {device.name for device in devices}
    errors = [
        f"numa device {quoted(name)} not requested as task resource"
        for name in numa.devices or ()
        if name not in requested
    ]
    if numa.affinity not in _NUMA_AFFINITIES:
        errors.append("numa affinity must be one of none, prefer, or require")
    return errors


def log_config_errors(logs: LogConfig, *, disk_mb: int) -> list[str]:
    """Check how task output is kept, and that the group's disk holds it."""
    errors = []
    if logs.max_files < LOG_FILES_MIN:
        errors.append(f"minimum number of files is {LOG_FILES_MIN}; got {logs.max_files}")
    if logs.max_file_size_mb < LOG_FILE_MB_MIN:
        errors.append(f"minimum file size is {LOG_FILE_MB_MIN}MB; got {logs.max_file_size_mb}")
    used = logs.max_files * logs.max_file_size_mb
    if disk_mb <= used:
        errors.append(f"log storage ({used} MB) must be less than requested disk capacity ({disk_mb} MB)")
    return errors
