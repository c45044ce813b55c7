"""Functions about Consul: keys and services."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from yurt.agent.templates.language import FunctionFailed
from yurt.agent.templates.language.values import Record, Value
from yurt.agent.templates.sources import ConsulInstance, ConsulKeyQuery, ConsulServiceQuery, Wanted
from yurt.model.go_text import quoted

_KEY = re.compile(r"/?(?P<path>[^@]+)(?:@(?P<dc>[\w-]+))?")
_SERVICE = re.compile(r"(?:(?P<tag>[\w-]+)\.)?(?P<name>[\w-]+)(?:@(?P<dc>[\w-]+))?", re.ASCII)


class ConsulFunctions:
    """The functions for one rendering on a node that has a Consul agent."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted

    def all(self) -> Mapping[str, Callable[..., Value]]:
        """The functions by name."""
        return {
            "key": self._key,
            "keyExists": self._key_exists,
            "keyOrDefault": self._key_or_default,
            "service": self._service,
        }

    def _key(self, wanted: str) -> str:
        found = self._wanted.look_up(_key_query(wanted), f"kv.block({wanted})", must_exist=True)
        return found if isinstance(found, str) else ""

    def _key_exists(self, wanted: str) -> bool:
        return self._wanted.look_up(_key_query(wanted), f"kv.get({wanted})", must_exist=False) is not None

    def _key_or_default(self, wanted: str, default: str) -> str:
        found = self._wanted.look_up(_key_query(wanted), f"kv.get({wanted})", must_exist=False)
        return found if isinstance(found, str) and found else default

    def _service(self, wanted: str) -> list[Value]:
        match = _SERVICE.fullmatch(wanted)
        if match is None:
            raise FunctionFailed(f"health.service: invalid format: {quoted(wanted)}")
        query = ConsulServiceQuery(match["name"], match["tag"] or "", match["dc"] or "")
        found = self._wanted.look_up(query, f"health.service({wanted})", must_exist=False) or ()
        assert isinstance(found, tuple)
        listed = [each for each in found if isinstance(each, ConsulInstance)]
        return [_Instance(each) for each in sorted(listed, key=lambda each: (each.node, each.id))]


def _key_query(wanted: str) -> ConsulKeyQuery:
    match = _KEY.fullmatch(wanted)
    if match is None:
        raise FunctionFailed(f"kv: invalid format: {quoted(wanted)}")
    return ConsulKeyQuery(match["path"], match["dc"] or "")


class _Instance(Record):
    """One instance of a service."""

    type_name = "*dependency.HealthService"

    def __init__(self, instance: ConsulInstance) -> None:
        self._instance = instance

    def members(self) -> Mapping[str, Value]:
        """All of it."""
        one = self._instance
        return {
            "ID": one.id,
            "Name": one.name,
            "Node": one.node,
            "NodeID": one.node_id,
            "NodeAddress": one.node_address,
            "Address": one.address or one.node_address,
            "Port": one.port,
            "Tags": sorted(one.tags),
            "Status": "passing",
            "ServiceMeta": dict(one.meta),
        }
