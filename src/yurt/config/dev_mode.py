"""The defaults of `-dev`, server and client in one agent that keeps nothing, and of `-standalone`."""

import sys

from yurt.config.decode import Layer, decode
from yurt.jobspec.hcl import literal_body

_DEFAULTS = """
log_level = "DEBUG"
enable_debug = true
disable_anonymous_signature = true

client {
  gc_interval = "10m"
  gc_disk_usage_threshold = 99
  gc_inode_usage_threshold = 99

  options {
    "driver.raw_exec.enable" = "true"
    "driver.docker.volumes" = "true"
    # A laptop has no cloud metadata to ask for, and asking takes seconds.
    "fingerprint.denylist" = "env_aws,env_gce,env_azure,env_digitalocean"
  }
}

telemetry {
  prometheus_metrics = true
  publish_allocation_metrics = true
  publish_node_metrics = true
  include_alloc_metadata_in_metrics = true
}
"""

_LOOPBACK = """
bind_addr = "127.0.0.1"
client { network_interface = "%s" }
"""

_ALL_ADDRESSES = 'bind_addr = "0.0.0.0"'

# Whoever starts it for another control plane wants what that one sends to run.
_STANDALONE = """
client {
  enabled = true

  options {
    "driver.raw_exec.enable" = "true"
  }
}
"""

_FORCED = """
server {
  enabled = true
  bootstrap_expect = 1
}
client { enabled = true }
"""


def dev_defaults(*, connect: bool) -> tuple[Layer, ...]:
    """What holds unless files or flags say otherwise. `connect` opens the agent to other machines."""
    network = _ALL_ADDRESSES if connect else _LOOPBACK % ("lo0" if sys.platform == "darwin" else "lo")
    return _layer(_DEFAULTS), _layer(network)


def standalone_defaults() -> Layer:
    """What holds for a standalone client unless files or flags say otherwise."""
    return _layer(_STANDALONE)


def dev_forced() -> Layer:
    """What holds whatever files and flags say."""
    return _layer(_FORCED)


def _layer(text: str) -> Layer:
    layer = decode(literal_body(text, filename="-dev"), "-dev")
    assert not layer.problems
    return layer
