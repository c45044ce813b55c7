"""What of the host is found in a task's own root."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from yurt.agent.drivers.exec.root import Bind, find_in_root, plan_root

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root prepares roots")


@pytest.fixture
def host(tmp_path: Path) -> Path:
    """A host with an /etc and a /usr."""
    for path in ("host/etc/ssl/certs", "host/usr/bin", "allocs/a/task"):
        (tmp_path / path).mkdir(parents=True)
    (tmp_path / "host/etc/passwd").write_text("root\n")
    (tmp_path / "host/etc/passwd").chmod(0o640)
    (tmp_path / "host/etc/mtab").symlink_to("/proc/mounts")
    (tmp_path / "host/etc/ssl/openssl.cnf").write_text("x")
    (tmp_path / "host/usr/bin/tool").write_text("x")
    return tmp_path / "host"


@pytest.fixture
def root(tmp_path: Path, host: Path) -> Path:
    return tmp_path / "allocs/a/task"


def planned(host: Path, root: Path, *mount_points: str, hidden: Path | None = None) -> list[tuple[str, str]]:
    chroot_env = {f"{host}/etc": "/etc", f"{host}/usr": "/usr", f"{host}/lib32": "/lib32"}
    binds = plan_root(
        str(root), chroot_env, mount_points=mount_points, hidden=str(hidden or root.parent.parent)
    )
    assert all(bind.readonly for bind in binds)
    return [(bind.source.removeprefix(str(host)), bind.target) for bind in binds]


def test_directories_are_mounted_whole_where_the_host_has_them(host: Path, root: Path) -> None:
    assert planned(host, root) == [("/etc", "/etc"), ("/usr", "/usr")]
    assert os.listdir(root) == [], "nothing is copied"


def test_what_an_earlier_start_left_empty_changes_nothing(host: Path, root: Path) -> None:
    (root / "etc").mkdir()

    assert planned(host, root) == [("/etc", "/etc"), ("/usr", "/usr")]


def test_the_tasks_files_are_merged_with_the_hosts(host: Path, root: Path) -> None:
    (root / "etc").mkdir()
    (root / "etc/app.conf").write_text("mine")

    assert planned(host, root) == [("/etc/ssl", "/etc/ssl"), ("/usr", "/usr")]
    assert (root / "etc/app.conf").read_text() == "mine"
    assert (root / "etc/passwd").read_text() == "root\n"
    assert (root / "etc/passwd").stat().st_mode & 0o777 == 0o640
    assert os.readlink(root / "etc/mtab") == "/proc/mounts"


def test_merging_again_changes_nothing(host: Path, root: Path) -> None:
    (root / "etc").mkdir()
    (root / "etc/app.conf").write_text("mine")
    before = planned(host, root)
    (root / "etc/ssl").mkdir()  # as the runtime leaves it

    assert planned(host, root) == before


def test_the_tasks_file_wins_over_the_hosts(host: Path, root: Path) -> None:
    (root / "etc").mkdir()
    (root / "etc/passwd").write_text("mine")

    planned(host, root)

    assert (root / "etc/passwd").read_text() == "mine"


def test_a_mount_inside_a_mapped_directory_gets_its_place(host: Path, root: Path) -> None:
    assert planned(host, root, "/usr/share/data") == [("/etc", "/etc"), ("/usr/bin", "/usr/bin")]
    assert (root / "usr/share/data").is_dir()


def test_a_mount_over_something_of_the_hosts_needs_no_place(host: Path, root: Path) -> None:
    assert planned(host, root, "/etc/passwd", "/elsewhere") == [("/etc", "/etc"), ("/usr", "/usr")]


def test_other_allocs_are_never_shown(host: Path, root: Path) -> None:
    (host / "usr/lib/allocs/other/secrets").mkdir(parents=True)
    (host / "usr/lib/python").mkdir()

    binds = planned(host, root, hidden=host / "usr/lib/allocs")

    assert binds == [("/etc", "/etc"), ("/usr/bin", "/usr/bin"), ("/usr/lib/python", "/usr/lib/python")]


@pytest.mark.parametrize("planted", ["etc", "etc/ssl"])
def test_a_planted_link_leads_nowhere(host: Path, root: Path, tmp_path: Path, planted: str) -> None:
    (tmp_path / "victim").mkdir()
    (root / planted).parent.mkdir(exist_ok=True)
    (root / planted).symlink_to(tmp_path / "victim")

    planned(host, root)
    with pytest.raises(NotADirectoryError):
        planned(host, root, "/etc/ssl/private")

    assert os.listdir(tmp_path / "victim") == []


def test_a_single_file_may_be_mapped(host: Path, root: Path) -> None:
    source = f"{host}/etc/passwd"

    assert plan_root(str(root), {source: "/users"}, hidden="/x") == [Bind(source, "/users")]


def test_sources_that_are_neither_file_nor_directory_are_left_out(host: Path, root: Path) -> None:
    os.mkfifo(host / "pipe")

    assert plan_root(str(root), {f"{host}/pipe": "/pipe"}, hidden="/x") == []


@pytest.mark.parametrize(
    ("command", "found"),
    [
        pytest.param("run.sh", "/local/run.sh", id="the task's local comes first"),
        pytest.param("tool", "/usr/bin/tool", id="a name is looked for in the usual places"),
        pytest.param("/usr/bin/tool", "/usr/bin/tool", id="a path from the root"),
        pytest.param("usr/bin/tool", "/usr/bin/tool", id="without its slash"),
        pytest.param("/opt/own", "/opt/own", id="a file of the task's"),
        pytest.param("/nope", None, id="nothing"),
        pytest.param("bin/tool", None, id="a path is not looked for elsewhere"),
        pytest.param("/usr/bin", None, id="a directory"),
        pytest.param("x\0y", None, id="no name at all"),
    ],
)
def test_commands_are_found_inside_the_root(host: Path, root: Path, command: str, found: str | None) -> None:
    for path in ("local/run.sh", "opt/own"):
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).touch()

    assert find_in_root(command, str(root), [Bind(f"{host}/usr", "/usr")]) == found


def test_a_command_of_the_tasks_own_is_made_executable(root: Path) -> None:
    (root / "local").mkdir()
    (root / "local/run.sh").touch()

    find_in_root("run.sh", str(root), [])

    assert os.access(root / "local/run.sh", os.X_OK)
