"""The docker driver: tasks as containers of a Docker daemon, over its HTTP API."""

from yurt.agent.drivers.docker.driver import DockerDriver, make
from yurt.agent.drivers.docker.options import NAME, DockerOptions

__all__ = ["NAME", "DockerDriver", "DockerOptions", "make"]
