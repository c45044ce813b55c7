"""What installed programs say when they are asked for their version."""

from __future__ import annotations

import asyncio
import os

ASK_LIMIT_S = 10.0


class ProgramVersions:
    """Asks programs with one argument, again only when the program's file has changed: it may take long."""

    def __init__(self, argument: str) -> None:
        self._argument = argument
        self._told: dict[str, tuple[object, str | None]] = {}

    async def ask(self, path: str) -> str | None:
        """All that the program says; None when it fails or takes too long."""
        facts = os.stat(path)
        identity = (facts.st_dev, facts.st_ino, facts.st_mtime_ns)
        known = self._told.get(path)
        if known is None or known[0] != identity:
            known = self._told[path] = (identity, await self._run(path))
        return known[1]

    async def _run(self, path: str) -> str | None:
        process = await asyncio.create_subprocess_exec(
            path,
            self._argument,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        try:
            async with asyncio.timeout(ASK_LIMIT_S):
                output, _ = await process.communicate()
        except TimeoutError:
            return None
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        return None if process.returncode else output.decode(errors="replace")
