"""The java driver, with a pretended Java in the task's directory, and with the machine's own."""

from __future__ import annotations

import base64
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.agent.drivers.specs import a_spec, stdout
from yurt.agent.drivers import DriverError, FsIsolation, TaskResources, TaskSpec
from yurt.agent.drivers.cgroups import CgroupTree
from yurt.agent.drivers.exec import Isolation, IsolationOptions
from yurt.agent.drivers.exec.runtime import find_runtime
from yurt.agent.drivers.java import JavaConfig, JavaDriver, java_arguments, java_attributes
from yurt.agent.launcher import LauncherClient

isolated = pytest.mark.skipif(
    os.geteuid() != 0 or find_runtime() is None, reason="wants root, and crun or runc installed"
)
OPENJDK = """openjdk version "17.0.15" 2025-04-15
OpenJDK Runtime Environment (build 17.0.15+6-Debian-1deb12u1)
OpenJDK 64-Bit Server VM (build 17.0.15+6-Debian-1deb12u1, mixed mode, sharing)
"""
# public class Hello: prints "hello " and its arguments, and exits with their number. For Java 8 and later.
HELLO = base64.b64decode(
    "yv66vgAAADQAMQoAAgADBwAEDAAFAAYBABBqYXZhL2xhbmcvT2JqZWN0AQAGPGluaXQ+AQADKClWCQAIAAkHAAoMAAsADAEA"
    "EGphdmEvbGFuZy9TeXN0ZW0BAANvdXQBABVMamF2YS9pby9QcmludFN0cmVhbTsHAA4BABdqYXZhL2xhbmcvU3RyaW5nQnVp"
    "bGRlcgoADQADCAARAQAGaGVsbG8gCgANABMMABQAFQEABmFwcGVuZAEALShMamF2YS9sYW5nL1N0cmluZzspTGphdmEvbGFu"
    "Zy9TdHJpbmdCdWlsZGVyOwgAFwEAASwKABkAGgcAGwwAHAAdAQAQamF2YS9sYW5nL1N0cmluZwEABGpvaW4BAEUoTGphdmEv"
    "bGFuZy9DaGFyU2VxdWVuY2U7W0xqYXZhL2xhbmcvQ2hhclNlcXVlbmNlOylMamF2YS9sYW5nL1N0cmluZzsKAA0AHwwAIAAh"
    "AQAIdG9TdHJpbmcBABQoKUxqYXZhL2xhbmcvU3RyaW5nOwoAIwAkBwAlDAAmACcBABNqYXZhL2lvL1ByaW50U3RyZWFtAQAH"
    "cHJpbnRsbgEAFShMamF2YS9sYW5nL1N0cmluZzspVgoACAApDAAqACsBAARleGl0AQAEKEkpVgcALQEABUhlbGxvAQAEQ29k"
    "ZQEABG1haW4BABYoW0xqYXZhL2xhbmcvU3RyaW5nOylWACEALAACAAAAAAACAAEABQAGAAEALgAAABEAAQABAAAABSq3AAGx"
    "AAAAAAAJAC8AMAABAC4AAAAwAAQAAQAAACSyAAe7AA1ZtwAPEhC2ABISFiq4ABi2ABK2AB62ACIqvrgAKLEAAAAAAAA="
)
FAKE = '#!/bin/sh\necho "$@"; echo "$$"\n'


@pytest.fixture
def plain(launcher: LauncherClient) -> JavaDriver:
    """What a driver is for an agent without root."""
    return JavaDriver(launcher, None)


@pytest.fixture
def driver(launcher: LauncherClient, cgroup_tree: CgroupTree) -> JavaDriver:
    return JavaDriver(launcher, Isolation(launcher, IsolationOptions(), cgroup_tree))


@pytest.fixture
def task_dir(tmp_path: Path) -> Path:
    for name in ("alloc/task/local", "alloc/task/tmp", "alloc/logs"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "alloc/task/tmp").chmod(0o1777)
    return tmp_path / "alloc/task"


def program(task_dir: Path, config: dict[str, Any]) -> TaskSpec:
    return a_spec(task_dir, config, resources=TaskResources(cpu_shares=100, memory_mb=256))


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (JavaConfig(jar_path="local/a.jar"), ["-jar", "local/a.jar"]),
        (
            JavaConfig(class_name="Main", class_path="local:lib", jvm_options=("-Xmx64m",), args=("a", "b")),
            ["-Xmx64m", "-cp", "local:lib", "Main", "a", "b"],
        ),
    ],
)
def test_the_command_line(config: JavaConfig, expected: list[str]) -> None:
    assert list(java_arguments(config)) == expected


