"""Rules of policies, read from the text that their authors write: HCL, or JSON."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TypeVar

from yurt.jobspec.hcl import HCLError, LiteralBody, LiteralValue, literal_body
from yurt.model.acl import capabilities as known
from yurt.model.acl.rules import (
    AreaRule,
    CapableAreaRule,
    NamedRule,
    NamespaceRule,
    PathRule,
    Rules,
    VariablesRule,
)

RULES_LENGTH_MAX = 512 * 1024

_NAMESPACE_NAME = re.compile(r"[a-zA-Z0-9*-]{1,128}")
_NODE_POOL_NAME = re.compile(r"[a-zA-Z0-9_*-]{1,128}")
_UNCLOSED = "Unclosed block"

_T = TypeVar("_T")


class RulesUnreadable(Exception):
    """What is wrong with rules, in the words that clients of Nomad know."""


def read_rules(text: str) -> Rules:
    """Read rules; an empty text grants nothing. Raises RulesUnreadable."""
    if len(text) > RULES_LENGTH_MAX:
        raise RulesUnreadable(f"rules are longer than {RULES_LENGTH_MAX} characters; split the policy")
    if not text:
        return Rules()
    body = _body(text)
    if not any(name in _BLOCKS for name in body):
        raise RulesUnreadable(f"Invalid policy: {text}")
    extra = [name for name in body if name not in _BLOCKS]
    extra += [name for name in _ONCE if len(_bodies(body, name)) > 1]
    if extra:
        raise RulesUnreadable(f"Invalid or duplicate policy keys: {', '.join(extra)}")
    return Rules(
        namespaces=_each(body, "namespace", _namespace),
        node_pools=_each(body, "node_pool", _node_pool),
        host_volumes=_each(body, "host_volume", _host_volume),
        agent=_area(body, "agent"),
        node=_area(body, "node"),
        operator=_capable(body, "operator", known.OPERATOR_POLICIES, known.OPERATOR_CAPABILITIES),
        sentinel=_capable(body, "sentinel", known.SENTINEL_POLICIES, known.SENTINEL_CAPABILITIES),
        quota=_area(body, "quota"),
        plugin=_area(body, "plugin"),
        raw=text,
    )


_NAMED = ("namespace", "node_pool", "host_volume")
_ONCE = ("agent", "node", "operator", "sentinel", "quota", "plugin")
_BLOCKS = frozenset((*_NAMED, *_ONCE))


def _body(text: str) -> LiteralBody:
    try:
        return literal_body(text, filename="rules")
    except HCLError as error:
        (problem, *_) = error.diagnostics
        if problem.summary == _UNCLOSED:
            lines = text.split("\n")
            # The end of the text counts as a character of its own.
            place, told = f"{len(lines)}:{len(lines[-1]) + 2}", "object expected closing RBRACE got: EOF"
        else:
            start = problem.subject.start if problem.subject is not None else None
            place = f"{start.line}:{start.column}" if start is not None else "1:1"
            told = f"{problem.summary}; {problem.detail}"
        raise RulesUnreadable(f"Failed to parse ACL Policy: At {place}: {told}") from None


def _bodies(body: LiteralBody, name: str) -> list[LiteralBody]:
    """The blocks of that name. Raises RulesUnreadable if it is a plain value."""
    found = body.get(name)
    if found is None:
        return []
    blocks = found if isinstance(found, list) else [found]
    if not all(isinstance(one, LiteralBody) for one in blocks):
        raise RulesUnreadable(f'"{name}" must be a block: {name} {{ ... }}')
    return [one for one in blocks if isinstance(one, LiteralBody)]


def _labelled(body: LiteralBody, name: str) -> Iterator[tuple[str, LiteralBody]]:
    """The blocks of that name with their labels."""
    for block in _bodies(body, name):
        for label in block:
            inner = _bodies(block, label)
            if not inner:
                raise RulesUnreadable(f'"{name}" needs a name: {name} "x" {{ ... }}')
            yield from ((label, one) for one in inner)


def _each(body: LiteralBody, name: str, read: Callable[[str, LiteralBody], _T]) -> tuple[_T, ...] | None:
    return tuple(read(label, block) for label, block in _labelled(body, name)) or None


def _text(block: LiteralBody, name: str) -> str:
    value = block.get(name, "")
    if not isinstance(value, str):
        raise RulesUnreadable(f'"{name}" must be a text')
    return value


def _texts(block: LiteralBody, name: str) -> tuple[str, ...] | None:
    value: LiteralValue = block.get(name)
    if value is None:
        return None
    texts = value if isinstance(value, list) else [value]
    if not all(isinstance(one, str) for one in texts):
        raise RulesUnreadable(f'"{name}" must be a list of texts')
    return tuple(str(one) for one in texts)


def _namespace(name: str, block: LiteralBody) -> NamespaceRule:
    policy, given = _text(block, "policy"), _texts(block, "capabilities")
    variables = _variables(name, block)
    shown = "(*acl.VariablesPolicy)(nil)" if variables is None else "&acl.VariablesPolicy{}"
    dump = (
        f'&acl.NamespacePolicy{{Name:"{name}", Policy:"{policy}", '
        f"Capabilities:{_go_strings(given)}, Variables:{shown}}}"
    )
    if _NAMESPACE_NAME.fullmatch(name) is None:
        raise RulesUnreadable(f"Invalid namespace name: {dump}")
    _check(policy, given, known.NAMESPACE_POLICIES, known.NAMESPACE_CAPABILITIES, ("namespace", dump))
    granted = known.namespace_capabilities(policy, given or ())
    return NamespaceRule(name=name, policy=policy, capabilities=granted or None, variables=variables)


def _variables(namespace: str, block: LiteralBody) -> VariablesRule | None:
    blocks = _bodies(block, "variables")
    if not blocks:
        return None
    paths = []
    for one in blocks:
        for path, rule in _labelled(one, "path"):
            given = _texts(rule, "capabilities") or ()
            for capability in given:
                if capability not in known.VARIABLE_CAPABILITIES:
                    raise RulesUnreadable(
                        f"Invalid variable capability '{capability}' in namespace {namespace}"
                    )
            listed = (known.LIST,) if known.READ in given and known.LIST not in given else ()
            paths.append(PathRule(path_spec=path, capabilities=(*given, *listed)))
    if not paths:
        raise RulesUnreadable(f"Invalid variable policy: no variable paths in namespace {namespace}")
    return VariablesRule(paths=tuple(paths))


def _node_pool(name: str, block: LiteralBody) -> NamedRule:
    return _named_rule(
        name,
        block,
        told=("node pool", "NodePoolPolicy"),
        pattern=_NODE_POOL_NAME,
        policies=known.NODE_POOL_POLICIES,
        capabilities=known.NODE_POOL_CAPABILITIES,
    )


def _host_volume(name: str, block: LiteralBody) -> NamedRule:
    return _named_rule(
        name,
        block,
        told=("host volume", "HostVolumePolicy"),
        pattern=_NAMESPACE_NAME,
        policies=known.HOST_VOLUME_POLICIES,
        capabilities=known.HOST_VOLUME_CAPABILITIES,
    )


def _named_rule(
    name: str,
    block: LiteralBody,
    *,
    told: tuple[str, str],
    pattern: re.Pattern[str],
    policies: Mapping[str, tuple[str, ...]],
    capabilities: Collection[str],
) -> NamedRule:
    what, go_type = told
    policy, given = _text(block, "policy"), _texts(block, "capabilities")
    dump = f'&acl.{go_type}{{Name:"{name}", Policy:"{policy}", Capabilities:{_go_strings(given)}}}'
    if pattern.fullmatch(name) is None:
        raise RulesUnreadable(f"Invalid {what} name: {dump}")
    _check(policy, given, policies, capabilities, (what, dump))
    granted = (*(given or ()), *policies.get(policy, ()))
    return NamedRule(name=name, policy=policy, capabilities=granted or None)


def _area(body: LiteralBody, area: str) -> AreaRule | None:
    for block in _bodies(body, area):
        policy = _text(block, "policy")
        if policy != known.DENY and policy not in known.LEVELS[area]:
            raise RulesUnreadable(
                f'Invalid {area} policy: &acl.{area.capitalize()}Policy{{Policy:"{policy}"}}'
            )
        return AreaRule(policy=policy)
    return None


def _capable(
    body: LiteralBody, area: str, policies: Mapping[str, tuple[str, ...]], capabilities: Collection[str]
) -> CapableAreaRule | None:
    for block in _bodies(body, area):
        policy, given = _text(block, "policy"), _texts(block, "capabilities")
        dump = f'&acl.{area.capitalize()}Policy{{Policy:"{policy}", Capabilities:{_go_strings(given)}}}'
        _check(policy, given, policies, capabilities, (area, dump))
        granted = (*(given or ()), *policies.get(policy, ()))
        return CapableAreaRule(policy=policy, capabilities=granted or None)
    return None


def _check(
    policy: str,
    given: tuple[str, ...] | None,
    policies: Collection[str],
    capabilities: Collection[str],
    told: tuple[str, str],
) -> None:
    what, dump = told
    if policy and policy not in policies:
        raise RulesUnreadable(f"Invalid {what} policy: {dump}")
    for capability in given or ():
        if capability not in capabilities:
            raise RulesUnreadable(f"Invalid {what} capability '{capability}': {dump}")


def _go_strings(texts: tuple[str, ...] | None) -> str:
    if texts is None:
        return "[]string(nil)"
    return "[]string{" + ", ".join(f'"{text}"' for text in texts) + "}"
