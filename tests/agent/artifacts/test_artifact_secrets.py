"""What came with an artifact to get it does not come out with its failures."""

from __future__ import annotations

import pytest

from yurt.agent.artifacts.secrets import without_secrets


@pytest.mark.parametrize(
    ("source", "options", "headers"),
    [
        pytest.param("https://user:hunter2!@host/file", {}, {}, id="password"),
        pytest.param("https://user:hunter2%21@host/file", {}, {}, id="escaped password"),
        pytest.param("https://host/f?X-Amz-Signature=hunter2!&a=b", {}, {}, id="signature"),
        pytest.param("https://host/f?access_token=hunter2%21", {}, {}, id="escaped token"),
        pytest.param("git::ssh://host/f", {"sshkey": "hunter2!"}, {}, id="key"),
        pytest.param("s3::https://host/f", {"aws_access_key_secret": "hunter2!"}, {}, id="secret option"),
        pytest.param("https://host/f", {}, {"X-Any": "hunter2!"}, id="header"),
    ],
)
def test_secrets_are_hidden(source: str, options: dict[str, str], headers: dict[str, str]) -> None:
    text = f'failed to download artifact "{source}": Get "{source}": Authorization hunter2! was refused'
    shown = without_secrets(text, source, options=options, headers=headers)
    assert "hunter2" not in shown
    assert "host" in shown


def test_all_else_stays() -> None:
    text = 'failed to download artifact "https://host/file?version=1": bad response code: 404'
    assert without_secrets(text, "https://host/file?version=1", options={"depth": "1"}, headers={}) == text
