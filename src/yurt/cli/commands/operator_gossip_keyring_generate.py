"""`yurt operator gossip keyring generate`: a new key for gossip encryption."""

import base64
import os
from collections.abc import Sequence

from yurt.cli.command import Command, Session
from yurt.cli.options import GeneralOptions

KEY_BYTES = 32


def run(session: Session, _options: GeneralOptions, _arguments: Sequence[str]) -> int:
    """Print a random key."""
    session.console.output(base64.b64encode(os.urandom(KEY_BYTES)).decode())
    return 0


COMMAND = Command(
    path="operator gossip keyring generate",
    options=GeneralOptions,
    run=run,
    usage="[options]",
    description="""
        Generates a new 32-byte key that can be used to encrypt gossip between servers. The key is only
        printed.
    """,
    is_offline=True,
)
