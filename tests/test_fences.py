"""Imports point one way, and the core touches neither clocks nor chance nor the outside."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "yurt"

# What each part may import of the others; a dotted name allows that module and no more of its part.
MAY_SEE: dict[str, set[str]] = {
    "errors": set(),
    "version": set(),
    "clock": set(),
    "import_later": set(),
    "model": {"errors"},
    "jobspec": {"errors", "model.regexp_replace", "model.regexp_syntax"},
    "log": {"errors"},
    "observe": {"errors", "model"},
    "state": {"errors", "model"},
    "scheduler": {"errors", "model", "state"},
    "server": {"clock", "errors", "import_later", "log", "model", "observe", "scheduler", "state", "version"},
    "sockaddr": {"errors", "jobspec.hcl"},
    "agent": {"clock", "errors", "import_later", "model", "observe", "sockaddr", "version"},
    "api": {
        "agent",
        "clock",
        "errors",
        "import_later",
        "jobspec",
        "log.errors",
        "model",
        "observe",
        "scheduler",
        "server",
        "state",
        "version",
    },
    "sdk": {"errors", "version"},
    "config": {"agent.settings", "cli.agent_flags", "errors", "jobspec", "model", "sockaddr", "version"},
    "cli": {"config", "errors", "jobspec", "model", "sdk", "version"},
    "start_banner": {"config", "version"},
    "rehearsal": {"api", "clock", "log", "model", "scheduler", "server", "state"},
    "tls": {"errors"},
    "agent_tls": {"clock", "config", "tls"},
    "agent_guards": {"api", "clock", "config", "errors", "observe"},
    "main_agent": {
        "agent",
        "agent_guards",
        "agent_tls",
        "api",
        "clock",
        "config",
        "errors",
        "log",
        "model",
        "observe",
        "rehearsal",
        "scheduler",
        "server",
        "simple_listeners",
        "start_banner",
        "state",
        "version",
    },
    "simple_listeners": {"api", "config", "observe"},
}
# Simulations see everything, and nobody sees them.
SEES_ALL = {"sim"}
# What a command loads only when it runs, by name.
MAY_LOAD = {"cli": {"config", "main_agent", "sim"}}

CORE = ("model", "state", "scheduler")
CORE_LIBRARIES = {"msgspec", "numpy"}
OUTSIDE = {
    "asyncio",
    "logging",
    "os",
    "secrets",
    "socket",
    "subprocess",
    "threading",
    "time",
    "uuid",
}
# Of these modules the core may use only what is named.
USABLE = {"random": {"Random"}}
# What reads a clock.
CLOCKS = {"datetime.now", "datetime.utcnow", "datetime.today", "date.today"}


def _modules() -> Iterator[tuple[str, ast.Module]]:
    """Every module, by its name within the package."""
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        name = ".".join(part for part in parts if part != "__init__")
        yield name, _parsed(path)


@cache
def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(), str(path))


def _part(module: str) -> str:
    return module.partition(".")[0]


def _imports(module: str, tree: ast.Module) -> Iterator[tuple[str, str, int]]:
    """What a module imports anywhere: module, name (or nothing), line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, "", node.lineno
        elif isinstance(node, ast.ImportFrom):
            imported = node.module or ""
            if node.level:  # from the module's own package, or from those around it
                package = f"yurt.{module}".split(".")[: -node.level]
                imported = ".".join([*package, imported]).rstrip(".")
            for alias in node.names:
                yield imported, alias.name, node.lineno


def _own(imported: str, name: str) -> str | None:
    """The module of ours that an import reaches, within the package; None if it is not ours."""
    if imported == "yurt":
        return name
    return imported.removeprefix("yurt.") if imported.startswith("yurt.") else None


def _is_allowed(target: str, allowed: set[str]) -> bool:
    return _part(target) in allowed or any(
        target == one or target.startswith(f"{one}.") for one in allowed if "." in one
    )


def test_every_part_has_its_place() -> None:
    parts = {_part(module) for module, _ in _modules()} - {""}
    assert parts <= set(MAY_SEE) | SEES_ALL, "say above what the new part may see"


def test_imports_point_one_way() -> None:
    wrong = []
    for module, tree in _modules():
        part = _part(module)
        if part in SEES_ALL or not part:
            continue
        for imported, name, line in _imports(module, tree):
            target = _own(imported, name)
            if target and _part(target) != part and not _is_allowed(target, MAY_SEE[part]):
                wrong.append(f"yurt.{module}:{line} imports yurt.{target}")
    assert wrong == []


def test_modules_are_loaded_by_name_only_where_that_is_meant() -> None:
    wrong = []
    for module, tree in _modules():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or _dotted(node.func).rpartition(".")[2] != "import_module":
                continue
            target = node.args[0]
            if not isinstance(target, ast.Constant) or not str(target.value).startswith("yurt."):
                continue  # such as a registry's own entries, in its own part
            loaded = str(target.value).removeprefix("yurt.")
            part = _part(module)
            if _part(loaded) != part and _part(loaded) not in MAY_LOAD.get(part, set()):
                wrong.append(f"yurt.{module}:{node.lineno} loads yurt.{loaded}")
    assert wrong == []


def _impurities(module: str, tree: ast.Module) -> Iterator[str]:
    for imported, name, line in _imports(module, tree):
        top = _part(imported)
        if top in OUTSIDE or (top in USABLE and name not in USABLE[top]):
            yield f"yurt.{module}:{line} imports {imported} {name}"
        elif top not in sys.stdlib_module_names and top not in CORE_LIBRARIES | {"yurt"}:
            yield f"yurt.{module}:{line} imports the library {top}"
    for node in ast.walk(tree):
        dotted = _dotted(node.func if isinstance(node, ast.Call) else node)
        if isinstance(node, ast.Call):
            if dotted.endswith(".default_rng") and not node.args:
                yield f"yurt.{module}:{node.lineno} draws from no seed"
        elif ".".join(dotted.split(".")[-2:]) in CLOCKS:
            yield f"yurt.{module} reads a clock: {dotted}"
        elif ".random." in dotted and not dotted.endswith(".default_rng"):
            yield f"yurt.{module} draws from no seed: {dotted}"


def test_the_core_touches_nothing_outside() -> None:
    core = ((module, tree) for module, tree in _modules() if _part(module) in CORE)
    assert [wrong for module, tree in core for wrong in _impurities(module, tree)] == []


@pytest.mark.parametrize("part", CORE)
def test_the_linter_keeps_the_same_fence(part: str) -> None:
    text = (SOURCE / part / "ruff.toml").read_text()
    if part != CORE[0]:
        assert f'extend = "../{CORE[0]}/ruff.toml"' in text
        return
    for name in OUTSIDE:
        assert f'"{name}".msg' in text, f"ban {name} there too"


def _dotted(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""
