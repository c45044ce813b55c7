"""`yurt login` against a real agent and a real identity provider."""

from __future__ import annotations

import asyncio
import json
import socket
from pathlib import Path
from typing import Any

from aiohttp import ClientSession

from tests.api.oidc_provider import CLIENT_ID, CLIENT_SECRET, OidcProvider, running_provider
from tests.cli.command_line import CommandLine
from tests.cli.real_commands import YURT, clean_environment
from tests.support.real_agent import RealAgent, running_agent

ROOT = "aaaaaaaa-0000-4000-8000-000000000001"
WAIT_S = 60.0


def _free_address() -> str:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{sock.getsockname()[1]}"


def _prepare(agent: RealAgent, kind: str, config: dict[str, Any]) -> None:
    agent.call("PUT", "/v1/acl/bootstrap", {"BootstrapSecret": ROOT})
    agent.token = ROOT
    method = {
        "Name": "sso",
        "Type": kind,
        "TokenLocality": "local",
        "MaxTokenTTL": "1h",
        "Default": True,
        "Config": {"ListClaimMappings": {"groups": "groups"}, **config},
    }
    rule = {"AuthMethod": "sso", "BindType": "policy", "BindName": "dev", "Selector": '"dev" in list.groups'}
    policy = {"Name": "dev", "Rules": 'namespace "default" { policy = "read" }'}
    for path, body in (
        ("/v1/acl/policy/dev", policy),
        ("/v1/acl/auth-method", method),
        ("/v1/acl/binding-rule", rule),
    ):
        answer = agent.call("PUT", path, body)
        assert answer.status == 200, answer.text


async def _started(agent: RealAgent, directory: Path, *arguments: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *YURT,
        *arguments,
        # No browser opens: the tests play it.
        env=clean_environment(directory) | {"YURT_ADDR": agent.address, "BROWSER": "/bin/true"},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def _page(process: asyncio.subprocess.Process) -> str:
    """The page that somebody is told to log in at."""
    assert process.stderr is not None
    async for line in process.stderr:
        if line.startswith(b"Log in at "):
            return line.decode().removeprefix("Log in at ").strip()
    raise AssertionError("no page was told")


async def _visit(url: str) -> int:
    """Follow a browser's way, to the provider and back."""
    async with ClientSession() as session, session.get(url) as response:
        await response.read()
        return response.status


async def test_somebody_logs_in_with_a_browser(tmp_path: Path) -> None:
    async with running_provider() as provider:
        with running_agent(tmp_path / "agent", client=False, more_config="acl { enabled = true }") as agent:
            config = {
                "OIDCDiscoveryURL": provider.url,
                "OIDCClientID": CLIENT_ID,
                "OIDCClientSecret": CLIENT_SECRET,
                "OIDCEnablePKCE": True,
                "AllowedRedirectURIs": ["http://127.0.0.1:4649/oidc/callback"],
            }
            await asyncio.to_thread(_prepare, agent, "OIDC", config)
            address = _free_address()
            process = await _started(agent, tmp_path, "login", "-json", "-oidc-callback-addr", address)
            async with asyncio.timeout(WAIT_S):
                url = await _page(process)
                assert await _visit(f"http://{address}/favicon.ico") == 404
                assert await _visit(url) == 200
                output, errors = await process.communicate()
            assert process.returncode == 0, errors.decode()
            token = json.loads(output)
            assert token["Policies"] == ["dev"]
            agent.token = token["SecretID"]
            assert agent.call("GET", "/v1/jobs").status == 200
            assert agent.call("GET", "/v1/nodes").status == 403
            agent.token = ROOT


async def test_a_program_logs_in_with_a_signed_token(tmp_path: Path) -> None:
    provider = OidcProvider()
    with running_agent(tmp_path / "agent", client=False, more_config="acl { enabled = true }") as agent:
        _prepare(agent, "JWT", {"JWTValidationPubKeys": [provider.public_pem]})
        process = await _started(agent, tmp_path, "login", "-login-token", provider.signed(groups=["dev"]))
        output, errors = await process.communicate()
        assert process.returncode == 0, errors.decode()
        assert "Successfully logged in via JWT and sso" in output.decode()
        process = await _started(agent, tmp_path, "login", "-login-token", provider.signed(groups=["sales"]))
        _, errors = await process.communicate()
        assert process.returncode == 1
        assert "no role or policy bindings matched" in errors.decode()


def test_the_web_ui_is_logged_in_by_a_secret_that_works_once(yurt: CommandLine) -> None:
    yurt.server.on("PUT", "/v1/acl/token/onetime", {"OneTimeToken": {"OneTimeSecretID": "once"}})
    result = yurt("yurt ui -authenticate -show-url")
    assert result.stdout == f"URL for web UI: {yurt.server.address}?ott=once\n"
