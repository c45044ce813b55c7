"""Functions about the cluster: services and variables."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping

from yurt.agent.templates.functions.times import time_in_layout
from yurt.agent.templates.language import FunctionFailed
from yurt.agent.templates.language.values import Record, RecordMap, Value
from yurt.agent.templates.sources import (
    ServiceQuery,
    ServicesQuery,
    TemplateVariable,
    VariableQuery,
    VariablesQuery,
    Wanted,
)
from yurt.model.go_text import quoted
from yurt.model.service_choice import chosen
from yurt.model.service_registration import ServiceRegistration

_SERVICE = re.compile(r"(?:(?P<tag>[\w-]+)\.)?(?P<name>[\w-]+)(?:@(?P<region>[\w-]+))?", re.ASCII)
_VARIABLE = re.compile(
    r"/?(?P<path>[\w./~-]*?)(?:@(?P<namespace>[\w-]*)(?:\.(?P<region>[\w-]+))?)?", re.ASCII
)
_TIME_LAYOUT = "2006-01-02 15:04:05.999999999 -0700 MST"


class ClusterFunctions:
    """The functions for one rendering, in the namespace and region of its job."""

    def __init__(self, wanted: Wanted, *, namespace: str, region: str) -> None:
        self._wanted = wanted
        self._namespace = namespace
        self._region = region

    def all(self) -> Mapping[str, Callable[..., Value]]:
        """The functions by name."""
        return {
            "nomadService": self._service,
            "nomadServices": self._services,
            "nomadVar": self._variable,
            "nomadVarExists": self._variable_exists,
            "nomadVarList": self._variables,
            "nomadVarListSafe": self._variables_that_exist,
        }

    def _service(self, *args: Value) -> list[Value]:
        number, key, wanted = None, "", args[-1] if args else ""
        if len(args) == 3:
            number, key = args[0], args[1]
        well_formed = len(args) in (1, 3) and isinstance(wanted, str) and isinstance(key, str)
        if not well_formed or type(number) not in (int, type(None)):
            raise FunctionFailed("nomadService: expected a name, or a number, a key and a name")
        found = _SERVICE.fullmatch(wanted)
        if found is None:
            raise FunctionFailed(f"nomad.service: invalid format: {quoted(wanted)}")
        self._check_region("nomadService", found["region"])
        query = ServiceQuery(self._namespace, found["name"])
        services = self._wanted.look_up(query, f"nomad.service({wanted})", must_exist=False) or ()
        assert isinstance(services, tuple)
        listed = [each for each in services if isinstance(each, ServiceRegistration)]
        if found["tag"]:
            listed = [each for each in listed if found["tag"] in (each.tags or ())]
        if number is not None:
            listed = chosen(listed, max(0, number), key)
        return [ServiceInstance(each) for each in sorted(listed, key=lambda each: each.id)]

    def _services(self) -> list[Value]:
        query = ServicesQuery(self._namespace)
        services = self._wanted.look_up(query, "nomad.services", must_exist=False) or ()
        assert isinstance(services, tuple)
        tags: dict[str, set[str]] = {}
        for service in services:
            if isinstance(service, ServiceRegistration):
                tags.setdefault(service.service_name, set()).update(service.tags or ())
        return [ServiceStub(name, sorted(tags[name])) for name in sorted(tags)]

    def _variable(self, wanted: str) -> Value:
        namespace, path, name = self._variable_place("nomadVar", wanted)
        query = VariableQuery(namespace, path)
        found = self._wanted.look_up(query, f"nomad.var.block({name})", must_exist=True)
        return Items(found) if isinstance(found, TemplateVariable) else None

    def _variable_exists(self, wanted: str) -> bool:
        namespace, path, name = self._variable_place("nomadVarExists", wanted)
        query = VariableQuery(namespace, path)
        return self._wanted.look_up(query, f"nomad.var.get({name})", must_exist=False) is not None

    def _variables(self, *prefix: str) -> list[Value]:
        return self._listed("nomadVarList", prefix, must_exist=False)

    def _variables_that_exist(self, *prefix: str) -> list[Value]:
        return self._listed("nomadVarListSafe", prefix, must_exist=True)

    def _listed(self, function: str, prefix: tuple[str, ...], *, must_exist: bool) -> list[Value]:
        if len(prefix) > 1:
            raise FunctionFailed(f"{function}: wrong number of arguments, expected 0 or 1, got {len(prefix)}")
        namespace, path, name = self._variable_place(function, prefix[0] if prefix else "", may_be_empty=True)
        query = VariablesQuery(namespace, path)
        found = self._wanted.look_up(query, f"nomad.var.list({name})", must_exist=must_exist) or ()
        assert isinstance(found, tuple)
        listed = [each for each in found if isinstance(each, TemplateVariable)]
        return [Metadata(each) for each in sorted(listed, key=lambda each: each.path)]

    def _variable_place(
        self, function: str, wanted: str, *, may_be_empty: bool = False
    ) -> tuple[str, str, str]:
        """Namespace and path of a variable, and its name in messages."""
        found = _VARIABLE.fullmatch(wanted)
        if found is None or not (found["path"] or may_be_empty):
            raise FunctionFailed(f"nomad.var: invalid format: {quoted(wanted)}")
        self._check_region(function, found["region"])
        namespace = found["namespace"] or self._namespace
        return namespace, found["path"], f"{found['path']}@{namespace}.{self._region}"

    def _check_region(self, function: str, region: str | None) -> None:
        if region and region != self._region:
            raise FunctionFailed(f"{function}: region {quoted(region)} is another one than {self._region}")


class ServiceInstance(Record):
    """One instance of a service."""

    type_name = "*dependency.NomadService"

    def __init__(self, service: ServiceRegistration) -> None:
        self._service = service

    def members(self) -> Mapping[str, Value]:
        """All of it."""
        service = self._service
        return {
            "ID": service.id,
            "Name": service.service_name,
            "Node": str(service.node_id),
            "Address": service.address,
            "Port": service.port,
            "Datacenter": service.datacenter,
            "Tags": sorted(service.tags or ()),
            "JobID": str(service.job_id),
            "AllocID": str(service.alloc_id),
        }


class ServiceStub(Record):
    """A service, and the tags of all its instances."""

    type_name = "*dependency.NomadServicesSnippet"

    def __init__(self, name: str, tags: list[str]) -> None:
        self._members = {"Name": name, "Tags": tags}

    def members(self) -> Mapping[str, Value]:
        """All of it."""
        return self._members


class Metadata(Record):
    """What is known about a variable besides its items; shown as its path."""

    type_name = "*dependency.NomadVarMeta"

    def __init__(self, variable: TemplateVariable) -> None:
        self._variable = variable

    def members(self) -> Mapping[str, Value]:
        """All of it."""
        variable = self._variable
        return {
            "Namespace": variable.namespace,
            "Path": variable.path,
            "CreateIndex": variable.create_index,
            "ModifyIndex": variable.modify_index,
            "CreateTime": time_in_layout(variable.create_time, _TIME_LAYOUT),
            "ModifyTime": time_in_layout(variable.modify_time, _TIME_LAYOUT),
        }

    def text(self) -> str | None:
        """Its path."""
        return self._variable.path


class Item(Record):
    """An item of a variable; shown as its value."""

    type_name = "dependency.NomadVarItem"

    def __init__(self, key: str, value: str, parent: Items) -> None:
        self.as_text = value
        self._key = key
        self._parent = parent

    def members(self) -> Mapping[str, Value]:
        """Its two halves."""
        return {"Key": self._key, "Value": self.as_text}

    def methods(self) -> Mapping[str, Callable[..., Value]]:
        """Its value in other forms, and the way back."""
        return {
            "MarshalJSON": self._json,
            "Metadata": self._metadata,
            "Parent": self._all,
            "String": self._text,
        }

    def _json(self) -> bytes:
        return json.dumps(self.as_text, ensure_ascii=False).encode()

    def _metadata(self) -> Value:
        return self._parent.metadata()

    def _all(self) -> Value:
        return self._parent

    def _text(self) -> str:
        return self.as_text

    def text(self) -> str | None:
        """Its value."""
        return self.as_text


class Items(RecordMap):
    """The items of a variable, by key."""

    type_name = "dependency.NomadVarItems"

    def __init__(self, variable: TemplateVariable) -> None:
        super().__init__({key: Item(key, value, self) for key, value in variable.items.items()})
        self._variable = variable

    def methods(self) -> Mapping[str, Callable[..., Value]]:
        """Its keys, values and more."""
        return {
            "ItemsMap": self._plain,
            "Keys": self._keys,
            "Metadata": self.metadata,
            "Parent": self._all,
            "Tuples": self._tuples,
            "Values": self._values,
        }

    def metadata(self) -> Value:
        """What is known about the variable."""
        return Metadata(self._variable)

    def _keys(self) -> list[Value]:
        return sorted(self)

    def _values(self) -> list[Value]:
        return [self._variable.items[key] for key in sorted(self)]

    def _tuples(self) -> list[Value]:
        return [self[key] for key in sorted(self)]

    def _plain(self) -> dict[str, Value]:
        return dict(self._variable.items)

    def _all(self) -> Value:
        return self
