"""How commands fail."""

from collections.abc import Iterator
from contextlib import contextmanager

from yurt.errors import YurtError

EXIT_FAILURE = 1


class CommandError(YurtError):
    """Ends a command: the text goes to standard error, `exit_code` to the caller."""

    def __init__(self, message: str, *, exit_code: int = EXIT_FAILURE) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class UsageError(CommandError):
    """Wrong arguments: the text is followed by a line that points to the command's help."""


class FlagError(CommandError):
    """A flag that is unknown or has a bad value: the text is followed by the command's help."""


@contextmanager
def failing_as(context: str) -> Iterator[None]:
    """Turn failed calls into command errors that say what was tried: `<context>: <failure>`."""
    # Imported here because commands that make no calls must not pay for the HTTP client.
    from yurt.sdk.errors import SdkError, ServerUnreachable, TlsTrouble  # noqa: PLC0415

    try:
        yield
    except TlsTrouble as error:
        raise CommandError(_joined(context, error)) from error
    except ServerUnreachable as error:
        raise CommandError(f"{_joined(context, error)}\n{ask_whether_running(error)}") from error
    except SdkError as error:
        raise CommandError(_joined(context, error)) from error


def _joined(context: str, error: YurtError) -> str:
    # A context that ends its line stands above the failure, an empty one leaves it alone.
    return f"{context}{error}" if not context or context.endswith("\n") else f"{context}: {error}"


def ask_whether_running(error: YurtError) -> str:
    """Say what to do when a server does not answer."""
    address = str(getattr(error, "url", "")).partition("/v1/")[0]
    return (
        f"No server is reachable at {address}: is the agent running? Start one with 'yurt agent -dev', "
        "or name another address with -address or YURT_ADDR."
    )
