"""Credentials for registries: from the job, a file as Docker's client keeps, or a helper program."""

from __future__ import annotations

import asyncio
import base64
import os
from pathlib import Path

import msgspec

from yurt.agent.drivers.docker.config import AuthConfig
from yurt.agent.drivers.docker.image_names import ImageName
from yurt.agent.drivers.docker.options import AuthOptions
from yurt.errors import YurtError

HELPER_LIMIT_S = 30.0
_TOKEN_USER = "<token>"  # noqa: S105 - what a helper calls the user of a token


class CredentialsUnavailable(YurtError):
    """A source of credentials is configured, but could not be asked."""


class Credentials(msgspec.Struct, frozen=True, kw_only=True):
    """As Docker is told them."""

    username: str = ""
    password: str = ""
    email: str = ""
    server_address: str = msgspec.field(name="serveraddress", default="")
    identity_token: str = msgspec.field(name="identitytoken", default="")

    def header(self) -> dict[str, str]:
        """The header of a pull."""
        return {"X-Registry-Auth": base64.urlsafe_b64encode(msgspec.json.encode(self)).decode()}


class _FileEntry(msgspec.Struct, frozen=True):
    auth: str = ""
    identitytoken: str = ""


class _File(msgspec.Struct, frozen=True, rename="camel"):
    """`config.json` of Docker's client."""

    auths: dict[str, _FileEntry] = {}
    cred_helpers: dict[str, str] = {}
    creds_store: str = ""


class _HelperAnswer(msgspec.Struct, frozen=True, rename="pascal"):
    username: str = ""
    secret: str = ""


async def find_credentials(image: ImageName, job: AuthConfig, options: AuthOptions) -> Credentials | None:
    """The first there are: the job's, those in the file, those of the helper; None for an anonymous pull.

    Raises CredentialsUnavailable.
    """
    if job.username or job.password:
        return Credentials(
            username=job.username,
            password=job.password,
            email=job.email,
            server_address=job.server_address or image.registry,
        )
    if options.config:
        found = await _from_file(Path(options.config), image.registry)
        if found is not None:
            return found
    if options.helper:
        return await _from_helper(options.helper, image.registry)
    return None


async def _from_file(path: Path, registry: str) -> Credentials | None:
    try:
        file = msgspec.json.decode(await asyncio.to_thread(path.read_bytes), type=_File)
    except (OSError, msgspec.DecodeError) as error:
        raise CredentialsUnavailable(f"cannot read credentials from {path}: {error}") from error
    helper = file.cred_helpers.get(registry) or file.creds_store
    if helper:
        return await _from_helper(helper, registry)
    entry = file.auths.get(registry) or file.auths.get(f"https://{registry}")
    if entry is None:
        return None
    try:
        username, _, password = base64.b64decode(entry.auth).decode().partition(":")
    except ValueError as error:
        raise CredentialsUnavailable(f"{path}: the auth of {registry} is damaged: {error}") from error
    return Credentials(
        username=username,
        password=password,
        server_address=registry,
        identity_token=entry.identitytoken,
    )


async def _from_helper(name: str, registry: str) -> Credentials | None:
    """Ask the program `docker-credential-<name>`; None when it knows nothing of the registry."""
    program = f"docker-credential-{os.path.basename(name)}"
    pipe = asyncio.subprocess.PIPE
    try:
        process = await asyncio.create_subprocess_exec(program, "get", stdin=pipe, stdout=pipe, stderr=pipe)
    except OSError as error:
        raise CredentialsUnavailable(f"cannot run {program}: {error}; install it on this node") from error
    try:
        async with asyncio.timeout(HELPER_LIMIT_S):
            output, errors = await process.communicate(registry.encode())
    except TimeoutError:
        process.kill()
        await process.wait()
        raise CredentialsUnavailable(f"{program} gave no answer within {HELPER_LIMIT_S:.0f} s") from None
    if process.returncode:
        if b"credentials not found" in output + errors:
            return None
        raise CredentialsUnavailable(
            f"{program} failed: {(output + errors).decode(errors='replace').strip()}"
        )
    try:
        answer = msgspec.json.decode(output, type=_HelperAnswer)
    except msgspec.DecodeError as error:
        raise CredentialsUnavailable(f"{program} gave an answer that cannot be read: {error}") from error
    if answer.username == _TOKEN_USER:
        return Credentials(server_address=registry, identity_token=answer.secret)
    return Credentials(username=answer.username, password=answer.secret, server_address=registry)
