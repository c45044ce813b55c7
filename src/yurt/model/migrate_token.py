"""The token with which one node may fetch the data of an allocation from another."""

from __future__ import annotations

import base64
import hashlib
import hmac

from yurt.model.wire import AllocID


def migrate_token(alloc_id: AllocID, node_secret: str) -> str:
    """The token for an allocation; besides the servers only the node with that secret can make it."""
    digest = hmac.new(node_secret.encode(), alloc_id.encode(), hashlib.blake2b).digest()
    return base64.urlsafe_b64encode(digest).decode()


def is_migrate_token(token: str, alloc_id: AllocID, node_secret: str) -> bool:
    """Whether a token is the one for the allocation."""
    return hmac.compare_digest(token.encode(), migrate_token(alloc_id, node_secret).encode())
