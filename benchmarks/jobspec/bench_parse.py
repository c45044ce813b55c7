"""Reading a job file of 500 lines. Budget: 30 ms; wished: 10 ms."""

import time
from collections.abc import Callable

from yurt.jobspec import parse_submitted_job
from yurt.jobspec.hcl import parse

TARGETS = {"jobspec_500_lines_parse_job_ms": "<= 10"}

LINES = 500
ROUNDS = 30

_HEAD = """\
variable "image" { default = "app:1.0" }
variable "ports" {
  type    = map(number)
  default = { http = 8080, admin = 9090 }
}
locals {
  prefix = "web-${var.image}"
  names  = [for i in range(5) : format("%s-%02d", local.prefix, i)]
}
job "large" {
  datacenters = ["dc1", "eu-*"]
  constraint {
    attribute = "${attr.kernel.name}"
    value     = "linux"
  }
"""
_GROUP = """\
  group "g%d" {
    count = 3
    network {
      mode = "bridge"
      dynamic "port" {
        for_each = var.ports
        labels   = [port.key]
        content { to = port.value }
      }
      port "fixed" { static = %d }
    }
    service {
      name = "svc-${local.prefix}"
      port = "http"
      tags = ["a", "b=${var.ports["http"]}"]
      check {
        type     = "http"
        path     = "/health"
        interval = "10s"
        timeout  = "2s"
      }
    }
    task "t" {
      driver = "docker"
      config {
        image = var.image
        args  = ["--bind", "${NOMAD_IP_http}:${NOMAD_PORT_http}"]
        labels = {
          team = "a"
          name = join(",", local.names)
        }
        mount {
          type   = "bind"
          source = "local/cfg"
          target = "/etc/cfg"
        }
      }
      env {
        NODE = "${node.unique.name}"
        N    = 5
      }
      template {
        destination = "local/conf"
        data        = <<-EOT
          {{ range nomadService "x" }}
          server {{ .Address }}:{{ .Port }} ${meta.rack}
          {{ end }}
        EOT
      }
      resources {
        cpu    = 500
        memory = 256 + 64
      }
    }
  }
"""


def job_file(lines: int = LINES) -> str:
    """A job file of at least `lines` lines, with the mix of features that job files have."""
    groups = -(-(lines - _HEAD.count("\n")) // _GROUP.count("\n"))
    return _HEAD + "".join(_GROUP % (number, 7000 + number) for number in range(groups)) + "}\n"


def run() -> dict[str, float]:
    """Milliseconds: the best of several rounds, for the whole way and for the syntax alone."""
    text = job_file()
    return {
        "jobspec_500_lines_parse_job_ms": _best_ms(lambda: parse_submitted_job(text)),
        "jobspec_500_lines_syntax_only_ms": _best_ms(lambda: parse(text, filename="job.hcl")),
    }


def _best_ms(work: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best * 1000
