from collections.abc import Callable
from pathlib import Path

import pytest

from yurt.cli.agent_flags import AgentFlags
from yurt.config import AgentConfig, ConfigError, check, load

WriteConfig = Callable[..., str]


def load_paths(*paths: str) -> AgentConfig:
    return load(AgentFlags(dev=True, config=paths), environment={})


def test_a_directory_gives_its_hcl_and_json_files_in_name_order(
    write_config: WriteConfig, tmp_path: Path
) -> None:
    write_config('datacenter = "second"\nregion = "hcl"', "conf/20.hcl")
    write_config('{"datacenter": "third"}', "conf/30.json")
    write_config('datacenter = "first"\nname = "first"', "conf/10.hcl")
    for ignored in ("conf/40.txt", "conf/.hidden.hcl", "conf/#50.hcl", "conf/60.hcl~", "conf/sub/70.hcl"):
        write_config('datacenter = "ignored"', ignored)
    config = load_paths(str(tmp_path / "conf"))
    assert (config.name, config.region, config.datacenter) == ("first", "hcl", "third")
    assert [Path(file).name for file in config.config_files] == ["10.hcl", "20.hcl", "30.json"]
    assert config.config_paths == (str(tmp_path / "conf"),)


def test_later_paths_win(write_config: WriteConfig) -> None:
    first, second = write_config('region = "a"', "a.hcl"), write_config('region = "b"', "b.hcl")
    assert load_paths(first, second).region == "b"
    assert load_paths(second, first).region == "a"


@pytest.mark.parametrize("name", ["agent", "agent.conf", "agent.hcl", "agent.json"])
@pytest.mark.parametrize("text", ['region = "r"', ' \n{"region": "r"}'])
def test_the_language_is_told_by_content(write_config: WriteConfig, name: str, text: str) -> None:
    assert load_paths(write_config(text, name)).region == "r"


def test_everything_unreadable_is_named_at_once(write_config: WriteConfig, tmp_path: Path) -> None:
    binary = tmp_path / "binary.hcl"
    binary.write_bytes(b'region = "a"\nname = "\xff"')
    paths = (
        str(tmp_path / "missing.hcl"),
        write_config("server {\n  enabled = true\n", "open.hcl"),
        write_config('{"a": }', "bad.json"),
        write_config("region = var.region", "expression.hcl"),
        str(binary),
    )
    with pytest.raises(ConfigError) as caught:
        load_paths(*paths)
    places = [str(problem.location).removeprefix(f"{tmp_path}/") for problem in caught.value.problems]
    assert places == ["missing.hcl", "open.hcl:1", "bad.json:1", "expression.hcl:1", "binary.hcl:2"]


def test_a_file_of_unreasonable_size_is_refused(write_config: WriteConfig) -> None:
    huge = write_config("#" * (4 * 1024 * 1024 + 1))
    with pytest.raises(ConfigError, match="larger than"):
        load_paths(huge)


def test_check_looks_at_files_without_needing_a_whole_configuration(write_config: WriteConfig) -> None:
    assert check([write_config("ports { http = 5646 }")]) == []


def test_check_names_every_problem(write_config: WriteConfig) -> None:
    path = write_config('regoin = "a"\ndata_dir = "relative"\nlog_level = "LOUD"\n')
    assert [(problem.key, str(problem.location)) for problem in check([path])] == [
        ("regoin", f"{path}:1"),
        ("log_level", f"{path}:3"),
        ("data_dir", f"{path}:2"),
    ]


def test_every_key_is_known() -> None:
    config = load(
        AgentFlags(config=(str(Path(__file__).parent / "every_key.hcl"),)), environment={}, interfaces=tuple
    )
    (notice,) = config.notices
    assert notice.event == "config.unserved_keys"
    assert "consul.service_identity" in notice.keys
    assert "server.raft_protocol" in notice.keys
    assert "client.enabled" not in notice.keys
