"""Where Yurt controls access otherwise than recorded, and why."""

from __future__ import annotations

_FIRST = "permission is asked for before anything else, so that nobody learns from other errors"
_JOIN = "servers are joined only by those who may, where Nomad warns and joins"

_WHO = ("reader", "rich", "anonymous")

# Differences that are meant, as scenario and the beginning of the difference, with the reason. They are
# also listed in docs/compatibility.md.
ACL_DIFFERENCES: dict[tuple[str, str], str] = {
    ("acl_permissions_reader", "rich POST /v1/search: body.Matches.vars: recorded 2 items, got 1"): (
        "a search shows only variables that the caller may list"
    ),
    ("acl_anonymous_before_bootstrap", "register invalid: status"): _FIRST,
    ("acl_permissions_reader", "reader GET /v1/agent/monitor?log_level=nope: status"): _FIRST,
    ("acl_permissions_reader", "anonymous GET /v1/agent/monitor?log_level=nope: status"): _FIRST,
    **{("acl_permissions_reader", f"{who} PUT /v1/agent/join"): _JOIN for who in _WHO},
    ("acl_anonymous_before_bootstrap", "/.well-known/jwks.json: header Cache-Control"): (
        "public keys are asked for again after a quarter of an hour"
    ),
    ("acl_permissions_reader", "rich GET /v1/operator/autopilot/configuration: body"): (
        "the autopilot's configuration has no index until somebody sets it"
    ),
    ("acl_permissions_reader", "rich GET /v1/operator/autopilot/health: body.Servers[0].LastTerm"): (
        "one server has led from the start, so there is one term"
    ),
}
