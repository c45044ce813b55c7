"""Named clusters: a file of contexts, each with an address, a token and the like."""

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from yurt.cli.errors import CommandError

FILE_MODE = 0o600  # tokens are in it
DIRECTORY_MODE = 0o700
CONTEXTS_MAX = 1000
NAME_LENGTH_MAX = 128


class Context(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """How to reach one cluster; empty leaves a setting to flags, environment and defaults."""

    address: str = ""
    region: str = ""
    namespace: str = ""
    token: str = ""
    ca_cert: str = ""
    ca_path: str = ""
    client_cert: str = ""
    client_key: str = ""
    tls_server_name: str = ""
    tls_skip_verify: bool = False


class Contexts(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All contexts by name, and the one in use; none when `current` is empty."""

    current: str = ""
    contexts: dict[str, Context] = {}


def contexts_path(environment: Mapping[str, str]) -> Path:
    """Where the file is: `$XDG_CONFIG_HOME/yurt/contexts.json`, usually below `~/.config`."""
    base = environment.get("XDG_CONFIG_HOME") or os.path.join(environment.get("HOME", "/"), ".config")
    return Path(base) / "yurt" / "contexts.json"


def read_contexts(path: Path) -> Contexts:
    """Read the file; one that is not there holds no contexts."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Contexts)
    except FileNotFoundError:
        return Contexts()
    except OSError as error:
        raise CommandError(f"Error reading contexts: {path}: {(error.strerror or '').lower()}") from error
    except msgspec.MsgspecError as error:
        raise CommandError(
            f"Error reading contexts: {path}: {error}; mend the file, or move it away and set them anew"
        ) from error


def write_contexts(path: Path, contexts: Contexts) -> None:
    """Write the file, whole or not at all, readable by its owner only."""
    text = msgspec.json.format(msgspec.json.encode(contexts), indent=2) + b"\n"
    try:
        path.parent.mkdir(mode=DIRECTORY_MODE, parents=True, exist_ok=True)
        temporary = path.with_name(f"{path.name}.{os.getpid()}")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, FILE_MODE)
        with os.fdopen(descriptor, "wb") as file:
            file.write(text)
        temporary.replace(path)
    except OSError as error:
        raise CommandError(f"Error writing contexts: {path}: {(error.strerror or '').lower()}") from error


def chosen_context(environment: Mapping[str, str], name: str | None) -> tuple[str, Context]:
    """The context in use: that of the flag, of `YURT_CONTEXT`, or the current one of the file.

    Gives an empty name and an empty context when there is none. Raises `CommandError` for an unknown name.
    """
    wanted = environment.get("YURT_CONTEXT", "") if name is None else name
    path = contexts_path(environment)
    # Most people have no contexts, and this is on the way of every command.
    if not wanted and not path.exists():
        return "", Context()
    contexts = read_contexts(path)
    wanted = wanted or contexts.current
    return (wanted, find_context(contexts, wanted)) if wanted else ("", Context())


def find_context(contexts: Contexts, name: str) -> Context:
    """The context of a name. Raises `CommandError` when there is none."""
    found = contexts.contexts.get(name)
    if found is None:
        known = ", ".join(sorted(contexts.contexts)) or "none"
        raise CommandError(
            f'No context "{name}" (there are: {known}); '
            f"make it with 'yurt context set -address <addr> {name}'"
        )
    return found
