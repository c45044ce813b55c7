"""Counters, samples and gauges, as JSON and in Prometheus' text format."""

from __future__ import annotations

from yurt.observe.metrics import Metrics


def test_samples_are_summed_up() -> None:
    metrics = Metrics()
    for value in (1.0, 3.0):
        metrics.sample("nomad.took_ms", value)
    (sample,) = metrics.summary(0).samples
    assert (sample.count, sample.sum, sample.min, sample.max) == (2, 4.0, 1.0, 3.0)
    assert (sample.mean, sample.stddev) == (2.0, 1.0)


def test_labels_tell_counters_apart() -> None:
    metrics = Metrics()
    metrics.count("nomad.requests", labels={"path": "/a"})
    metrics.count("nomad.requests", labels={"path": "/b"})
    metrics.count("nomad.requests", labels={"path": "/a"})
    counts = {one.labels["path"]: one.count for one in metrics.summary(0).counters}
    assert counts == {"/a": 2, "/b": 1}


def test_gauges_are_read_when_somebody_looks() -> None:
    metrics, values = Metrics(), iter((1.0, 2.0))
    metrics.gauge("nomad.jobs", lambda: next(values))
    assert [metrics.summary(0).gauges[0].value for _ in range(2)] == [1.0, 2.0]


def test_the_text_format_names_each_metric_once_and_escapes_labels() -> None:
    metrics = Metrics()
    metrics.count("nomad.http.requests", labels={"path": 'a"b\\c\nd'})
    metrics.count("nomad.http.requests", labels={"path": "x"})
    metrics.sample("nomad.took-ms", 2.5)
    assert metrics.prometheus().splitlines() == [
        "# HELP nomad_http_requests nomad_http_requests",
        "# TYPE nomad_http_requests counter",
        'nomad_http_requests{path="a\\"b\\\\c\\nd"} 1',
        'nomad_http_requests{path="x"} 1',
        "# HELP nomad_took_ms nomad_took_ms",
        "# TYPE nomad_took_ms summary",
        "nomad_took_ms_sum 2.5",
        "nomad_took_ms_count 1",
    ]


def test_times_are_those_of_the_interval() -> None:
    assert Metrics().summary(1_700_000_009_000_000_000).timestamp == "2023-11-14 22:13:20 +0000 UTC"
