"""What somebody gets for whom an auth method vouches."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from yurt.api.filter import FilterFailed, FilterUnreadable, compile_filter
from yurt.api.logins.errors import LoginRefused
from yurt.model.acl.auth_method import BIND_MANAGEMENT, BIND_ROLE, AuthMethod, BindingRule
from yurt.state.acl import Acl

NOTHING_MATCHED = "no role or policy bindings matched"
LIST_LENGTH_MAX = 1000

_REFERENCE = re.compile(r"\$\{([^}]*)\}")


class MappedClaims(msgspec.Struct, frozen=True):
    """The claims that an auth method looks at, by the names that it gives them."""

    value: dict[str, str]
    list: dict[str, list[str]]


class Grants(msgspec.Struct, frozen=True):
    """What somebody gets: everything, or roles by id and policies by name."""

    is_management: bool
    roles: tuple[str, ...]
    policies: tuple[str, ...]


def mapped_claims(claims: Mapping[str, Any], method: AuthMethod) -> MappedClaims:
    """Pick the claims that a method looks at. Raises LoginRefused."""
    config = method.config
    assert config is not None, "a method without a configuration is refused when it is written"
    value = {
        name: _text(found)
        for path, name in (config.claim_mappings or {}).items()
        if (found := _claim(claims, path)) is not None and not isinstance(found, (list, dict))
    }
    lists = {}
    for path, name in (config.list_claim_mappings or {}).items():
        found = _claim(claims, path)
        items = found if isinstance(found, list) else [found] if found is not None else []
        if len(items) > LIST_LENGTH_MAX:
            raise LoginRefused(f"the claim {path} has more than {LIST_LENGTH_MAX} items")
        lists[name] = [_text(item) for item in items if not isinstance(item, (list, dict))]
    return MappedClaims(value, lists)


def grants(claims: MappedClaims, rules: Iterable[BindingRule], acl: Acl) -> Grants:
    """Add up the binding rules that mean somebody. Raises LoginRefused if none does.

    Roles and policies that there are not are passed over: they may come later.
    """
    about = {"value": claims.value, "list": claims.list}
    roles: dict[str, None] = {}
    policies: dict[str, None] = {}
    is_management = False
    for rule in rules:
        if not _means(rule, about):
            continue
        if rule.bind_type == BIND_MANAGEMENT:
            is_management = True
            continue
        name = filled_in(rule.bind_name, claims.value)
        if name is None:
            continue
        if rule.bind_type == BIND_ROLE:
            role = acl.roles.named(name)
            roles.update({role.id: None} if role is not None else {})
        elif name in acl.policies:
            policies[name] = None
    if is_management:
        return Grants(True, (), ())
    if not roles and not policies:
        raise LoginRefused(NOTHING_MATCHED)
    return Grants(False, tuple(roles), tuple(policies))


def token_name(method: AuthMethod, claims: MappedClaims) -> str:
    """What a token is called that a login makes."""
    names = {
        "auth_method_type": method.type,
        "auth_method_name": method.name,
        **{f"value.{name}": value for name, value in claims.value.items()},
    }
    return _REFERENCE.sub(lambda found: names.get(found[1].strip(), ""), method.token_name_format)


def filled_in(text: str, values: Mapping[str, str]) -> str | None:
    """A text with its `${value.x}` filled in; None if one of them is not known."""
    known = {f"value.{name}": value for name, value in values.items()}
    wanted = [found.strip() for found in _REFERENCE.findall(text)]
    if any(one not in known for one in wanted):
        return None
    return _REFERENCE.sub(lambda found: known[found[1].strip()], text)


def _means(rule: BindingRule, about: Mapping[str, Any]) -> bool:
    if not rule.selector:
        return True
    try:
        return compile_filter(rule.selector).matches(about)
    except (FilterFailed, FilterUnreadable):
        return False


def _claim(claims: Mapping[str, Any], path: str) -> Any:  # noqa: ANN401 - any JSON
    """A claim by its name, or by a path such as `/groups/0` into it."""
    if not path.startswith("/"):
        return claims.get(path)
    found: Any = claims
    for part in path[1:].split("/"):
        if isinstance(found, dict):
            found = found.get(part)
        elif isinstance(found, list) and part.isdigit() and int(part[:9]) < len(found):
            found = found[int(part[:9])]
        else:
            return None
    return found


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
