"""Render one template from what is known: a pure function."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from yurt.agent.templates.functions.consul import ConsulFunctions
from yurt.agent.templates.functions.environment import TaskFunctions
from yurt.agent.templates.functions.nomad import ClusterFunctions
from yurt.agent.templates.functions.registry import NAMES, functions_for
from yurt.agent.templates.language import ParsedTemplate, TemplateFailed, execute, parse_template
from yurt.agent.templates.language.errors import ExecutionFailed
from yurt.agent.templates.language.tokens import Delimiters
from yurt.agent.templates.secrets import without_values
from yurt.agent.templates.sources import Known, Query, Wanted
from yurt.model.wire import Nanoseconds


class RenderContext(msgspec.Struct, frozen=True, kw_only=True):
    """What a task's templates see besides the cluster's data."""

    variables: Mapping[str, str]
    namespace: str
    region: str
    denied_functions: tuple[str, ...] = ()
    has_consul: bool = False
    addresses: Callable[[str], str]


class Rendered(msgspec.Struct, frozen=True, kw_only=True):
    """The text of a template; it is not whole while something is `missing`.

    `used` is all it depends on, as far as it came.
    """

    text: str
    used: frozenset[Query]
    missing: tuple[str, ...]


def read_template(source: str, *, left: str = "{{", right: str = "}}") -> ParsedTemplate:
    """Read a template of a job file. Raises ParseFailed."""
    return parse_template(source, functions=NAMES, delimiters=Delimiters(left, right))


def render(
    template: ParsedTemplate,
    context: RenderContext,
    known: Known,
    *,
    now: Nanoseconds,
    missing_key_fails: bool = False,
) -> Rendered:
    """Render a template of `read_template`. Raises ExecutionFailed, which tells no value that was read.

    An error counts only once nothing is missing: before, it may come from what is not there yet.
    """
    wanted = Wanted(known)
    task = TaskFunctions(wanted, variables=context.variables, now=now, addresses=context.addresses)
    cluster = ClusterFunctions(wanted, namespace=context.namespace, region=context.region)
    consul = ConsulFunctions(wanted) if context.has_consul else None
    functions = functions_for(task, cluster, consul, denied=context.denied_functions)
    try:
        text = execute(template, functions=functions, missing_key_fails=missing_key_fails)
    except TemplateFailed as error:
        if not wanted.missing:
            given = (known[query] for query in wanted.used)
            raise ExecutionFailed(without_values(str(error), given)) from error
        text = ""
    return Rendered(text=text, used=frozenset(wanted.used), missing=tuple(sorted(wanted.missing)))
