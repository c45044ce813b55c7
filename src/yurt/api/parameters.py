"""Query parameters of routes, as the API's own description tells them."""

from __future__ import annotations

from typing import Any

import msgspec

TEXT: dict[str, Any] = {"type": "string"}
WHOLE_NUMBER: dict[str, Any] = {"type": "integer"}
COUNT: dict[str, Any] = {"type": "integer", "minimum": 0}
FLAG: dict[str, Any] = {"type": "boolean"}
DURATION: dict[str, Any] = {"type": "string", "examples": ["10s", "2m30s"]}


class Parameter(msgspec.Struct, frozen=True):
    """One parameter of a query."""

    name: str
    told: str
    schema: dict[str, Any] = msgspec.field(default_factory=lambda: TEXT)
    is_repeated: bool = False
    is_required: bool = False

    def document(self) -> dict[str, Any]:
        """The parameter in OpenAPI's words."""
        schema = {"type": "array", "items": self.schema} if self.is_repeated else self.schema
        return {
            "name": self.name,
            "in": "query",
            "required": self.is_required,
            "description": self.told,
            "schema": schema,
        }


def flag(name: str, told: str) -> Parameter:
    """A parameter that is true or false."""
    return Parameter(name, told, FLAG)


def text(name: str, told: str, *, is_required: bool = False) -> Parameter:
    """A parameter that is any text."""
    return Parameter(name, told, is_required=is_required)


REGION = Parameter("region", "The region that is meant; this agent's own without.")
NAMESPACE = Parameter("namespace", "The namespace that is meant, or `*` for all where a list is asked for.")
PRETTY = Parameter("pretty", "Indent the JSON of the answer.")
STALE = Parameter("stale", "Whether any server may answer, not only the leader.", FLAG)
PREFIX = Parameter("prefix", "What the ids or names begin with.")
FILTER = Parameter("filter", "An expression that every item must satisfy.")

BLOCKING = (
    Parameter("index", "Answer once the index of what is read exceeds this one.", COUNT),
    Parameter("wait", "How long to wait for that; at most, and without, 5m.", DURATION),
    STALE,
)
PAGES = (
    Parameter("per_page", "How many items to give; 0 for all.", WHOLE_NUMBER),
    Parameter("next_token", "Where the page starts: X-Nomad-NextToken of the page before."),
)
REVERSE = Parameter("reverse", "`true` reverses the order.")
PAGED = (*BLOCKING, *PAGES, FILTER)
LISTED = (PREFIX, *PAGED, REVERSE)

NODE_ID = Parameter("node_id", "The node that is meant; this agent's own without.")
SERVER_ID = Parameter("server_id", "The server that is meant; this one without.")
NODE_FIELDS = (
    flag("resources", "Show the resources of nodes."),
    flag("os", "Show the operating system of nodes."),
)
CHECK_INDEX = Parameter("cas", "The modify index that what is replaced must have.", COUNT)
IDEMPOTENCY_TOKEN = Parameter("idempotency_token", "Repeated calls with the same token count once.")
