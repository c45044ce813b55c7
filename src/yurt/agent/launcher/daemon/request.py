"""What the agent asks a supervisor to run."""

from .records import decode_request


class Request:
    """The fields of a start request by name; `yurt.agent.launcher.spec` writes them.

    Lists are fields that repeat, and what is absent is its default, so that an older agent's request
    stays readable.
    """

    def __init__(self, data: bytes) -> None:
        self._fields = decode_request(data)

    def text(self, name: str, default: str = "") -> str:
        return next((value for field, value in self._fields if field == name), default)

    def number(self, name: str, default: int = 0) -> int:
        return int(self.text(name) or default)

    def texts(self, name: str) -> list[str]:
        return [value for field, value in self._fields if field == name]

    def pairs(self, name: str) -> list[tuple[str, str]]:
        """Values of the form `key=value`, in order."""
        split = (value.partition("=") for value in self.texts(name))
        return [(key, value) for key, _, value in split]
