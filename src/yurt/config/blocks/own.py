"""Blocks that only Yurt has: `etcd` and `simple_api`."""

from yurt.config.blocks.base import Block, PortOrOff


class EtcdConfig(Block, frozen=True, kw_only=True):
    """`etcd`: the store that several servers share. Without it a server keeps its log in its own data."""

    endpoints: tuple[str, ...]


class SimpleApiConfig(Block, frozen=True, kw_only=True):
    """`simple_api`: `port` is a server's, `agent_port` a node agent's; 0 switches one off.

    Pages of `allowed_origins` may change things from a browser. A `standalone` client joins the control plane
    at `server` instead of Yurt's servers, with `token` if it has one; that reaches it at `endpoint`.
    """

    enabled: bool = True
    port: PortOrOff = 8500
    agent_port: PortOrOff = 8501
    allowed_origins: tuple[str, ...] = ()
    standalone: bool = False
    server: str = ""
    endpoint: str = ""
    token: str = ""
