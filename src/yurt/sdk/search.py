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


class FuzzyMatch(Record, frozen=True):
    """Something found by a part of its name; `scope` says where it is."""

    id: str = ""
    scope: tuple[str, ...] = ()


class FuzzyFound(Record, frozen=True):
    """What matches, by kind; `truncations` says where there is more."""

    matches: dict[str, tuple[FuzzyMatch, ...]] = {}
    truncations: dict[str, bool] = {}


def fuzzy(client: Client, text: str, context: str = "all") -> Answer[FuzzyFound]:
    """Search for a part of a name."""
    return client.put("/v1/search/fuzzy", FuzzyFound, body={"Text": text, "Context": context})
