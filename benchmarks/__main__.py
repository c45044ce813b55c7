"""Run the benchmarks, print their figures beside the targets, keep them as JSON.

usage: python -m benchmarks [NAME...] [--json FILE]
A benchmark is a module `bench_*.py` with `run() -> dict[str, float]` and, where we hold ourselves to
something, `TARGETS: dict[str, str]` such as {"register_per_s": ">= 3000"}.
"""

from __future__ import annotations

import argparse
import importlib
import json
import operator
import os
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path

from yurt.version import VERSION

ROOT = Path(__file__).parent
RESULTS = ROOT.parent / "bench-results" / "latest.json"

_COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}


def main() -> int:
    """Run what was asked for; exit 1 if a target was missed."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", help="parts of module names; all without")
    parser.add_argument("--json", type=Path, default=RESULTS, help="where to keep the figures")
    options = parser.parse_args()
    modules = [name for name in _modules() if not options.names or any(n in name for n in options.names)]
    if not modules:
        print(f"no benchmark matches {options.names}; there are: {', '.join(_modules())}", file=sys.stderr)
        return 2
    kept = json.loads(options.json.read_text()) if options.json.exists() else {}
    missed = 0
    for name in modules:
        module = importlib.import_module(f"benchmarks.{name}")
        began = time.perf_counter()
        figures: dict[str, float] = module.run()
        targets: dict[str, str] = getattr(module, "TARGETS", {})
        print(f"\n{name}  ({time.perf_counter() - began:.1f} s)")
        for figure, value in figures.items():
            target = targets.get(figure, "")
            held = _holds(value, target)
            missed += held is False
            verdict = "" if held is None else "ok" if held else "MISSED"
            print(f"  {figure:<44} {_shown(value):>14}   {target:<12} {verdict}")
        kept[name] = figures
    kept["machine"] = {
        "version": VERSION,
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
    options.json.parent.mkdir(exist_ok=True)
    options.json.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")
    print(f"\nfigures kept in {options.json}")
    return 1 if missed else 0


def _modules() -> list[str]:
    paths = sorted(ROOT.glob("**/bench_*.py"))
    return [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in paths]


def _holds(value: float, target: str) -> bool | None:
    if not target:
        return None
    comparison, _, bound = target.partition(" ")
    return _COMPARE[comparison](value, float(bound.replace(",", "")))


def _shown(value: float) -> str:
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3f}" if value < 10 else f"{value:.1f}"


if __name__ == "__main__":
    sys.exit(main())
