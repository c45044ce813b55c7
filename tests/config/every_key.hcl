# Every key of an agent's configuration, so that none is refused as unknown.
region = "global"
datacenter = "dc1"
name = "node-1"
data_dir = "/var/lib/yurt"
plugin_dir = "/var/lib/yurt/plugins"
log_level = "info"
log_json = false
log_include_location = false
log_file = "/var/log/yurt.log"
log_rotate_duration = "24h"
log_rotate_bytes = 1048576
log_rotate_max_files = 3
enable_syslog = true
syslog_facility = "LOCAL1"
bind_addr = "10.0.0.1"
ports {
  http = 4646
  rpc = 4647
  serf = 4648
  simple = 8500
  simple_agent = 8501
}
addresses {
  http = "10.0.0.1 127.0.0.1"
  rpc = "10.0.0.1"
  serf = "10.0.0.1"
}
advertise {
  http = "10.0.0.1"
  rpc = "10.0.0.1:4747"
  serf = "10.0.0.1:4748"
}
leave_on_interrupt = true
leave_on_terminate = true
enable_debug = true
disable_update_check = true
disable_anonymous_signature = true
http_api_response_headers {
  Access-Control-Allow-Origin = "*"
}

plugin "raw_exec" {
  args = ["-x"]
  config {
    enabled = true
  }
}
plugin "docker" {
  config {
    endpoint = "unix:///var/run/docker.sock"
    volumes { enabled = true }
    gc {
      image = true
      dangling_containers { enabled = true }
    }
  }
}

acl {
  enabled = true
  token_ttl = "30s"
  policy_ttl = "30s"
  role_ttl = "30s"
  replication_token = "replicate-me"
  token_min_expiration_ttl = "1m"
  token_max_expiration_ttl = "24h"
}

tls {
  http = true
  rpc = true
  ca_file = "/etc/yurt/ca.pem"
  cert_file = "/etc/yurt/cert.pem"
  key_file = "/etc/yurt/key.pem"
  verify_server_hostname = true
  verify_https_client = true
  rpc_upgrade_mode = false
  tls_cipher_suites = "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"
  tls_min_version = "tls13"
}

limits {
  https_handshake_timeout = "5s"
  http_max_conns_per_client = 100
  rpc_handshake_timeout = "5s"
  rpc_max_conns_per_client = 100
}

rpc {
  accept_backlog = 256
  keep_alive_interval = "30s"
  connection_write_timeout = "10s"
  stream_open_timeout = "75s"
  stream_close_timeout = "5m"
  dial_timeout = "10s"
}

telemetry {
  in_memory_collection_interval = "10s"
  in_memory_retention_period = "1m"
  collection_interval = "1s"
  prometheus_metrics = true
  publish_allocation_metrics = true
  publish_node_metrics = true
  include_alloc_metadata_in_metrics = true
  allowed_metadata_keys_in_metrics = ["owner"]
  disable_hostname = true
  use_node_name = true
  prefix_filter = ["+nomad.raft"]
  filter_default = false
  disable_dispatched_job_summary_metrics = true
  disable_quota_utilization_metrics = true
  disable_rpc_rate_metrics_labels = true
  disable_allocation_hook_metrics = true
  statsite_address = "127.0.0.1:8125"
  statsd_address = "127.0.0.1:8125"
  datadog_address = "127.0.0.1:8125"
  datadog_tags = ["a:b"]
  circonus_api_token = "token"
  circonus_submission_interval = "10s"
}

ui {
  enabled = true
  show_cli_hints = false
  content_security_policy {
    connect_src = ["*"]
    default_src = ["'none'"]
    form_action = ["'none'"]
    frame_ancestors = ["'none'"]
    img_src = ["'self'"]
    script_src = ["'self'"]
    style_src = ["'self'"]
  }
  consul { ui_url = "https://consul" }
  vault { ui_url = "https://vault" }
  label {
    text = "Staging"
    background_color = "yellow"
    text_color = "#000000"
  }
}

