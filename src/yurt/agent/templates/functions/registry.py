"""All functions of templates, for one rendering."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from yurt.agent.templates.functions.consul import ConsulFunctions
from yurt.agent.templates.functions.data import DATA
from yurt.agent.templates.functions.environment import TaskFunctions
from yurt.agent.templates.functions.maths import MATHS
from yurt.agent.templates.functions.nomad import ClusterFunctions
from yurt.agent.templates.functions.scratch import Scratch
from yurt.agent.templates.functions.spew import SPEW
from yurt.agent.templates.functions.sprig_collections import SPRIG_COLLECTIONS
from yurt.agent.templates.functions.sprig_fractions import SPRIG_FRACTIONS
from yurt.agent.templates.functions.sprig_paths import SPRIG_PATHS
from yurt.agent.templates.functions.sprig_random import SPRIG_RANDOM
from yurt.agent.templates.functions.sprig_regexps import SPRIG_REGEXPS
from yurt.agent.templates.functions.sprig_texts import SPRIG_TEXTS
from yurt.agent.templates.functions.sprig_times import SprigTimes
from yurt.agent.templates.functions.sprig_values import SPRIG_VALUES
from yurt.agent.templates.functions.sprig_versions import SPRIG_VERSIONS
from yurt.agent.templates.functions.sprig_words import SPRIG_WORDS
from yurt.agent.templates.functions.texts import TEXTS
from yurt.agent.templates.language import Function, FunctionFailed, function
from yurt.agent.templates.language.builtins import BUILTINS, SHORT_CIRCUIT
from yurt.agent.templates.language.values import Value

# Nodes talk to no Vault, and to Consul where it is configured, for some of these; others fail.
CONSUL_FUNCTIONS = tuple(
    [
        "byKey",
        "byMeta",
        "caLeaf",
        "caRoots",
        "connect",
        "datacenters",
        "explode",
        "exportedServices",
        "importedServices",
        "key",
        "keyExists",
        "keyOrDefault",
        "ls",
        "node",
        "nodes",
        "partitions",
        "peerings",
        "safeLs",
        "safeTree",
        "service",
        "services",
        "tree",
    ]
)
VAULT_FUNCTIONS = ("pkiCert", "secret", "secrets")
# They would reach out of the task; `function_denylist` may name more.
OFF_FUNCTIONS = ("executeTemplate", "plugin", "writeToFile")

_SPRIG = (
    SPRIG_COLLECTIONS,
    SPRIG_FRACTIONS,
    SPRIG_PATHS,
    SPRIG_RANDOM,
    SPRIG_REGEXPS,
    SPRIG_TEXTS,
    SPRIG_VALUES,
    SPRIG_VERSIONS,
    SPRIG_WORDS,
)
_OWN = (
    "env",
    "envOrDefault",
    "file",
    "mustEnv",
    "scratch",
    "sockaddr",
    "sprig_env",
    "sprig_expandenv",
    "timestamp",
    *SprigTimes(0).all(),
)
_CLUSTER = (
    "nomadService",
    "nomadServices",
    "nomadVar",
    "nomadVarExists",
    "nomadVarList",
    "nomadVarListSafe",
)


def _refusing(reason: str) -> Function:
    def refuse(*_args: Value) -> str:
        raise FunctionFailed(reason)

    return function(refuse)


def _static() -> dict[str, Function]:
    plain: dict[str, Callable[..., Value]] = {**TEXTS, **DATA, **MATHS}
    plain |= SPEW
    plain |= {f"sprig_{name}": call for part in _SPRIG for name, call in part.items()}
    made = dict(BUILTINS) | {name: function(call) for name, call in plain.items()}
    made |= dict.fromkeys(CONSUL_FUNCTIONS, _refusing("it needs Consul, which this node does not talk to"))
    made |= dict.fromkeys(VAULT_FUNCTIONS, _refusing("it needs Vault, which this node does not talk to"))
    return made | dict.fromkeys(OFF_FUNCTIONS, _DISABLED)


_DISABLED = _refusing("function is disabled")
_STATIC: Mapping[str, Function] = _static()

NAMES: frozenset[str] = frozenset((*_STATIC, *_OWN, *_CLUSTER, *SHORT_CIRCUIT))
"""What templates may call."""


def functions_for(
    task: TaskFunctions,
    cluster: ClusterFunctions,
    consul: ConsulFunctions | None,
    *,
    denied: Collection[str],
) -> dict[str, Function]:
    """The functions for one rendering; those that are `denied` are there and fail."""
    scratch = Scratch()
    made = dict(_STATIC)
    made |= {name: function(call) for name, call in (*task.all().items(), *cluster.all().items())}
    if consul is not None:
        made |= {name: function(call) for name, call in consul.all().items()}
    made["scratch"] = Function(lambda: scratch, ())
    return made | dict.fromkeys(denied, _DISABLED)
