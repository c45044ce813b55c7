"""The flags that Nomad's users and their scripts know are taken by every command that has them there."""

from importlib import import_module

import pytest

from yurt.cli.agent_flags import AgentFlags
from yurt.cli.options import declared_flags
from yurt.cli.registry import COMMANDS

MODULES = {entry.path: entry.module for entry in COMMANDS}
FLAGS = {
    "acl auth-method create": (
        "config default json max-token-ttl name t token-locality token-name-format type"
    ),
    "acl auth-method info": "json t",
    "acl auth-method list": "json t",
    "acl auth-method update": "config default json max-token-ttl t token-locality token-name-format type",
    "acl binding-rule create": "auth-method bind-name bind-type description json selector t",
    "acl binding-rule info": "json t",
    "acl binding-rule list": "json t",
    "acl binding-rule update": "bind-name bind-type description json no-merge selector t",
    "acl bootstrap": "json t",
    "acl policy apply": "description group job namespace task",
    "acl policy list": "json t",
    "acl policy self": "json t",
    "acl role create": "description json name policy t",
    "acl role info": "by-name json t",
    "acl role list": "json t",
    "acl role update": "description json name no-merge policy t",
    "acl token create": "accessor global json name policy role-id role-name t ttl type",
    "acl token list": "json t",
    "acl token update": "global name policy role-id role-name type",
    "agent-info": "json t",
    "alloc checks": "json t verbose",
    "alloc exec": "e group i it job t task ti",
    "alloc fs": "H c f group job n stat tail verbose",
    "alloc logs": "c f group job n stderr stdout tail task verbose",
    "alloc pause": "state status task verbose",
    "alloc restart": "all-tasks task verbose",
    "alloc signal": "s task verbose",
    "alloc status": "json short stats t ui verbose",
    "alloc stop": "detach no-shutdown-delay verbose",
    "check": "min-peers min-servers",
    "deployment fail": "detach verbose",
    "deployment list": "filter json t verbose",
    "deployment pause": "verbose",
    "deployment promote": "detach group verbose",
    "deployment resume": "detach verbose",
    "deployment status": "json monitor t ui verbose wait",
    "deployment unblock": "detach verbose",
    "eval delete": "filter yes",
    "eval list": "filter job json page-token per-page status t ui verbose",
    "eval status": "json monitor t ui verbose",
    "fmt": "check list recursive write",
    "job action": "alloc e group i job t task",
    "job allocs": "all json t verbose",
    "job deployments": "all json latest t verbose",
    "job dispatch": "detach id-prefix-template idempotency-token meta priority ui verbose wait",
    "job eval": "detach force-reschedule verbose",
    "job history": "diff-tag diff-version full json p t version",
    "job init": "connect list-templates short template",
    "job inspect": "hcl json t version with-vars",
    "job periodic force": "detach verbose",
    "job plan": "diff hcl2-strict json json-output policy-override t var var-file vault-namespace verbose",
    "job promote": "detach group verbose",
    "job restart": (
        "all-tasks batch-size batch-wait group no-shutdown-delay on-error reschedule task verbose yes"
    ),
    "job revert": "detach verbose",
    "job run": (
        "check-index consul-namespace detach eval-priority hcl2-strict json output policy-override "
        "preserve-counts preserve-resources ui var var-file vault-namespace verbose"
    ),
    "job scale": "check-index detach verbose",
    "job scaling-events": "verbose",
    "job start": "detach verbose",
    "job status": "all-allocs evals json short t ui verbose",
    "job stop": "detach eval-priority global no-shutdown-delay purge verbose yes",
    "job tag apply": "description name version",
    "job tag unset": "name",
    "job validate": "hcl2-strict json var var-file vault-namespace",
    "login": "json login-token method oidc-callback-addr t",
    "logs": "c f group job n stderr stdout tail task verbose",
    "monitor": "json log-include-location log-level node-id server-id",
    "monitor export": "follow logs-since node-id on-disk server-id service-name",
    "namespace apply": "description json quota",
    "namespace inspect": "t",
    "namespace list": "json t",
    "namespace status": "json t",
    "node config": "servers update-servers",
    "node drain": (
        "deadline detach disable enable force ignore-system keep-ineligible m meta monitor "
        "no-deadline self yes"
    ),
    "node eligibility": "disable enable self",
    "node identity get": "json t",
    "node intro create": "json node-name node-pool t ttl",
    "node meta apply": "node-id unset",
    "node meta read": "json node-id t",
    "node pool apply": "json",
    "node pool info": "json t",
    "node pool init": "out quiet",
    "node pool jobs": "filter json page-token per-page t",
    "node pool list": "filter json page-token per-page t",
    "node pool nodes": "filter json page-token per-page t verbose",
    "node status": "allocs filter json os page-token per-page quiet self short stats t ui verbose",
    "operator api": "H X dryrun filter verbose",
    "operator autopilot get-config": "json t",
    "operator autopilot health": "json",
    "operator autopilot set-config": (
        "cleanup-dead-servers disable-upgrade-migration enable-custom-upgrades "
        "enable-redundancy-zones last-contact-threshold max-trailing-logs min-quorum "
        "server-stabilization-time"
    ),
    "operator debug": (
        "consul-ca-cert consul-ca-path consul-client-cert consul-client-key consul-http-addr "
        "consul-token consul-token-file duration event-index event-topic interval log-file-export "
        "log-include-location log-level log-lookback max-nodes node-class node-id output "
        "pprof-duration pprof-interval server-id stale vault-address vault-ca-cert vault-ca-path "
        "vault-client-cert vault-client-key vault-token verbose"
    ),
    "operator metrics": "format json pretty t",
    "operator raft list-peers": "stale",
    "operator raft logs": "pretty",
    "operator raft remove-peer": "peer-id",
    "operator raft transfer-leadership": "peer-address peer-id",
    "operator root keyring list": "verbose",
    "operator root keyring remove": "force",
    "operator root keyring rotate": "full now prepublish verbose",
    "operator scheduler get-config": "json t",
    "operator scheduler set-config": (
        "check-index memory-oversubscription node-limit-for-feasibility-checks pause-eval-broker "
        "preempt-batch-scheduler preempt-service-scheduler preempt-sysbatch-scheduler "
        "preempt-system-scheduler reject-job-registration scheduler-algorithm"
    ),
    "operator snapshot inspect": "json",
    "operator snapshot save": "redact stale",
    "plugin status": "json short t type verbose",
    "quota apply": "json",
    "quota init": "json",
    "quota inspect": "json t",
    "quota list": "json t",
    "quota status": "json t",
    "scaling policy info": "json t verbose",
    "scaling policy list": "job json t type verbose",
    "server force-leave": "prune",
    "server members": "detailed json t ui verbose",
    "service info": "filter json page-token per-page t verbose",
    "service list": "json t",
    "status": "ui verbose",
    "tls ca create": (
        "additional-domain common-name country days domain locality name-constraint organization "
        "organizational-unit postal-code province street-address"
    ),
    "tls cert create": "additional-dnsname additional-ipaddress ca cli client days domain key region server",
    "ui": "authenticate show-url",
    "var get": "item out template ui",
    "var init": "out quiet",
    "var list": "filter out page-token per-page template ui",
    "var lock": "backoff delay early-return max-retry shell ttl verbose",
    "var purge": "check-index",
    "var put": "check-index force in out template ui verbose",
    "volume claim delete": "y",
    "volume claim list": "group job json t verbose volume-name",
    "volume create": "detach id policy-override verbose",
    "volume delete": "force secret type",
    "volume deregister": "force",
    "volume init": "json type",
    "volume register": "id policy-override",
    "volume status": "json node node-pool short t type verbose",
}
AGENT_FLAGS = (
    "acl-enabled acl-replication-token alloc-dir alloc-mounts-dir bind bootstrap-expect client "
    "client-intro-token config data-dir dc dev dev-connect dev-consul dev-vault encrypt eventlog "
    "eventlog-level host-volume-plugin-dir host-volumes-dir join log-include-location log-json "
    "log-level meta network-interface network-speed node node-class node-pool plugin-dir "
    "preferred-address-family raft-protocol region rejoin retry-interval retry-join retry-max "
    "server servers state-dir"
)


@pytest.mark.parametrize("path", FLAGS)
def test_a_command_takes_the_flags_it_has_in_nomad(path: str) -> None:
    command = import_module(f"yurt.cli.commands.{MODULES[path]}").COMMAND
    names = {name for one in declared_flags(command.options) for name in (one.flag.name, *one.flag.also)}
    assert set(FLAGS[path].split()) - names == set()


def test_the_agent_takes_the_flags_it_has_in_nomad() -> None:
    names = {name for one in declared_flags(AgentFlags) for name in (one.flag.name, *one.flag.also)}
    assert set(AGENT_FLAGS.split()) - names == set()
