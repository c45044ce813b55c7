"""/v1/metrics."""

from __future__ import annotations

from yurt.api import needs
from yurt.api.answer import Answer
from yurt.api.call import Call
from yurt.api.deps import Deps
from yurt.api.errors import HttpError
from yurt.api.parameters import text
from yurt.api.routes import Route
from yurt.observe.metrics import PROMETHEUS_TYPE, Gauge, Metrics, MetricsSummary


class MetricsHandlers:
    """The handlers of /v1/metrics."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps
        self._metrics = deps.metrics
        _describe_state(deps, self._metrics)

    def routes(self) -> tuple[Route, ...]:
        """Their part of the route table."""
        return (
            Route(
                path="/v1/metrics",
                handlers={"GET": self.read},
                summary="Read metrics",
                takes=(text("format", "`prometheus` for its text format; JSON without."),),
                response=MetricsSummary,
                needs=needs.ANYONE,
                is_local=True,
            ),
        )

    async def read(self, call: Call) -> Answer:
        """GET /v1/metrics."""
        telemetry = self._deps.info.config.get("Telemetry") or {}
        is_prometheus = call.query.get("format") == "prometheus"
        if is_prometheus and not telemetry.get("PrometheusMetrics"):
            raise HttpError(415, "Prometheus is not enabled")
        node = self._deps.node_agent
        measured: list[Gauge] = []
        if node is not None:
            measured = await node.gauges(
                of_node=bool(telemetry.get("PublishNodeMetrics")),
                of_allocs=bool(telemetry.get("PublishAllocationMetrics")),
            )
        if is_prometheus:
            return Answer(body=self._metrics.prometheus(measured).encode(), content_type=PROMETHEUS_TYPE)
        return Answer(body=self._metrics.summary(self._deps.server.clock.now_ns(), measured))


def _describe_state(deps: Deps, metrics: Metrics) -> None:
    """What State holds, counted when somebody looks."""
    state = deps.state
    host = {"host": deps.info.name}
    for name, table in (
        ("jobs", state.jobs),
        ("allocations", state.allocs),
        ("evaluations", state.evals),
        ("deployments", state.deployments),
        ("nodes", state.nodes),
        ("services", state.services),
    ):
        metrics.gauge(f"nomad.state.{name}", lambda table=table: float(len(table)), host)  # type: ignore[misc]
    metrics.gauge("nomad.raft.appliedIndex", lambda: float(deps.state.index), host)
    metrics.gauge("nomad.raft.lastIndex", lambda: float(deps.server.log.last_index), host)
