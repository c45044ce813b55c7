"""What is redrawn in place on a terminal."""

import io

from tests.cli.command_line import CommandLine
from tests.cli.objects import a_deployment, a_group_state, an_eval
from tests.cli.transcripts import at
from tests.sdk.replay_server import Reply
from yurt.cli.live_block import LiveBlock

UP_AND_CLEAR = "\033[1A\033[0G\033[2K"


def test_block_replaces_itself_and_ends_with_the_outcome() -> None:
    stream = io.StringIO()
    block = LiveBlock(stream, 'Deployment "d"')
    block.draw("one\ntwo")
    block.draw("three")
    block.end("successful", is_good=True)
    text = stream.getvalue()
    assert text.startswith('  ⠋ Deployment "d" in progress...\n    one\n    two\n')
    assert UP_AND_CLEAR * 3 in text
    assert text.endswith('  ✓ Deployment "d" successful\n    three\n')


def test_terminal_without_a_size_gets_plain_blocks(yurt: CommandLine) -> None:
    """The tests' terminal says nothing about its size, like a serial line."""
    yurt.set_time(at("2026-11-15T09:04:24Z"))
    evaluation = an_eval("e0000000", JobID="web", DeploymentID="d0000000")
    server = yurt.server
    server.on("GET", "/v1/evaluations", [evaluation])
    server.on("GET", "/v1/evaluation/e0000000", evaluation)
    server.on("GET", "/v1/evaluation/e0000000/allocations", [])
    state = a_group_state(desired=1, placed=1, healthy=1, deadline="2026-11-15T09:05:24Z")
    deployment = a_deployment("d0000000", "web", {"app": state}, Status="successful")
    server.on("GET", "/v1/deployment/d0000000", Reply(deployment, headers={"X-Nomad-Index": "4"}))
    result = yurt("yurt eval status -monitor e0000000", is_terminal=True)
    assert result.exit_code == 0
    assert "Status      = successful" in result.stdout
    assert "\033[1A" not in result.stdout
