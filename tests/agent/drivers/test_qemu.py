"""The qemu driver: its command line, with a pretended emulator, and with a real one where there is one."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.agent.drivers.specs import a_spec, stdout
from tests.agent.launcher.real_tasks import Mailbox
from yurt.agent.drivers import DriverError, TaskPort, TaskResources, TaskSpec
from yurt.agent.drivers.qemu import QemuDriver, QemuOptions, installed_emulators, qemu_version
from yurt.agent.drivers.qemu_command import QemuConfig, qemu_arguments
from yurt.agent.launcher import LauncherClient

REAL_QEMU = shutil.which("qemu-system-x86_64")
MEMORY = TaskResources(memory_mb=128)

# Tells its arguments, then does what its monitor is told: `heeds` is whether the power button works.
FAKE = """#!{python}
import json, os, socket, sys
if "--version" in sys.argv:
    print("QEMU emulator version 8.1.2 (tests)")
    sys.exit(0)
listener = socket.socket(socket.AF_UNIX)
listener.bind("qm.sock")
listener.listen()
with open(os.environ["MAILBOX"], "w") as mailbox:
    mailbox.write(json.dumps(sys.argv[1:]) + "\\n")
while True:
    connection, _ = listener.accept()
    connection.sendall(b"QEMU monitor\\r\\n(qemu) ")
    told = connection.recv(100)
    connection.sendall(told + b"(qemu) ")
    if told == b"system_powerdown\\n" and os.environ["HEEDS"] == "yes":
        sys.exit(0)
