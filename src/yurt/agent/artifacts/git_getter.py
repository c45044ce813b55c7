"""Get a repository with git."""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
import os
import shutil
import signal

from yurt.agent.artifacts.errors import FetchFailed
from yurt.agent.artifacts.sources import Source

OUTPUT_BYTES_MAX = 64 << 10
SHOWN_CHARS_MAX = 1000
PROTOCOLS = "http:https:ssh:git"


async def get(source: Source, target: str, *, scratch: str, allow_files: bool) -> None:
    """Clone into the directory `target`, which must not exist yet. Raises FetchFailed.

    `scratch` is a directory of ours for git's own files. The caller limits the time; being cancelled ends
    git. Nothing of the agent's environment or of the machine's git settings reaches git.
    """
    if shutil.which("git") is None:
        raise FetchFailed("git must be available and on the PATH")
    env = _environment(scratch, allow_files=allow_files)
    if source.ssh_key:
        env["GIT_SSH_COMMAND"] = _ssh_command(source.ssh_key, scratch)
    await _git(env, "init", "--quiet", "--template=", "--", target)
    depth = [f"--depth={source.depth}"] if source.depth else []
    wanted = source.ref or "HEAD"
    try:
        await _git(env, "-C", target, "fetch", "--quiet", *depth, "--", source.url, wanted)
        found = "FETCH_HEAD"
    except FetchFailed:
        if not source.ref:
            raise
        # Not every server hands out a commit that no branch points at, so all is fetched to find it.
        everything = "+refs/*:refs/remotes/origin/*"
        await _git(env, "-C", target, "fetch", "--quiet", "--tags", "--", source.url, everything)
        found = source.ref
    await _git(env, "-C", target, "checkout", "--quiet", "--detach", found, "--")
    if await asyncio.to_thread(os.path.exists, f"{target}/.gitmodules"):
        await _git(env, "-C", target, "remote", "add", "origin", source.url)
        await _git(env, "-C", target, "submodule", "--quiet", "update", "--init", "--recursive", *depth)


def _environment(scratch: str, *, allow_files: bool) -> dict[str, str]:
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": scratch,
        "TMPDIR": scratch,
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ALLOW_PROTOCOL": f"{PROTOCOLS}:file" if allow_files else PROTOCOLS,
        "GIT_SSH_COMMAND": "ssh -o BatchMode=yes",
        # Repositories may hold names that mean something on other systems.
        "GIT_CONFIG_COUNT": "2",
        "GIT_CONFIG_KEY_0": "core.protectNTFS",
        "GIT_CONFIG_VALUE_0": "true",
        "GIT_CONFIG_KEY_1": "core.hooksPath",
        "GIT_CONFIG_VALUE_1": os.devnull,
    }


def _ssh_command(key: str, scratch: str) -> str:
    """Use a key of the job's own; whom it meets is not known before, so hosts are not checked."""
    try:
        content = base64.b64decode(key, validate=True)
    except (binascii.Error, ValueError) as error:
        raise FetchFailed(f"sshkey is not base64: {error}") from error
    path = f"{scratch}/key"
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
    return (
        f"ssh -i {path} -o IdentitiesOnly=yes -o BatchMode=yes -o StrictHostKeyChecking=no "
        f"-o UserKnownHostsFile={os.devnull}"
    )


async def _git(env: dict[str, str], *args: str) -> None:
    process = await asyncio.create_subprocess_exec(
        "git",
        *args,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        env=env,
        start_new_session=True,
    )
    assert process.stderr is not None
    try:
        said = await process.stderr.read(OUTPUT_BYTES_MAX)
        while await process.stderr.read(OUTPUT_BYTES_MAX):
            pass
        code = await process.wait()
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    if code != 0:
        text = said.decode(errors="replace").strip()[:SHOWN_CHARS_MAX]
        raise FetchFailed(f"git exited with {code}: {text}")
