"""Give the allocation its network."""

from __future__ import annotations

from yurt.agent.alloc_runner.context import AllocContext
from yurt.agent.alloc_runner.hook import AllocHook, SetupFailed
from yurt.agent.drivers import NetworkIsolation
from yurt.agent.network.group_network import NamespaceMaker
from yurt.agent.network.networks import NetworkFailed, WantedNetwork
from yurt.model.resources import DNSConfig, NetworkResource

HOST_MODES = ("", "host")


class NetworkHook(AllocHook):
    """Makes the allocation's own network before its tasks start, and takes it down after they ended."""

    name = "network"

    def __init__(self, context: AllocContext, network: NetworkResource) -> None:
        self._context = context
        self._network = network

    async def prerun(self) -> None:
        """Fail rather than let a task run on the host's network by mistake."""
        try:
            made = await self._context.node.networks.provide(self._wanted())
        except NetworkFailed as error:
            raise SetupFailed(str(error)) from error
        self._context.set_network(made)

    async def postrun(self) -> None:
        """Leave nothing behind."""
        await self._context.node.networks.remove(self._context.alloc.id)

    def _wanted(self) -> WantedNetwork:
        alloc, network = self._context.alloc, self._network
        text = self._context.owner().env.interpolate
        dns, cni = network.dns, network.cni
        region = self._context.node.settings.region
        return WantedNetwork(
            alloc_id=alloc.id,
            mode="" if network.mode in HOST_MODES else network.mode,
            hostname=text(network.hostname),
            dns=DNSConfig(
                servers=tuple(map(text, dns.servers or ())),
                searches=tuple(map(text, dns.searches or ())),
                options=tuple(map(text, dns.options or ())),
            )
            if dns is not None
            else None,
            ports=alloc.resources.shared.ports or (),
            args={
                "IgnoreUnknown": "true",
                "NOMAD_REGION": region,
                "NOMAD_NAMESPACE": alloc.namespace,
                "NOMAD_JOB_ID": alloc.job.id,
                "NOMAD_GROUP_NAME": alloc.task_group,
                "NOMAD_ALLOC_ID": alloc.id,
                **{name: text(value) for name, value in ((cni.args if cni else None) or {}).items()},
            },
            maker=self._maker(),
        )

    def _maker(self) -> str:
        """The driver that has to make the namespace; empty when the agent can. Raises SetupFailed."""
        if self._network.mode in HOST_MODES:
            return ""
        maker = ""
        for task in self._context.group.tasks:
            driver = self._context.node.drivers.get(task.driver)
            if driver is None:
                continue  # the task will say so when it starts
            if NetworkIsolation.GROUP not in driver.capabilities.networks:
                raise SetupFailed(
                    f'task "{task.name}": its driver {task.driver} cannot join a network of mode '
                    f'"{self._network.mode}"; use mode "host" or another driver'
                )
            if isinstance(driver, NamespaceMaker):
                maker = task.driver
        return maker


def make(context: AllocContext) -> AllocHook | None:
    """On the host's own network there is something to do only for names."""
    networks = context.group.networks or ()
    network = networks[0] if networks else None
    if network is None or (network.mode in HOST_MODES and network.dns is None):
        return None
    return NetworkHook(context, network)