autopilot {
  cleanup_dead_servers = true
  last_contact_threshold = "200ms"
  max_trailing_logs = 250
  server_stabilization_time = "10s"
  min_quorum = 0
  enable_redundancy_zones = false
  disable_upgrade_migration = false
  enable_custom_upgrades = false
}

keyring "aead" {
  active = true
}

audit {
  enabled = true
  sink "file" {
    type = "file"
    format = "json"
    path = "/var/log/audit.log"
  }
  filter "default" {
    type = "HTTPEvent"
    endpoints = ["/v1/metrics"]
  }
}

sentinel {
  import "x" { path = "/x" }
}

reporting {
  address = "https://example.org"
  export_interval = "1h"
  snapshot_retention_time = "1h"
  disable_product_usage_reporting = true
  license { enabled = false }
}

eventlog {
  enabled = false
  level = "error"
}

consul {
  name = "default"
  address = "127.0.0.1:8500"
  token = "consul-token"
  service_identity {
    aud = ["consul.io"]
    ttl = "1h"
  }
}

vault {
  enabled = false
  address = "https://vault:8200"
  default_identity {
    aud = ["vault.io"]
  }
}

etcd {
  endpoints = ["https://10.0.0.1:2379", "https://10.0.0.2:2379"]
}

simple_api {
  enabled = true
  port = 8600
  agent_port = 0
  allowed_origins = ["https://console.example.org"]
}

server {
  enabled = true
  bootstrap_expect = 3
  authoritative_region = "global"
  data_dir = "/var/lib/yurt/server"
  encrypt = "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlY3I="
  raft_protocol = 3
  raft_multiplier = 1
  num_schedulers = 2
  enabled_schedulers = ["service", "batch"]
  rejoin_after_leave = true
  node_gc_threshold = "24h"
  job_gc_interval = "5m"
  job_gc_threshold = "4h"
  eval_gc_threshold = "1h"
  batch_eval_gc_threshold = "24h"
  deployment_gc_threshold = "1h"
  csi_volume_claim_gc_interval = "5m"
  csi_volume_claim_gc_threshold = "5m"
  csi_plugin_gc_threshold = "1h"
  acl_token_gc_threshold = "1h"
  root_key_gc_interval = "10m"
  root_key_gc_threshold = "1h"
  root_key_rotation_threshold = "720h"
  heartbeat_grace = "20s"
  min_heartbeat_ttl = "10s"
  max_heartbeats_per_second = 50.0
  failover_heartbeat_ttl = "5m"
  enable_event_broker = true
  event_buffer_size = 100
  plan_apply_pipeline = 1
  job_default_priority = 50
  job_max_priority = 200
  job_max_count = 50000
  job_max_source_size = "2MB"
  job_tracked_versions = 6
  raft_snapshot_threshold = 8192
  raft_snapshot_interval = "120s"
  raft_trailing_logs = 10240
  deploy_query_rate_limit = 100
  oidc_issuer = "https://nomad.example.org"
  start_timeout = "30s"
  license_path = "/etc/license"
  non_voting_server = false
  redundancy_zone = "a"
  upgrade_version = "1"
  server_join {
    start_join = ["10.0.0.2"]
    retry_join = ["10.0.0.3", "provider=aws tag_key=a tag_value=b"]
    retry_max = 3
    retry_interval = "15s"
  }
  default_scheduler_config {
    scheduler_algorithm = "spread"
    memory_oversubscription_enabled = true
    reject_job_registration = false
    pause_eval_broker = false
    node_limit_for_feasibility_checks = 10
    preemption_config {
      system_scheduler_enabled = true
      sysbatch_scheduler_enabled = true
      batch_scheduler_enabled = true
      service_scheduler_enabled = true
    }
  }
  plan_rejection_tracker {
    enabled = true
    node_threshold = 50
    node_window = "10m"
  }
  search {
    fuzzy_enabled = false
    limit_query = 10
    limit_results = 50
    min_term_length = 3
  }
  client_introduction {
    enforcement = "strict"
    default_identity_ttl = "5m"
    max_identity_ttl = "30m"
  }
  raft_logstore {
    backend = "wal"
    boltdb { no_freelist_sync = true }
    wal { segment_size_mb = 64 }
    disable_log_cache = true
    verification {
      enabled = true
      interval = "1m"
    }
  }
  raft_boltdb { no_freelist_sync = true }
}

