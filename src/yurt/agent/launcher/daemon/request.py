"""What the agent asks a supervisor to run."""

from .records import decode_environment, decode_request


class Request:
    """The fields of a start request by name; `yurt.agent.launcher.spec` writes them.

    Lists are fields that repeat, and what is absent is its default, so that an older agent's request
    stays readable.
    """

    def __init__(self, body: bytes) -> None:
        self._fields, self._environment = decode_request(body)

    def text(self, name: str, default: str = "") -> str:
        values = self._fields.get(name)
        return values[0] if values else default

    def number(self, name: str, default: int = 0) -> int:
        return int(self.text(name) or default)

    def texts(self, name: str) -> list[str]:
        return self._fields.get(name, [])

    def pairs(self, name: str) -> list[tuple[str, str]]:
        """Values of the form `key=value`, in order."""
        split = [value.partition("=") for value in self.texts(name)]
        return [(key, value) for key, _, value in split]

    def environment(self) -> dict[bytes, bytes]:
        """The variables of the command."""
        return decode_environment(self._environment)

    def has_any(self, names: tuple[str, ...]) -> bool:
        """Whether one of these fields is there."""
        return not self._fields.keys().isdisjoint(names)
