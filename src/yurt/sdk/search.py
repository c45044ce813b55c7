"""Finding objects of any kind by a prefix of their id or name."""

from yurt.sdk.client import Answer, Client
from yurt.sdk.wire import Record


class Found(Record, frozen=True):
    """What matches, by kind; `truncations` says where there is more."""

    matches: dict[str, tuple[str, ...]] = {}
    truncations: dict[str, bool] = {}


def by_prefix(client: Client, prefix: str, context: str = "all") -> Answer[Found]:
    """Search one kind of object (`jobs`, `allocs`, `nodes`, ...) or all."""
    return client.put("/v1/search", Found, body={"Prefix": prefix, "Context": context})