"""


@pytest.fixture
def fake_qemu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("qemu-system-x86_64", "qemu-system-arm"):
        (folder / name).write_text(FAKE.format(python=sys.executable))
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return folder


@pytest.fixture
def driver(launcher: LauncherClient) -> QemuDriver:
    return QemuDriver(launcher, QemuOptions(), cgroups=None)


def machine(task_dir: Path, config: dict[str, Any] | None = None, **changes: Any) -> TaskSpec:
    (task_dir / "local/disk.img").touch()
    merged = {"image_path": "local/disk.img", **(config or {})}
    return a_spec(task_dir, merged, **({"resources": MEMORY} | changes))


def arguments(config: dict[str, Any], **changes: Any) -> list[str]:
    spec = a_spec(Path("/a/task"), {}, **({"resources": MEMORY} | changes))
    return list(qemu_arguments(spec, QemuConfig(image_path="x", **config), "/images/my,disk.img"))


def test_the_usual_command_line() -> None:
    assert arguments({}) == [
        *("-machine", "type=pc,accel=tcg"),
        *("-name", "my,,disk.img"),
        *("-m", "128M"),
        *("-drive", "file=/images/my,,disk.img,if=ide,id=image0"),
        "-nographic",
    ]


def test_options_follow_in_order() -> None:
    ports = (TaskPort(label="ssh", host_ip="10.0.0.1", host_port=20022),)
    told = arguments(
        {
            "machine_type": "q35",
            "drive_interface": "virtio",
            "graceful_shutdown": True,
            "guest_agent": True,
            "args": ("-smbios", "type=1"),
            "port_map": {"ssh": 22},
        },
        ports=ports,
    )

    assert told[1] == "type=q35,accel=tcg"
    assert told[7] == "file=/images/my,,disk.img,if=virtio,id=image0"
    assert told[9:] == [
        *("-monitor", "unix:qm.sock,server=on,wait=off"),
        *("-chardev", "socket,path=qa.sock,server=on,wait=off,id=qga0"),
        *("-device", "virtio-serial"),
        *("-device", "virtserialport,chardev=qga0,name=org.qemu.guest_agent.0"),
        *("-smbios", "type=1"),
        *("-netdev", "user,id=user.0,hostfwd=udp::20022-:22,hostfwd=tcp::20022-:22"),
        *("-device", "virtio-net,netdev=user.0"),
    ]


@pytest.mark.parametrize(
    ("cores", "args", "expected"),
    [
        ((0, 1), (), ["-enable-kvm", "-smp", "2"]),
        ((), (), ["-enable-kvm"]),
        ((0, 1), ("-smp", "4"), ["-smp", "4", "-enable-kvm"]),
    ],
)
def test_kvm_has_the_tasks_cores(cores: tuple[int, ...], args: tuple[str, ...], expected: list[str]) -> None:
    resources = TaskResources(memory_mb=128, cores=cores)

    assert arguments({"accelerator": "kvm", "args": args}, resources=resources)[9:] == expected


async def test_a_machine_is_started_in_its_directory(
    driver: QemuDriver, fake_qemu: Path, task_dir: Path, mailbox: Mailbox
) -> None:
    env = {"PATH": os.environ["PATH"], "MAILBOX": mailbox.path, "HEEDS": "yes"}

    handle = await driver.start(machine(task_dir, {"emulator": "qemu-system-arm"}, env=env))

    told = json.loads(await mailbox.receive())
    assert told[7] == f"file={task_dir}/local/disk.img,if=ide,id=image0"
    assert (task_dir / "qm.sock").is_socket()
    await handle.destroy()


@pytest.mark.parametrize(
    ("heeds", "graceful", "exit_code"),
    [
        pytest.param("yes", True, 0, id="it powers down"),
        pytest.param("no", True, 137, id="it does not"),
        pytest.param("yes", False, 130, id="it is only signalled"),
    ],
)
async def test_a_machine_is_shut_down(
    driver: QemuDriver,
    fake_qemu: Path,
    task_dir: Path,
    mailbox: Mailbox,
    heeds: str,
    graceful: bool,
    exit_code: int,
) -> None:
    env = {"PATH": os.environ["PATH"], "MAILBOX": mailbox.path, "HEEDS": heeds}
    started = await driver.start(machine(task_dir, {"graceful_shutdown": graceful}, env=env))
    await mailbox.receive()
    handle = await driver.recover(started.state)
    assert handle is not None

    result = await handle.kill("SIGINT", 0.3 if heeds == "no" else 60.0)

    assert result.exit_code == exit_code


async def test_a_machine_without_a_monitor_gets_the_signal(
    driver: QemuDriver, fake_qemu: Path, task_dir: Path, mailbox: Mailbox
) -> None:
    env = {"PATH": os.environ["PATH"], "MAILBOX": mailbox.path, "HEEDS": "no"}
    handle = await driver.start(machine(task_dir, {"graceful_shutdown": True}, env=env))
    await mailbox.receive()
    (task_dir / "qm.sock").unlink()

    assert (await handle.kill("SIGTERM", 60.0)).exit_code == 143


@pytest.mark.parametrize(
    ("config", "memory_mb", "said"),
    [
        ({"image_path": "/etc/passwd"}, 128, 'image_path "/etc/passwd" is not in the allowed paths'),
        ({"image_path": "../../x"}, 128, "is not in the allowed paths"),
        ({"image_path": "local/none.img"}, 128, "is not a file"),
        ({"drive_interface": "usb"}, 128, 'unsupported drive_interface "usb"'),
        ({"emulator": "riscv64"}, 128, 'binary "qemu-system-riscv64" could not be found'),
        ({"port_map": {"ssh": 22}}, 128, 'unknown port label "ssh"'),
        ({}, 64, "memory assignment out of bounds: 64 MB"),
        ({"nosuch": 1}, 128, 'named "nosuch"'),
    ],
)
async def test_what_cannot_work_is_refused(
    driver: QemuDriver, fake_qemu: Path, task_dir: Path, config: dict[str, Any], memory_mb: int, said: str
) -> None:
    with pytest.raises(DriverError, match=said):
        await driver.start(machine(task_dir, config, resources=TaskResources(memory_mb=memory_mb)))


@pytest.mark.parametrize(
    ("options", "config", "said"),
    [
        (QemuOptions(emulators_allowlist=("arm",)), {}, 'emulator "qemu-system-x86_64" is not allowed'),
        (
            QemuOptions(args_allowlist=("-smp",)),
            {"args": ["-smp", "2", "-monitor", "stdio"]},
            "arguments are not allowed on this node: -monitor",
        ),
    ],
)
async def test_the_operator_may_allow_less(
    launcher: LauncherClient,
    fake_qemu: Path,
    task_dir: Path,
    options: QemuOptions,
    config: dict[str, Any],
    said: str,
) -> None:
    with pytest.raises(DriverError, match=said):
        await QemuDriver(launcher, options, cgroups=None).start(machine(task_dir, config))


async def test_images_may_lie_where_the_operator_says(
    launcher: LauncherClient, fake_qemu: Path, task_dir: Path, tmp_path: Path, mailbox: Mailbox
) -> None:
    images = tmp_path / "elsewhere"
    images.mkdir()
    (images / "base.img").touch()
    env = {"PATH": os.environ["PATH"], "MAILBOX": mailbox.path, "HEEDS": "yes"}
    driver = QemuDriver(launcher, QemuOptions(image_paths=(str(images),)), cgroups=None)

    handle = await driver.start(machine(task_dir, {"image_path": f"{images}/base.img"}, env=env))

    await mailbox.receive()
    await handle.destroy()


async def test_it_is_there_with_an_emulator(
    driver: QemuDriver, fake_qemu: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(fake_qemu))

    assert (await driver.fingerprint()).attributes == {
        "driver.qemu": "true",
        "driver.qemu.version": "8.1.2",
        "driver.qemu.emulators": "arm,x86_64",
    }

    monkeypatch.setenv("PATH", str(fake_qemu / "none"))

    assert not (await driver.fingerprint()).detected


def test_emulators_are_found_once(fake_qemu: Path) -> None:
    assert list(installed_emulators(f"{fake_qemu}:{fake_qemu}:/no/such")) == ["arm", "x86_64"]


@pytest.mark.parametrize(
    ("told", "version"),
    [("QEMU emulator version 7.2.22 (Debian 1:7.2)\nCopyright", "7.2.22"), ("nonsense", ""), ("version", "")],
)
def test_versions_are_read(told: str, version: str) -> None:
    assert qemu_version(told) == version


async def test_a_state_of_another_make_is_a_lost_task(driver: QemuDriver) -> None:
    assert await driver.recover(b"\x93nonsense") is None


# --- a real machine ---------------------------------------------------------------------------------


def boot_sector() -> bytes:
    """A disk that says `hi` on its serial line and switches the machine off."""
    code = bytes.fromhex("baf803")  # mov dx, 0x3f8: the serial line
    for character in b"hi\n":
        code += bytes([0xB0, character, 0xEE])  # mov al, character; out dx, al
    code += bytes.fromhex("ba0406b80020ef")  # mov dx, 0x604; mov ax, 0x2000; out dx, ax: power off
    code += bytes.fromhex("f4ebfd")  # hlt; jmp back
    return code.ljust(510, b"\0") + b"\x55\xaa"


async def test_a_real_machine_boots_speaks_and_ends(driver: QemuDriver, task_dir: Path) -> None:
    assert REAL_QEMU, "install QEMU, such as Debian's qemu-system-x86"
    (task_dir / "local/boot.img").write_bytes(boot_sector())

    handle = await driver.start(
        machine(task_dir, {"image_path": "local/boot.img", "graceful_shutdown": True})
    )

    assert (await handle.wait()).is_success
    assert stdout(task_dir).endswith("hi\n")
