"""Namespaces: fences between the jobs of different people."""

from __future__ import annotations

from fnmatch import fnmatchcase

from yurt.model.wire import Wire


class NamespaceCapabilities(Wire, frozen=True, kw_only=True):
    """What jobs of a namespace may use."""

    enabled_task_drivers: tuple[str, ...] | None = None
    disabled_task_drivers: tuple[str, ...] | None = None
    enabled_network_modes: tuple[str, ...] | None = None
    disabled_network_modes: tuple[str, ...] | None = None


class NamespaceNodePools(Wire, frozen=True, kw_only=True):
    """The node pools that jobs of a namespace may use: those `allowed`, or all but those `denied`.

    In both, `*` stands for any text. Jobs that name none get the `default`, which is always allowed.
    """

    default: str = ""
    allowed: tuple[str, ...] | None = None
    denied: tuple[str, ...] | None = None

    def allows(self, pool: str) -> bool:
        """Whether a job may use a pool."""
        if pool == self.default:
            return True
        if self.allowed:
            return any(fnmatchcase(pool, pattern) for pattern in self.allowed)
        return not any(fnmatchcase(pool, pattern) for pattern in self.denied or ())


class Namespace(Wire, frozen=True, kw_only=True):
    """A fence around jobs."""

    name: str = ""
    description: str = ""
    quota: str = ""
    capabilities: NamespaceCapabilities | None = None
    node_pool_configuration: NamespaceNodePools | None = None
    vault_configuration: None = None
    consul_configuration: None = None
    meta: dict[str, str] | None = None
    hash: bytes | None = None
    create_index: int = 0
    modify_index: int = 0
    required_extra_claims: dict[str, str] | None = None
    optional_extra_claims: dict[str, str] | None = None
