"""The flags of `yurt agent`. One field per flag; None (or an empty list) when it was not given."""

from typing import Annotated

import msgspec

from yurt.cli.options import Flag


class AgentFlags(msgspec.Struct, frozen=True, kw_only=True):
    """What the command line says about the agent; the configuration files say the rest."""

    config: Annotated[
        tuple[str, ...],
        Flag(
            "config",
            "The path to a configuration file, or to a directory whose .hcl and .json files are read in "
            "alphabetical order. May be given several times; later values win.",
            "<path>",
        ),
    ] = ()
    bind: Annotated[str | None, Flag("bind", "The address the agent binds to.", "<addr>")] = None
    data_dir: Annotated[
        str | None, Flag("data-dir", "The directory for all state. Must be absolute.", "<path>")
    ] = None
    plugin_dir: Annotated[str | None, Flag("plugin-dir", "The directory of plugins.", "<path>")] = None
    dc: Annotated[str | None, Flag("dc", "The name of the datacenter. Default = dc1", "<datacenter>")] = None
    region: Annotated[str | None, Flag("region", "The name of the region. Default = global", "<region>")] = (
        None
    )
    node: Annotated[str | None, Flag("node", "The name of this agent. Default = host name", "<name>")] = None
    log_level: Annotated[
        str | None, Flag("log-level", "TRACE, DEBUG, INFO, WARN, ERROR or OFF. Default = INFO", "<level>")
    ] = None
    log_json: Annotated[bool | None, Flag("log-json", "Write the log as JSON, one object a line.")] = None
    log_include_location: Annotated[
        bool | None, Flag("log-include-location", "Name file and line in every log line.")
    ] = None
    dev: Annotated[
        bool | None,
        Flag(
            "dev",
            "Development mode: server and client in one process on the loopback address, nothing kept. "
            "The quickest way to try Yurt.",
        ),
    ] = None
    dev_connect: Annotated[
        bool | None, Flag("dev-connect", "Development mode on all addresses and the default interface.")
    ] = None
    dev_consul: Annotated[
        bool | None, Flag("dev-consul", "Development mode with default identities for Consul.")
    ] = None
    dev_vault: Annotated[
        bool | None, Flag("dev-vault", "Development mode with default identities for Vault.")
    ] = None
    eventlog: Annotated[bool | None, Flag("eventlog", "Write the log to the Windows event log.")] = None
    eventlog_level: Annotated[
        str | None, Flag("eventlog-level", "The level of the Windows event log.", "<level>")
    ] = None

    server: Annotated[bool | None, Flag("server", "Enable server mode.")] = None
    bootstrap_expect: Annotated[
        int | None,
        Flag("bootstrap-expect", "How many servers to wait for before electing a leader.", "<num>"),
    ] = None
    encrypt: Annotated[str | None, Flag("encrypt", "The key that encrypts server gossip.", "<key>")] = None
    join: Annotated[
        tuple[str, ...], Flag("join", "The address of a server to join at start.", "<address>")
    ] = ()
    retry_join: Annotated[
        tuple[str, ...],
        Flag(
            "retry-join", "Like -join, tried again while it fails. May be given several times.", "<address>"
        ),
    ] = ()
    retry_max: Annotated[
        int | None, Flag("retry-max", "How often to try to join. Default = 0, forever", "<num>")
    ] = None
    retry_interval: Annotated[
        str | None, Flag("retry-interval", "How long to wait between tries to join.", "<duration>")
    ] = None
    rejoin: Annotated[bool | None, Flag("rejoin", "Join the cluster again after having left it.")] = None
    raft_protocol: Annotated[
        int | None, Flag("raft-protocol", "The version of the consensus protocol to announce.", "<num>")
    ] = None

    client: Annotated[bool | None, Flag("client", "Enable client mode.")] = None
    servers: Annotated[
        str | None,
        Flag("servers", "Servers to connect to, as host:port, separated by commas.", "<addresses>"),
    ] = None
    standalone: Annotated[
        bool | None,
        Flag("standalone", "A client that serves the control plane of -simple-server instead of Yurt's."),
    ] = None
    simple_server: Annotated[
        str | None,
        Flag("simple-server", "The simple API that a standalone client joins.", "<http://host:8500>"),
    ] = None
    node_class: Annotated[
        str | None, Flag("node-class", "Groups nodes of a kind, for constraints.", "<class>")
    ] = None
    node_pool: Annotated[
        str | None, Flag("node-pool", "The node pool to register in. Default = default", "<pool>")
    ] = None
    meta: Annotated[
        tuple[str, ...],
        Flag("meta", "A metadata pair for this node. May be given several times.", "key=value"),
    ] = ()
    network_interface: Annotated[
        str | None, Flag("network-interface", "The network interface to fingerprint.", "<name>")
    ] = None
    network_speed: Annotated[
        int | None,
        Flag("network-speed", "The speed of the network, where it cannot be found out.", "<mbits>"),
    ] = None
    preferred_address_family: Annotated[
        str | None, Flag("preferred-address-family", "ipv4 or ipv6.", "<family>")
    ] = None
    state_dir: Annotated[str | None, Flag("state-dir", "The directory of the client's state.", "<path>")] = (
        None
    )
    alloc_dir: Annotated[str | None, Flag("alloc-dir", "The directory of allocations.", "<path>")] = None
    alloc_mounts_dir: Annotated[
        str | None, Flag("alloc-mounts-dir", "The directory where allocations are mounted.", "<path>")
    ] = None
    host_volumes_dir: Annotated[
        str | None, Flag("host-volumes-dir", "The directory of dynamic host volumes.", "<path>")
    ] = None
    host_volume_plugin_dir: Annotated[
        str | None, Flag("host-volume-plugin-dir", "The directory of host volume plugins.", "<path>")
    ] = None
    client_intro_token: Annotated[
        str | None,
        Flag(
            "client-intro-token",
            "A token that introduces this node to the servers. YURT_CLIENT_INTRO_TOKEN may be set instead.",
            "<token>",
        ),
    ] = None

    acl_enabled: Annotated[bool | None, Flag("acl-enabled", "Switch access control on.")] = None
    acl_replication_token: Annotated[
        str | None, Flag("acl-replication-token", "The token to replicate access control with.", "<token>")
    ] = None

    consul_address: Annotated[str | None, Flag("consul-address", "Consul's address.", "<addr>")] = None
    consul_auth: Annotated[str | None, Flag("consul-auth", "Basic credentials for Consul.", "<auth>")] = None
    consul_auto_advertise: Annotated[
        bool | None, Flag("consul-auto-advertise", "Announce this agent in Consul.")
    ] = None
    consul_ca_file: Annotated[str | None, Flag("consul-ca-file", "CA of Consul.", "<path>")] = None
    consul_cert_file: Annotated[
        str | None, Flag("consul-cert-file", "Client certificate for Consul.", "<path>")
    ] = None
    consul_checks_use_advertise: Annotated[
        bool | None, Flag("consul-checks-use-advertise", "Let Consul check the advertised address.")
    ] = None
    consul_client_auto_join: Annotated[
        bool | None, Flag("consul-client-auto-join", "Let clients find servers through Consul.")
    ] = None
    consul_client_service_name: Annotated[
        str | None, Flag("consul-client-service-name", "Name of the clients in Consul.", "<name>")
    ] = None
    consul_key_file: Annotated[str | None, Flag("consul-key-file", "Client key for Consul.", "<path>")] = None
    consul_namespace: Annotated[str | None, Flag("consul-namespace", "Consul's namespace.", "<name>")] = None
    consul_server_auto_join: Annotated[
        bool | None, Flag("consul-server-auto-join", "Let servers find each other through Consul.")
    ] = None
    consul_server_service_name: Annotated[
        str | None, Flag("consul-server-service-name", "Name of the servers in Consul.", "<name>")
    ] = None
    consul_ssl: Annotated[bool | None, Flag("consul-ssl", "Use TLS towards Consul.")] = None
    consul_token: Annotated[str | None, Flag("consul-token", "Consul's token.", "<token>")] = None
    consul_verify_ssl: Annotated[bool | None, Flag("consul-verify-ssl", "Verify Consul's certificate.")] = (
        None
    )
    vault_enabled: Annotated[bool | None, Flag("vault-enabled", "Use Vault.")] = None
    vault_address: Annotated[str | None, Flag("vault-address", "Vault's address.", "<addr>")] = None
    vault_ca_file: Annotated[str | None, Flag("vault-ca-file", "CA of Vault.", "<path>")] = None
    vault_ca_path: Annotated[str | None, Flag("vault-ca-path", "Directory of Vault's CAs.", "<path>")] = None
    vault_cert_file: Annotated[
        str | None, Flag("vault-cert-file", "Client certificate for Vault.", "<path>")
    ] = None
    vault_create_from_role: Annotated[
        str | None, Flag("vault-create-from-role", "The role to create tokens from.", "<role>")
    ] = None
    vault_key_file: Annotated[str | None, Flag("vault-key-file", "Client key for Vault.", "<path>")] = None
    vault_namespace: Annotated[str | None, Flag("vault-namespace", "Vault's namespace.", "<name>")] = None
    vault_tls_server_name: Annotated[
        str | None, Flag("vault-tls-server-name", "The name to expect in Vault's certificate.", "<name>")
    ] = None
    vault_tls_skip_verify: Annotated[
        bool | None, Flag("vault-tls-skip-verify", "Do not verify Vault's certificate.")
    ] = None
