"""Example files that commands write for people to start from."""

from yurt.cli.errors import CommandError


def write_new_file(path: str, text: str) -> None:
    """Write a file that must not exist yet. Raises `CommandError`."""
    try:
        with open(path, "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise CommandError(f"File {path!r} already exists; name another one or remove it first") from error
    except OSError as error:
        raise CommandError(f"Failed to write {path!r}: {error.strerror}") from error
