"""Rules: what a policy grants, read from its text."""

from __future__ import annotations

from yurt.model.wire import Wire, wire_names


class PathRule(Wire, frozen=True, kw_only=True):
    """What may be done with the variables at some paths."""

    path_spec: str
    capabilities: tuple[str, ...] | None = None


class VariablesRule(Wire, frozen=True, kw_only=True):
    """What may be done with the variables of a namespace."""

    paths: tuple[PathRule, ...] | None = None


class NamespaceRule(Wire, frozen=True, kw_only=True):
    """What may be done in the namespaces that a pattern names; capabilities are all that it grants."""

    name: str
    policy: str = ""
    capabilities: tuple[str, ...] | None = None
    variables: VariablesRule | None = None


class NamedRule(Wire, frozen=True, kw_only=True):
    """What may be done with the node pools or host volumes that a pattern names."""

    name: str
    policy: str = ""
    capabilities: tuple[str, ...] | None = None


class AreaRule(Wire, frozen=True, kw_only=True):
    """What may be done in an area that has no names, such as all nodes."""

    policy: str = ""


class CapableAreaRule(Wire, frozen=True, kw_only=True):
    """What may be done in an area whose parts can be granted one by one."""

    policy: str = ""
    capabilities: tuple[str, ...] | None = None


class Rules(Wire, frozen=True, kw_only=True, rename=wire_names(extra_keys_hcl="ExtraKeysHCL")):
    """What a policy grants; `raw` is the text that it was read from."""

    namespaces: tuple[NamespaceRule, ...] | None = None
    node_pools: tuple[NamedRule, ...] | None = None
    host_volumes: tuple[NamedRule, ...] | None = None
    agent: AreaRule | None = None
    node: AreaRule | None = None
    operator: CapableAreaRule | None = None
    sentinel: CapableAreaRule | None = None
    quota: AreaRule | None = None
    plugin: AreaRule | None = None
    raw: str = ""
    extra_keys_hcl: tuple[str, ...] | None = None