@pytest.mark.parametrize("before", ["", "Picked up JAVA_TOOL_OPTIONS: -Xmx1g\n"])
def test_attributes_are_what_java_says(before: str) -> None:
    assert java_attributes(before + OPENJDK) == {
        "driver.java.version": "17.0.15",
        "driver.java.runtime": "OpenJDK Runtime Environment (build 17.0.15+6-Debian-1deb12u1)",
        "driver.java.vm": "OpenJDK 64-Bit Server VM (build 17.0.15+6-Debian-1deb12u1, mixed mode, sharing)",
    }


@isolated
async def test_a_program_is_isolated(driver: JavaDriver, task_dir: Path) -> None:
    (task_dir / "local/java").write_text(FAKE)

    handle = await driver.start(program(task_dir, {"jar_path": "local/a.jar", "args": ["x"]}))

    assert (await handle.wait()).is_success
    assert stdout(task_dir) == "-jar local/a.jar x\n1\n"
    recovered = await driver.recover(handle.state)
    assert recovered is not None
    await recovered.destroy()


async def test_without_root_a_program_sees_the_host(plain: JavaDriver, task_dir: Path) -> None:
    (task_dir / "local/java").write_text(FAKE + "pwd\n")

    handle = await plain.start(program(task_dir, {"class": "Main", "jvm_options": ["-Xmx1m"]}))

    assert (await handle.wait()).is_success
    lines = stdout(task_dir).splitlines()
    assert (lines[0], lines[2]) == ("-Xmx1m Main", str(task_dir))
    assert plain.capabilities.fs_isolation is FsIsolation.NONE
    assert await plain.recover(handle.state) is not None


@pytest.mark.parametrize(
    ("config", "said"),
    [({}, "jar_path or class must be specified"), ({"nosuch": 1}, 'named "nosuch"')],
)
async def test_what_cannot_be_run_is_refused(
    plain: JavaDriver, task_dir: Path, config: dict[str, Any], said: str
) -> None:
    with pytest.raises(DriverError, match=said):
        await plain.start(program(task_dir, config))


async def test_without_java_there_is_no_driver(
    plain: JavaDriver, task_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(task_dir))

    assert not (await plain.fingerprint()).detected
    with pytest.raises(DriverError, match='binary "java" could not be found'):
        await plain.start(a_spec(task_dir, {"class": "Main"}, env={}))


async def test_a_java_that_fails_is_no_java(
    plain: JavaDriver, task_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (task_dir / "java").write_text("#!/bin/sh\nexit 1\n")
    (task_dir / "java").chmod(0o755)
    monkeypatch.setenv("PATH", f"{task_dir}:/bin")

    assert "-version fails" in (await plain.fingerprint()).description


async def test_java_is_asked_again_only_when_it_changed(
    plain: JavaDriver, task_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java = task_dir / "java"
    java.write_text(f"#!/bin/sh\necho x >> {task_dir}/asked\ncat >&2 <<END\n{OPENJDK}END\n")
    java.chmod(0o755)
    monkeypatch.setenv("PATH", f"{task_dir}:/bin")

    for _ in range(3):
        assert (await plain.fingerprint()).attributes["driver.java.version"] == "17.0.15"
    java.write_text(java.read_text().replace("17.0.15", "21.0.1"))

    assert (await plain.fingerprint()).attributes["driver.java.version"] == "21.0.1"
    assert (task_dir / "asked").read_text() == "x\nx\n"


@isolated
async def test_the_machines_own_java_runs_isolated(driver: JavaDriver, task_dir: Path) -> None:
    assert shutil.which("java"), "install a Java, such as Debian's default-jre-headless"
    (task_dir / "local/Hello.class").write_bytes(HELLO)

    handle = await driver.start(
        program(task_dir, {"class": "Hello", "class_path": "/local", "args": ["a", "b"]})
    )

    assert (await handle.wait()).exit_code == 2
    assert stdout(task_dir) == "hello a,b\n"
    assert (await driver.fingerprint()).attributes["driver.java"] == "true"
