"""What can go wrong between a client and a server."""

from yurt.errors import YurtError


class SdkError(YurtError):
    """Any failure of a call; its text is fit to be shown to a person."""


class ApiError(SdkError):
    """The server answered with an error status. `body` is its text, without surrounding blanks."""

    def __init__(self, status: int, body: str) -> None:
        super().__init__(f"Unexpected response code: {status} ({body.strip()})")
        self.status = status
        self.body = body.strip()


class ServerUnreachable(SdkError):
    """No answer at all: nobody listens, the name is unknown, the connection broke or timed out."""

    def __init__(self, *, method: str, url: str, cause: str) -> None:
        super().__init__(f'{method.capitalize()} "{url}": {cause}')
        self.method = method
        self.url = url
        self.cause = cause


class TlsTrouble(ServerUnreachable):
    """Somebody listens, but one side does not believe the other, or only one of them uses TLS."""


class BadAnswer(SdkError):
    """The server answered something that is not of the promised shape."""

    def __init__(self, url: str, problem: str) -> None:
        super().__init__(
            f"unexpected answer from {url}: {problem}; check that the address is that of an agent's API"
        )
        self.url = url


class BadSettings(SdkError):
    """The address or a TLS file cannot be used as given."""
