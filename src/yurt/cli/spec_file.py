"""Small specification files: namespaces, node pools, variables, volumes."""

from typing import Any

from yurt.cli.command import Session
from yurt.cli.errors import CommandError
from yurt.jobspec.hcl import HCLError, literal_body


def read_text(session: Session, path: str, what: str) -> str:
    """Read a file, or standard input for `-`. `what` names the file in the error."""
    if path == "-":
        return session.console.stdin.read()
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError as error:
        cause = (error.strerror or str(error)).lower()
        raise CommandError(f"Error reading {what}: open {path}: {cause}") from error


def parse_spec(text: str, path: str, what: str) -> dict[str, Any]:
    """Read HCL or JSON of plain values. Blocks are lists of objects. Raises `CommandError`."""
    try:
        return dict(literal_body(text, filename=path))
    except HCLError as error:
        raise CommandError(f"Error parsing {what}: {error}") from error


def block(body: dict[str, Any], name: str) -> dict[str, Any] | None:
    """Give a block of a body, several of one name taken together; None when there is none."""
    value = body.get(name)
    if value is None:
        return None
    parts = value if isinstance(value, list) else [value]
    if not all(isinstance(part, dict) for part in parts):
        raise CommandError(f"{name} must be a block, like {name} {{ ... }}")
    merged: dict[str, Any] = {}
    for part in parts:
        merged |= part
    return merged


def text_map(body: dict[str, Any], name: str) -> dict[str, str] | None:
    """Give a block of a body as texts; None when there is none."""
    values = block(body, name)
    return None if values is None else {key: _text(value) for key, value in values.items()}


def refuse_unknown(body: dict[str, Any], known: frozenset[str], what: str) -> None:
    """Raise `CommandError` for a key that is not known."""
    unknown = sorted(set(body) - known)
    if unknown:
        raise CommandError(
            f"Error parsing {what}: invalid key: {', '.join(unknown)}; known are {', '.join(sorted(known))}"
        )


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