client {
  enabled = true
  state_dir = "/var/lib/yurt/client"
  alloc_dir = "/var/lib/yurt/alloc"
  alloc_mounts_dir = "/var/lib/yurt/mounts"
  host_volumes_dir = "/var/lib/yurt/volumes"
  host_volume_plugin_dir = "/var/lib/yurt/volume-plugins"
  common_plugin_dir = "/var/lib/yurt/common"
  servers = ["10.0.0.1:4647"]
  server_join {
    retry_join = ["10.0.0.2"]
    retry_max = 2
    retry_interval = "10s"
  }
  node_class = "gpu"
  node_pool = "blue"
  meta {
    rack = "r1"
    size = 3
    fast = true
  }
  options {
    "driver.allowlist" = "docker,exec"
    "env.blacklist" = "SECRET,TOKEN"
  }
  chroot_env {
    "/bin" = "/bin"
  }
  network_interface = "eth0"
  network_speed = 1000
  preferred_address_family = "ipv4"
  cpu_total_compute = 8000
  memory_total_mb = 16384
  disk_total_mb = 100000
  disk_free_mb = 5
  cpu_disable_dmidecode = true
  reservable_cores = "0-7"
  reserved {
    cpu = 500
    memory = 512
    disk = 1024
    cores = "0-1"
    reserved_ports = "22,80,8500-8600"
  }
  min_dynamic_port = 20000
  max_dynamic_port = 30000
  client_min_port = 14000
  client_max_port = 14512
  max_kill_timeout = "1m"
  gc_interval = "2m"
  gc_parallel_destroys = 4
  gc_disk_usage_threshold = 70
  gc_inode_usage_threshold = 60
  gc_max_allocs = 100
  gc_volumes_on_node_gc = true
  no_host_uuid = true
  disable_remote_exec = true
  host_volume "data" {
    path = "/srv/data"
    read_only = true
  }
  host_network "public" {
    cidr = "203.0.113.0/24"
    reserved_ports = "22"
  }
  host_network "private" {
    interface = "eth1"
  }
  bind_wildcard_default_host_network = false
  cni_path = "/opt/cni/bin"
  cni_config_dir = "/etc/cni"
  bridge_network_name = "yurt"
  bridge_network_subnet = "172.26.0.0/20"
  bridge_network_subnet_ipv6 = "fd00::/64"
  bridge_network_hairpin_mode = true
  cgroup_parent = "yurt.slice"
  nomad_service_discovery = false
  node_max_allocs = 10
  default_ineligible = true
  drain_on_shutdown {
    deadline = "10m"
    ignore_system_jobs = true
    force = false
  }
  users {
    dynamic_user_min = 90000
    dynamic_user_max = 99999
  }
  fingerprint "env_aws" {
    retry_interval = "5m"
    retry_attempts = 3
    exit_on_failure = true
  }
  countable "matlab" {
    count = 4
  }
  template {
    function_denylist = ["plugin"]
    disable_file_sandbox = true
    max_stale = "1h"
    block_query_wait = "1m"
    wait {
      min = "1s"
      max = "2m"
    }
    wait_bounds {
      min = "2s"
    }
    consul_retry { attempts = 1 }
    vault_retry { attempts = 1 }
    nomad_retry {
      attempts = 0
      backoff = "1s"
      max_backoff = "2s"
    }
    vault_default_lease_duration = "5m"
    use_client_consul_token = true
  }
  artifact {
    http_read_timeout = "10m"
    http_max_size = "1GB"
    gcs_timeout = "1m"
    git_timeout = "1m"
    hg_timeout = "1m"
    s3_timeout = "1m"
    decompression_file_count_limit = 10
    decompression_size_limit = "1GiB"
    disable_artifact_inspection = true
    disable_filesystem_isolation = true
    filesystem_isolation_extra_paths = ["f:r:/etc/passwd"]
    set_environment_variables = "HOME"
  }
}
