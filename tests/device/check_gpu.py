"""Check Yurt's view of NVIDIA GPUs against a real one: `python tests/device/check_gpu.py`.

Not a part of `make test`, since few machines have a GPU. Needs root, NVIDIA's driver, and Yurt's
dependencies on the path. Compares with nvidia-smi, then lets a dev agent run a task that asks for a GPU.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).parents[2] / "src"
sys.path.insert(0, str(SOURCE))

from yurt.agent.devices.nvidia import NvidiaGpus, nvidia_options  # noqa: E402
from yurt.model.allocated import AllocatedDevice  # noqa: E402

API = "http://127.0.0.1:4646"
_FIELDS = "uuid,name,memory.total,power.limit,driver_version,clocks.max.sm,clocks.max.mem,pci.bus_id"
_LIMIT_S = 60.0
_SCRIPT = 'echo "$NVIDIA_VISIBLE_DEVICES $CUDA_VISIBLE_DEVICES"; nvidia-smi -L'


def main() -> None:
    """Raise AssertionError where something is not as it should be."""
    check_library()
    check_agent()
    print("all is well")  # noqa: T201


def check_library() -> None:
    command = ["nvidia-smi", f"--query-gpu={_FIELDS}", "--format=csv,noheader,nounits"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    told = [[field.strip() for field in line.split(",")] for line in listed]
    gpus = NvidiaGpus(nvidia_options(None))
    groups = gpus.find()
    found = {one.id: (group, one) for group in groups for one in group.instances or ()}
    assert set(found) == {fields[0] for fields in told}, (found, told)
    for uuid, name, memory, power, driver, cores, memory_clock, bus in told:
        group, one = found[uuid]
        attributes = group.attributes or {}
        assert (group.vendor, group.type, group.name, one.healthy) == ("nvidia", "gpu", name, True)
        assert one.locality is not None
        assert one.locality.pci_bus_id.lower().endswith(bus.lower()[-12:])
        assert attributes["memory"].int_value == int(memory)
        assert attributes["power"].int_value == int(float(power))
        assert attributes["driver_version"].string == driver
        assert (attributes["cores_clock"].int_value, attributes["memory_clock"].int_value) == (
            int(cores),
            int(memory_clock),
        )
        given = AllocatedDevice(vendor="nvidia", type="gpu", name=name, device_ids=(uuid,))
        reserved = gpus.reservation([given])
        assert all(os.path.exists(file.path) for file in reserved.files), reserved
        assert "/dev/nvidiactl" in {file.path for file in reserved.files}
    for group in groups:
        print(group.name, {k: v for k, v in sorted((group.attributes or {}).items())})  # noqa: T201
    for stats in gpus.stats("now"):
        for uuid, one_stats in stats.instance_stats.items():
            values = one_stats.stats.attributes
            print(uuid, {name: (v.int_numerator_val, v.unit) for name, v in values.items()})  # noqa: T201
            assert {"Power usage", "Temperature", "Memory state"} <= values.keys()


def check_agent() -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(SOURCE)!r}); from yurt.cli.main import main; sys.exit(main())"
    )
    agent = subprocess.Popen([sys.executable, "-c", code, "agent", "-dev"])
    try:
        [node] = until(lambda: [n for n in get("/v1/nodes") or [] if n["Status"] == "ready"])
        devices = get(f"/v1/node/{node['ID']}")["NodeResources"]["Devices"]
        assert devices[0]["Vendor"] == "nvidia", devices
        put("/v1/jobs", {"Job": gpu_job()})
        allocs = until(lambda: [a for a in get("/v1/job/gpu/allocations") if a["ClientStatus"] == "complete"])
        alloc = get(f"/v1/allocation/{allocs[0]['ID']}")
        [given] = alloc["AllocatedResources"]["Tasks"]["t"]["Devices"]
        path = f"/v1/client/fs/logs/{alloc['ID']}?task=t&type=stdout&plain=true"
        with urllib.request.urlopen(API + path, timeout=_LIMIT_S) as answer:
            output = answer.read().decode()
        print(output)  # noqa: T201
        [uuid] = given["DeviceIDs"]
        assert output.splitlines()[0] == f"{uuid} {uuid}", output
        assert uuid in output.splitlines()[1], output
        stats = get("/v1/client/stats")["DeviceStats"]
        assert uuid in stats[0]["InstanceStats"], stats
    finally:
        agent.terminate()
        agent.wait(_LIMIT_S)


def gpu_job() -> dict[str, Any]:
    wanted = {"Name": "nvidia/gpu", "Count": 1, "Constraints": [
        {"LTarget": "${device.attr.memory}", "Operand": ">=", "RTarget": "1 GiB"}
    ]}  # fmt: skip
    task = {
        "Name": "t",
        "Driver": "raw_exec",
        "Config": {"command": "/bin/sh", "args": ["-c", _SCRIPT]},
        "Resources": {"CPU": 100, "MemoryMB": 64, "Devices": [wanted]},
    }
    group = {"Name": "g", "Tasks": [task]}
    return {"ID": "gpu", "Name": "gpu", "Type": "batch", "Datacenters": ["dc1"], "TaskGroups": [group]}


def get(path: str) -> Any:
    try:
        with urllib.request.urlopen(API + path, timeout=_LIMIT_S) as answer:
            return json.load(answer)
    except OSError:
        return None


def put(path: str, body: object) -> None:
    request = urllib.request.Request(API + path, json.dumps(body).encode(), method="PUT")
    with urllib.request.urlopen(request, timeout=_LIMIT_S):
        pass


def until(look: Any) -> Any:
    end = time.monotonic() + _LIMIT_S
    while time.monotonic() < end:
        found = look()
        if found:
            return found
        time.sleep(0.2)
    raise AssertionError("it took too long")


if __name__ == "__main__":
    main()
