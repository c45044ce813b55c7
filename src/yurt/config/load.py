"""Makes an agent's configuration of its flags and files."""

import os
import socket
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from yurt.cli.agent_flags import AgentFlags
from yurt.config.addresses import resolve_addresses
from yurt.config.blocks.agent import AgentConfig, FileConfig
from yurt.config.checks import NO_ROLE_KEY, Finding, find_problems
from yurt.config.decode import Given, Layer, Path
from yurt.config.dev_mode import dev_defaults, dev_forced, standalone_defaults
from yurt.config.files import read_files
from yurt.config.flags import decode_flags
from yurt.config.layers import build, merge
from yurt.config.problems import ConfigError, Location, Notice, Problem
from yurt.config.tls_notices import tls_notices
from yurt.sockaddr.interfaces import InterfaceAddress, read_interfaces

_INTRO_TOKEN_VARIABLES = ("YURT_CLIENT_INTRO_TOKEN", "NOMAD_CLIENT_INTRO_TOKEN")


def load(
    flags: AgentFlags,
    *,
    environment: Mapping[str, str] | None = None,
    interfaces: Callable[[], Sequence[InterfaceAddress]] = read_interfaces,
) -> AgentConfig:
    """Read the files that `flags` name and give the agent's configuration.

    Defaults count least, then files in their order, then flags. Raises ConfigError with everything wrong.
    """
    environment = os.environ if environment is None else environment
    is_dev = any((flags.dev, flags.dev_connect, flags.dev_consul, flags.dev_vault))
    read = read_files(flags.config)
    layers = [
        *(dev_defaults(connect=bool(flags.dev_connect)) if is_dev else ()),
        *((standalone_defaults(),) if flags.standalone else ()),
        _environment_layer(environment),
        *read.layers,
        decode_flags(flags),
        *((dev_forced(),) if is_dev else ()),
    ]
    problems = [*read.problems, *(problem for layer in layers for problem in layer.problems)]
    values = merge(layer.values for layer in layers)
    config = build(FileConfig, values, problems)
    resolved = resolve_addresses(config, interfaces(), dev=is_dev)
    if not read.problems:  # what an unreadable file says would only be missed
        found = (*find_problems(config, dev=is_dev), *resolved.problems.items())
        problems += _not_yet_known(found, problems, values)
    if problems:
        raise ConfigError(problems)
    fields = {name: getattr(config, name) for name in FileConfig.__struct_fields__}
    fields |= {
        "name": config.name or socket.gethostname(),
        "log_level": config.log_level.upper(),
        "bind_addr": resolved.bind_addr,
        "addresses": resolved.addresses,
        "advertise": resolved.advertise,
        "client": resolved.client,
    }
    return AgentConfig(
        **fields,
        dev=is_dev,
        keeps_nothing=is_dev or not config.data_dir,
        config_paths=flags.config,
        config_files=read.files,
        notices=(*_unserved_notice(layers), *tls_notices(config.tls), *resolved.notices),
    )


def check(paths: Iterable[str]) -> list[Problem]:
    """Say what is wrong with configuration files, without the flags that an agent would add.

    A file need not be a whole configuration: an agent's role and its data directory may come from flags.
    """
    read = read_files(paths)
    problems = [*read.problems, *(problem for layer in read.layers for problem in layer.problems)]
    values = merge(layer.values for layer in read.layers)
    config = build(FileConfig, values, problems)
    if not read.problems:
        server = msgspec.structs.replace(config.server, enabled=True)
        whole = msgspec.structs.replace(config, server=server)
        problems += _not_yet_known(find_problems(whole, dev=True), problems, values)
    return problems


def _environment_layer(environment: Mapping[str, str]) -> Layer:
    for variable in _INTRO_TOKEN_VARIABLES:
        if environment.get(variable):
            given = Given(environment[variable], Location(variable))
            return Layer(values={("client", "intro_token"): given})
    return Layer()


def _unserved_notice(layers: Sequence[Layer]) -> tuple[Notice, ...]:
    keys = {key: where for layer in layers for key, where in layer.unserved.items()}
    if not keys:
        return ()
    named = ", ".join(f"{key} ({where})" if str(where) != key else key for key, where in keys.items())
    return (
        Notice(
            event="config.unserved_keys",
            text=f"settings without effect: {named}; Yurt reads them and does nothing with them",
            keys=tuple(keys),
        ),
    )


def _not_yet_known(
    findings: Iterable[Finding], known: Sequence[Problem], values: Mapping[Path, Given]
) -> list[Problem]:
    """Findings as problems, less those about a value that could not be read and so looks missing."""
    known_keys = {problem.key for problem in known}
    if known_keys & {"server", "client", "server.enabled", "client.enabled"}:
        known_keys |= {NO_ROLE_KEY}
    return [_located(key, text, values) for key, text in findings if key not in known_keys]


def _located(key: str, text: str, values: Mapping[Path, Given]) -> Problem:
    """A problem of `key`, with the place of its value or of the nearest block around it."""
    path = tuple(key.split("."))
    places = (values[path[:end]].location for end in range(len(path), 0, -1) if path[:end] in values)
    return Problem(text=text, key=key, location=next(places, None))
