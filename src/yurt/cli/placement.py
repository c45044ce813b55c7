"""Why allocations could not be placed, in words."""

from collections.abc import Mapping

from yurt.cli.console import RED, Console
from yurt.cli.floats import show_float
from yurt.cli.layout import table
from yurt.sdk.types.allocs import AllocMetric

GROUPS_SHOWN_MAX = 5


def reasons(console: Console, metric: AllocMetric, *, indent: str) -> list[str]:
    """Give one bullet for each reason that nodes were passed over."""
    lines = []
    if metric.nodes_evaluated == 0 and not metric.quota_exhausted:
        lines.append("No nodes were eligible for evaluation")
    lines += [
        f'No nodes are available in datacenter "{name}"'
        for name, count in sorted(metric.nodes_available.items())
        if count == 0
    ]
    lines += [
        f'Class "{name}": {count} nodes excluded by filter' for name, count in _sorted(metric.class_filtered)
    ]
    lines += [
        f'Constraint "{_constraint(console, name)}": {count} nodes excluded by filter'
        for name, count in _sorted(metric.constraint_filtered)
    ]
    if metric.nodes_exhausted > 0:
        lines.append(f"Resources exhausted on {metric.nodes_exhausted} nodes")
    lines += [f'Class "{name}" exhausted on {count} nodes' for name, count in _sorted(metric.class_exhausted)]
    lines += [
        f'Dimension "{name}" exhausted on {count} nodes'
        for name, count in _sorted(metric.dimension_exhausted)
    ]
    lines += [f'Quota limit hit "{name}"' for name in metric.quota_exhausted]
    return [f"{indent}* {line}" for line in lines]


def group_failures(console: Console, failures: Mapping[str, AllocMetric]) -> str:
    """Explain the failures of a job's groups, at most five of them."""
    lines = []
    for name in sorted(failures)[:GROUPS_SHOWN_MAX]:
        lines.append(f'Task Group "{name}":')
        lines += reasons(console, failures[name], indent="  ")
    hidden = len(failures) - GROUPS_SHOWN_MAX
    if hidden > 0:
        lines.append(f"\nPlacement failures of {hidden} more task groups are not shown")
    return "\n".join(lines)


def failed_count(metric: AllocMetric) -> str:
    """Count what could not be placed: `1 allocation`, `2 allocations`."""
    count = metric.coalesced_failures + 1
    return f"{count} allocation" + ("" if count == 1 else "s")


def score_table(metric: AllocMetric) -> str:
    """Compare the best nodes by score; empty without scores."""
    if not metric.score_meta_data:
        return ""
    scorers = sorted({name for node in metric.score_meta_data for name in node.scores})
    rows: list[list[object]] = [["Node", *scorers, "final score"]]
    for node in metric.score_meta_data:
        scores = [_score(node.scores.get(name, 0.0)) for name in scorers]
        rows.append([node.node_id, *scores, _score(node.norm_score)])
    return table(rows)


def _score(value: float) -> str:
    return show_float(float(f"{value:.3g}"))


def _sorted(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items())


def _constraint(console: Console, name: str) -> str:
    return console.paint(name, RED) if name == "missing drivers" else name
