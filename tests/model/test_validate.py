# ruff: noqa: E501 - the texts that clients see stand in one piece
"""The words for each problem, and what an update may not change."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from yurt.model.canonical import canonical_job, preserve
from yurt.model.decode import fold, plan_of
from yurt.model.forms import JobForm
from yurt.model.go_json import Json
from yurt.model.job import Job
from yurt.model.multi_error import MultiError, warnings_text
from yurt.model.namespace import NamespaceCapabilities
from yurt.model.validate import (
    JobRules,
    index_errors,
    job_errors,
    job_warnings,
    next_version,
    source_size_warning,
    update_errors,
)

RECORDINGS = Path(__file__).parents[1] / "recordings" / "nomad"
SECOND = 1_000_000_000
MINUTE = 60 * SECOND


def canonical(request: dict[str, Any]) -> Job:
    return canonical_job(fold(request, plan_of(JobForm)), region="global", new_id=lambda: "id")


def a_job(**members: Json) -> Job:
    """Make a valid job, but for the members given for it, its `Group` and its `Task`."""
    task = {"Name": "t", "Driver": "raw_exec", **members.pop("Task", {})}
    group = {"Name": "g", "Tasks": [task], **members.pop("Group", {})}
    return canonical({"ID": "j", "TaskGroups": [group], **members})


def problems(job: Job, rules: JobRules | None = None) -> list[str]:
    """Give the innermost problems of a job, without their nesting."""
    errors = job_errors(job, rules or JobRules())
    if errors is None:
        return []
    lines = [line.removeprefix("\t* ") for line in str(errors).split("\n") if line.startswith("\t* ")]
    return [line for line in lines if not line.endswith(("error occurred:", "errors occurred:"))]


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        ({"Name": "alloc"}, ['Task cannot be named "alloc"']),
        ({"Name": "a/b"}, ["Task name cannot include slashes"]),
        ({"Name": "a\0"}, ["Task name cannot include null characters"]),
        ({"Driver": ""}, ["Missing task driver"]),
        ({"KillTimeout": -1}, ["KillTimeout must be a positive value"]),
        (
            {"KillTimeout": 20 * MINUTE},
            ["KillTimout (20m0s) longer than the group's ProgressDeadline (10m0s)"],
        ),
        ({"ShutdownDelay": -1}, ["ShutdownDelay must be a positive value"]),
        (
            {"Lifecycle": {}},
            [
                "Task group g must have at least one main task",
                "Lifecycle validation failed: no lifecycle hook provided",
            ],
        ),
        (
            {"Lifecycle": {"Hook": "x"}},
            ["Task group g must have at least one main task", "Lifecycle validation failed: invalid hook: x"],
        ),
        (
            {"DispatchPayload": {"File": "../../x"}},
            ["Dispatch Payload validation failed: destination escapes allocation directory"],
        ),
    ],
)
def test_task_problems(task: dict[str, Any], expected: list[str]) -> None:
    assert problems(a_job(Task=task)) == expected


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        ({"CPU": 100, "Cores": 1}, ["Task can only ask for 'cpu' or 'cores' resource, not both."]),
        ({"Cores": -1}, ["cores value (-1) cannot be negative"]),
        ({"CPU": 0, "MemoryMB": 1}, ["minimum CPU value is 1; got 0", "minimum MemoryMB value is 10; got 1"]),
        (
            {"MemoryMB": 100, "MemoryMaxMB": 50},
            ["MemoryMaxMB value (50) should be larger than MemoryMB value (100)"],
        ),
        ({"MemoryMaxMB": -1}, []),
        ({"SecretsMB": 400}, ["SecretsMB value (400) cannot be larger than MemoryMB value (300)"]),
        ({"SecretsMB": -1}, ["SecretsMB value (-1) cannot be negative"]),
        (
            {"Devices": [{"Name": "a/b/c/d"}]},
            ["device name must be given as one of the following: type, vendor/type, or vendor/type/name"],
        ),
        (
            {"NUMA": {"Affinity": "none", "Devices": ["x"]}},
            ['numa device "x" not requested as task resource'],
        ),
        (
            {"NUMA": {"Affinity": "near"}},
            [
                "numa affinity must be one of none, prefer, or require",
                "numa scheduling requires Nomad Enterprise",
            ],
        ),
    ],
)
def test_resources_problems(resources: dict[str, Any], expected: list[str]) -> None:
    assert problems(a_job(Task={"Resources": resources})) == expected


def test_minimum_resources_lie_two_deeper() -> None:
    errors = job_errors(a_job(Task={"Resources": {"CPU": 0}}))
    assert isinstance(errors, MultiError)
    assert "\t* 1 error occurred:\n\t* 1 error occurred:\n\t* minimum CPU value is 1; got 0" in str(errors)


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ({"DestPath": ""}, ["Must specify a destination for the template"]),
        ({"EmbeddedTmpl": ""}, ["Must specify a source path or have an embedded template"]),
        ({"DestPath": "../../x"}, ["destination escapes allocation directory"]),
        ({"DestPath": "../alloc/x"}, []),
        (
            {"ChangeMode": "signal", "ChangeSignal": ""},
            ["Must specify signal value when change mode is signal"],
        ),
        ({"ChangeMode": "signal", "Envvars": True}, ["cannot use signals with env var templates"]),
        (
            {"ChangeMode": "script"},
            ["must specify change script configuration value when change mode is script"],
        ),
        (
            {"ChangeMode": "script", "ChangeScript": {}},
            ["must specify script path value when change mode is script"],
        ),
        (
            {"ChangeMode": "x"},
            ["Invalid change mode. Must be one of the following: noop, signal, script, restart"],
        ),
        ({"Splay": -1}, ["Must specify positive splay value"]),
        ({"Perms": "9"}, ['Failed to parse "9" as octal: strconv.ParseUint: parsing "9": invalid syntax']),
        (
            {"Perms": "77777"},
            ['Failed to parse "77777" as octal: strconv.ParseUint: parsing "77777": value out of range'],
        ),
        ({"Wait": {"Min": 2 * SECOND, "Max": SECOND}}, ["wait min 2s is greater than max 1s"]),
    ],
)
def test_template_problems(template: dict[str, Any], expected: list[str]) -> None:
    whole = {"DestPath": "local/a", "EmbeddedTmpl": "x", **template}
    assert problems(a_job(Task={"Templates": [whole]})) == expected


def test_templates_need_different_destinations() -> None:
    twice = [{"DestPath": "local/a", "EmbeddedTmpl": "x"}] * 2
    assert problems(a_job(Task={"Templates": twice})) == ["Template 2 has same destination as 1"]


@pytest.mark.parametrize(
    ("artifact", "expected"),
    [
        ({"GetterSource": ""}, ["source must be specified"]),
        ({"GetterMode": "x"}, ['invalid artifact mode "x"; must be one of: any, file, dir']),
        ({"RelativeDest": "../../x"}, ["destination escapes allocation directory"]),
        ({"GetterOptions": {"checksum": " "}}, ["checksum value cannot be empty"]),
        ({"GetterOptions": {"checksum": "abc"}}, ['checksum must be given as "type:value"; got "abc"']),
        ({"GetterOptions": {"checksum": "crc:00"}}, ["unsupported checksum type: crc"]),
        ({"GetterOptions": {"checksum": "md5:zz"}}, ["invalid checksum: zz"]),
        ({"GetterOptions": {"checksum": "md5:00"}}, ["invalid md5 checksum: 00"]),
        ({"GetterOptions": {"checksum": "md5:" + "0" * 32}}, []),
        ({"GetterOptions": {"checksum": "md5:${NOMAD_META_sum}"}}, []),
    ],
)
def test_artifact_problems(artifact: dict[str, Any], expected: list[str]) -> None:
    assert problems(a_job(Task={"Artifacts": [{"GetterSource": "http://x/y", **artifact}]})) == expected


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        ({"Identities": [{"Name": "a b"}]}, ['invalid name "a b". Must match regex ^[a-zA-Z0-9-_]{1,128}$']),
        ({"Identities": [{"Name": "a", "Audience": [""]}]}, ["an empty string is an invalid audience (1)"]),
        (
            {"Identities": [{"Name": "a", "ChangeSignal": "sigint"}]},
            ['can only use change_signal="SIGINT" with change_mode="signal"'],
        ),
        (
            {"Identities": [{"Name": "a", "ChangeMode": "signal"}]},
            ['change_signal must be specified when using change_mode="signal"'],
        ),
        ({"Identities": [{"Name": "a", "ChangeMode": "x"}]}, ["invalid change_mode: x"]),
        ({"Identity": {"TTL": SECOND}}, ["ttl for default identity not yet supported"]),
        ({"Identities": [{"Name": "a", "TTL": -1}]}, ["ttl must be >= 0"]),
        (
            {"Identities": [{"Name": "a", "Filepath": "x"}]},
            ["file parameter must be true in order to specify filepath"],
        ),
        ({"Identity": {}, "Identities": [{"Name": "default"}]}, ["Duplicate default identities found"]),
        ({"Secrets": [{"Name": "", "Path": "p", "Provider": "nomad"}]}, ["secret name cannot be empty"]),
        (
            {"Secrets": [{"Name": "a-b", "Path": "p", "Provider": "nomad"}]},
            ["secret name must match regex ^[a-zA-Z0-9_]{1,128}$"],
        ),
        ({"Secrets": [{"Name": "a", "Path": "p", "Provider": ""}]}, ["secret provider cannot be empty"]),
        ({"Secrets": [{"Name": "a", "Provider": "nomad"}]}, ["secret path cannot be empty"]),
        (
            {"Secrets": [{"Name": "a", "Path": "p", "Provider": "nomad", "Env": {"A": "b"}}]},
            ["nomad provider cannot use the env block"],
        ),
        (
            {"Secrets": [{"Name": "a", "Path": "p", "Provider": "own", "Config": {"A": "b"}}]},
            ["custom plugin provider own cannot use the config block"],
        ),
        (
            {"Secrets": [{"Name": "a", "Path": "p", "Provider": "vault"}]},
            ['Secret "a" has provider "vault" but no vault block'],
        ),
        ({"Secrets": [{"Name": "a", "Path": "p", "Provider": "nomad"}] * 2}, ['Duplicate secret "a" found']),
        ({"Actions": [{"Name": "a b", "Command": "x"}]}, ["invalid name 'a b'"]),
        ({"Actions": [{"Name": "a"}]}, ["command cannot be empty"]),
        ({"Actions": [{"Name": "a", "Command": "x"}] * 2}, ["Action a defined multiple times"]),
        ({"Vault": {"ChangeMode": "x"}}, ['Unknown change mode "x"']),
        (
            {"Vault": {"ChangeMode": "signal", "ChangeSignal": ""}},
            ['Signal must be specified when using change mode "signal"'],
        ),
        ({"VolumeMounts": [{"Volume": "v"}]}, ["Volume Mount (0) references undefined volume v"]),
        (
            {"VolumeMounts": [{"Volume": "v", "SELinuxLabel": "q"}]},
            [
                "Volume Mount (0) references undefined volume v",
                'Volume Mount (0) is invalid: "volume mount has an invalid SELinux label: \\"q\\""',
            ],
        ),
        ({"CSIPluginConfig": {"Type": "node"}}, ["CSIPluginConfig must have a non-empty PluginID"]),
        (
            {"CSIPluginConfig": {"ID": "p", "Type": "x"}},
            ["CSIPluginConfig PluginType must be one of 'node', 'controller', or 'monolith', got: \"x\""],
        ),
        ({"LogConfig": {"MaxFiles": 0}}, ["minimum number of files is 1; got 0"]),
        ({"LogConfig": {"MaxFileSizeMB": 0}}, ["minimum file size is 1MB; got 0"]),
        ({"Kind": "connect-proxy:s"}, ['No Connect services in task group with Connect proxy ("s")']),
    ],
)
def test_task_block_problems(task: dict[str, Any], expected: list[str]) -> None:
    assert problems(a_job(Task=task), JobRules(vault_enabled=True)) == expected


@pytest.mark.parametrize(
    ("constraint", "expected"),
    [
        ({}, ["Missing constraint operand", 'Unknown constraint type ""']),
        ({"Operand": "set_contains", "LTarget": "a"}, ["Set contains constraint requires an RTarget"]),
        (
            {"Operand": "distinct_property", "LTarget": "a", "RTarget": "x"},
            ['Failed to convert RTarget "x" to uint64: strconv.ParseUint: parsing "x": invalid syntax'],
        ),
        (
            {"Operand": "distinct_property", "LTarget": "a", "RTarget": "0"},
            ["Distinct Property must have an allowed count of 1 or greater: 0 < 1"],
        ),
        ({"Operand": "distinct_property", "LTarget": "${meta.rack}"}, []),
        ({"Operand": "distinct_hosts"}, []),
        (
            {"Operand": "=", "LTarget": "$attr.x", "RTarget": "x"},
            ['attribute "$attr.x" is missing an opening brace'],
        ),
        (
            {"Operand": "=", "LTarget": "${attr.x", "RTarget": "x"},
            ['attribute "${attr.x" is missing a closing brace'],
        ),
        ({"Operand": "=", "LTarget": "literal", "RTarget": "x"}, []),
        (
            {"Operand": "semver", "LTarget": "${attr.x}", "RTarget": "~> 1.2"},
            ["Semver constraint is invalid: Malformed constraint: ~> 1.2"],
        ),
    ],
)
def test_constraint_problems(constraint: dict[str, Any], expected: list[str]) -> None:
    assert problems(a_job(Constraints=[constraint])) == expected


@pytest.mark.parametrize(
    ("affinity", "expected"),
    [
        ({"LTarget": "a"}, ["Missing affinity operand", 'Unknown affinity operator ""']),
        ({"LTarget": "a", "Operand": "is_set"}, ['Unknown affinity operator "is_set"']),
        ({"LTarget": "a", "Operand": "set_contains_any"}, ["Set contains operators require an RTarget"]),
        ({"LTarget": "a", "Operand": "="}, ['Operator "=" requires an RTarget']),
        (
            {"LTarget": "a", "Operand": "version", "RTarget": "x"},
            ["Version affinity is invalid: malformed constraint: x"],
        ),
        ({"LTarget": "a", "RTarget": "b", "Operand": "=", "Weight": 0}, ["Affinity weight cannot be zero"]),
        ({"Operand": "=", "RTarget": "x"}, ["No LTarget provided but is required"]),
        (
            {"LTarget": "a", "Operand": "=", "RTarget": "x", "Weight": -120},
            ["Affinity weight must be within the range [-100,100]"],
        ),
    ],
)
def test_affinity_problems(affinity: dict[str, Any], expected: list[str]) -> None:
    assert problems(a_job(Affinities=[affinity])) == expected


@pytest.mark.parametrize(
    ("group", "expected"),
    [
        ({"Spreads": [{"Attribute": ""}]}, ["Missing spread attribute"]),
        (
            {"Spreads": [{"Attribute": "a", "SpreadTarget": [{"Value": "v"}, {"Value": "v"}]}]},
            ['Spread target value "v" already defined'],
        ),
        (
            {"Spreads": [{"Attribute": "a", "SpreadTarget": [{"Value": "v", "Percent": 101}]}]},
            [
                'Spread target percentage for value "v" must be between 0 and 100',
                "Sum of spread target percentages must not be greater than 100%; got 101%",
            ],
        ),
        (
            {
                "ReschedulePolicy": {
                    "Attempts": 5,
                    "Unlimited": False,
                    "Interval": MINUTE,
                    "Delay": 5 * SECOND,
                    "DelayFunction": "fibonacci",
                    "MaxDelay": 20 * SECOND,
                }
            },
            [],
        ),
        (
            {
                "ReschedulePolicy": {
                    "Attempts": 9,
                    "Unlimited": False,
                    "Interval": MINUTE,
                    "Delay": 5 * SECOND,
                    "DelayFunction": "fibonacci",
                    "MaxDelay": 10 * SECOND,
                }
            },
            [
                'Nomad can only make 7 attempts in 1m0s with initial delay 5s, delay function "fibonacci", and delay ceiling 10s',
                "Set the interval to at least 1m10s to accommodate 9 attempts",
            ],
        ),
        ({"ReschedulePolicy": {"Attempts": 0, "Unlimited": False, "Delay": 1}}, []),
        (
            {
                "Volumes": {
                    "v": {
                        "Type": "csi",
                        "Source": "s",
                        "AttachmentMode": "file-system",
                        "AccessMode": "single-node-writer",
                    }
                },
                "Count": 2,
            },
            ["volume with single-node-writer access mode allows only one reader or writer"],
        ),
        (
            {"Volumes": {"v": {"Type": "host", "Source": "s", "PerAlloc": True, "Sticky": True}}},
            ["volume cannot be per_alloc and sticky at the same time"],
        ),
        (
            {"Volumes": {"v": {"Type": "host", "Source": "s", "AccessMode": "single-node-reader-only"}}},
            ["single-node-reader-only volumes must be read-only"],
        ),
        (
            {"Networks": [{"CNI": {"Args": {"a;": "b;"}}}]},
            ["invalid ';' character in CNI arg key \"a;\"", "invalid ';' character in CNI arg value \"b;\""],
        ),
        (
            {"Networks": [{"CNI": {"Args": {"a": "b"}}}, {"CNI": {"Args": {"a": "c"}}}]},
            ['duplicate CNI arg "a"'],
        ),
        ({"Networks": [{"Hostname": "a..b"}]}, ["Hostname is not a valid DNS name"]),
        (
            {"Scaling": {"Min": -1, "Max": 3}, "Count": 1},
            ["Scaling policy invalid: minimum count must be specified and non-negative"],
        ),
        (
            {"Scaling": {"Min": 2, "Max": 3}, "Count": 1},
            [
                "Scaling policy invalid: task group count must not be less than minimum count in scaling policy"
            ],
        ),
    ],
)
def test_group_problems(group: dict[str, Any], expected: list[str]) -> None:
    assert problems(a_job(Group=group)) == expected


@pytest.mark.parametrize(
    ("services", "expected"),
    [
        (
            [{"Name": "s", "Provider": "nomad"}] * 2,
            ["Services are not unique: [t->s]", 'service "s" is duplicate'],
        ),
        (
            [{"Name": "s", "Provider": "consul", "Connect": {"Native": True}, "PortLabel": "1"}],
            ['service "s" cannot have "connect" block, only services defined in a "group" block can'],
        ),
        (
            [
                {
                    "Name": "s",
                    "Provider": "nomad",
                    "PortLabel": "9",
                    "Checks": [
                        {"Name": "c", "Type": "tcp", "PortLabel": "10", "Interval": SECOND, "Timeout": SECOND}
                    ],
                }
            ],
            ['check "c" cannot use a numeric port 10 without setting address_mode="driver"'],
        ),
        (
            [
                {
                    "Name": "s",
                    "Provider": "consul",
                    "PortLabel": "9",
                    "Checks": [
                        {
                            "Name": "c",
                            "Type": "tcp",
                            "PortLabel": "99999",
                            "AddressMode": "driver",
                            "Interval": SECOND,
                            "Timeout": SECOND,
                        }
                    ],
                }
            ],
            ['check "c" has invalid numeric port 99999'],
        ),
        (
            [{"Name": "a_b", "Provider": "nomad"}],
            [
                'Service name must be valid per RFC 1123 and can contain only alphanumeric characters or dashes and must be no longer than 63 characters: "a_b"'
            ],
        ),
    ],
)
def test_task_service_problems(services: list[Any], expected: list[str]) -> None:
    assert problems(a_job(Task={"Services": services})) == expected


def test_exposed_checks_of_task_services_are_refused() -> None:
    check = {"Name": "c", "Type": "http", "Path": "/", "Expose": True, "Interval": SECOND, "Timeout": SECOND}
    job = a_job(Task={"Services": [{"Name": "s", "PortLabel": "9", "Checks": [check]}]})
    assert problems(job) == ["exposed service check g[t]->s->c is not a task-group service"]


def test_connect_needs_lower_case_names_and_distinct_upstreams() -> None:
    def service(name: str) -> dict[str, Any]:
        upstream = {"DestinationName": "d", "LocalBindPort": 80}
        return {"Name": name, "Connect": {"SidecarService": {"Proxy": {"Upstreams": [upstream]}}}}

    group = {"Name": "G", "Networks": [{"Mode": "bridge"}], "Services": [service("S"), service("t")]}
    assert problems(a_job(Group=group)) == [
        'Consul Connect service name "S" in group "G" must not contain uppercase characters',
        'Consul Connect group "G" with service "S" must not contain uppercase characters',
        'Consul Connect group "G" with service "t" must not contain uppercase characters',
        'Consul Connect services "S" and "t" in group "G" using same address for upstreams (127.0.0.1:80)',
    ]


def test_what_the_namespace_forbids() -> None:
    capabilities = NamespaceCapabilities(enabled_task_drivers=("docker",), disabled_network_modes=("host",))
    job = a_job(Group={"Networks": [{}]})
    assert problems(job, JobRules(capabilities=capabilities)) == [
        'used task driver "raw_exec" is not allowed in namespace "default"'
    ]
    assert problems(job, JobRules(capabilities=replace(capabilities, enabled_task_drivers=None))) == [
        'used group network mode "host" is not allowed in namespace "default"'
    ]
    two = a_job(Group={"Tasks": [{"Name": "a", "Driver": "qemu"}, {"Name": "b", "Driver": "exec"}]})
    assert problems(two, JobRules(capabilities=NamespaceCapabilities(enabled_task_drivers=("docker",)))) == [
        'used task drivers ["exec" "qemu"] are not allowed in namespace "default"'
    ]


def test_features_of_other_editions_are_refused() -> None:
    job = a_job(
        Group={"Consul": {"Partition": "a", "Cluster": "c"}},
        Task={"Consul": {"Partition": "b"}, "Vault": {"Cluster": "c"}, "Schedule": {"Cron": {}}},
    )
    assert problems(job) == [
        "non-default Vault cluster requires Nomad Enterprise",
        'task.consul.partition "b" must match group.consul.partition "a" if both are set',
        "non-default Consul cluster requires Nomad Enterprise",
        "task schedules requires Nomad Enterprise",
    ]


JOB_FILES: dict[str, dict[str, Any]] = {
    "validate-bad-type-and-priority": {
        "ID": "bad id",
        "Type": "cronjob",
        "Priority": 500,
        "Datacenters": [""],
        "TaskGroups": [{"Name": "g", "Count": -1, "Tasks": [{"Name": "t", "Driver": "docker"}]}],
    },
    "validate-constraints": {
        "ID": "a",
        "Constraints": [
            {"LTarget": "${attr.kernel.name}", "Operand": "regexp", "RTarget": "(["},
            {"LTarget": "${attr.nomad.version}", "Operand": "version", "RTarget": "not a version"},
            {"LTarget": "${node.nope}", "Operand": "=", "RTarget": "x"},
            {"LTarget": "${attr.x}", "Operand": "near", "RTarget": "x"},
            {"Operand": "is_set", "RTarget": "y"},
        ],
        "Affinities": [{"LTarget": "${attr.x}", "Operand": "=", "RTarget": "x", "Weight": -12}],
        "Spreads": [
            {
                "Attribute": "${meta.rack}",
                "Weight": 101,
                "SpreadTarget": [{"Value": "a", "Percent": 60}, {"Value": "b", "Percent": 60}],
            }
        ],
        "TaskGroups": [
            {
                "Name": "g",
                "Tasks": [
                    {
                        "Name": "t",
                        "Driver": "docker",
                        "Constraints": [{"Operand": "distinct_hosts", "RTarget": "true"}],
                    }
                ],
            }
        ],
    },
    "validate-policies": {
        "ID": "a",
        "Type": "service",
        "Update": {
            "MaxParallel": -1,
            "HealthyDeadline": 5 * SECOND,
            "MinHealthyTime": 10 * SECOND,
            "AutoPromote": True,
        },
        "TaskGroups": [
            {
                "Name": "g",
                "RestartPolicy": {"Attempts": 10, "Delay": MINUTE, "Interval": 5 * MINUTE, "Mode": "never"},
                "ReschedulePolicy": {"Delay": SECOND, "DelayFunction": "linear"},
                "Migrate": {"HealthCheck": "foo"},
                "Tasks": [{"Name": "t", "Driver": "docker"}],
            }
        ],
    },
    "validate-services-checks": {
        "ID": "a",
        "TaskGroups": [
            {
                "Name": "g",
                "Networks": [
                    {
                        "ReservedPorts": [
                            {"Label": "http", "Value": 70000},
                            {"Label": "a", "Value": 8080},
                            {"Label": "b", "Value": 8080},
                        ],
                        "DynamicPorts": [{"Label": "http"}],
                    }
                ],
                "Services": [
                    {
                        "Name": "bad name!",
                        "PortLabel": "nope",
                        "Provider": "nomad",
                        "Checks": [
                            {"Type": "script", "Command": "x", "Interval": 10_000_000},
                            {"Type": "http", "Interval": 10 * SECOND, "Timeout": 2 * SECOND},
                        ],
                    },
                    {"Name": "other", "Provider": "consul", "PortLabel": "http"},
                ],
                "Tasks": [
                    {
                        "Name": "t",
                        "Driver": "docker",
                        "VolumeMounts": [{"Volume": "missing", "Destination": "/x"}],
                    }
                ],
            }
        ],
    },
    "validate-system-job": {
        "ID": "a",
        "Type": "system",
        "Affinities": [{"LTarget": "${attr.x}", "Operand": "=", "RTarget": "1"}],
        "TaskGroups": [
            {
                "Name": "g",
                "Count": 3,
                "ReschedulePolicy": {"Attempts": 1, "Interval": 60 * MINUTE, "Unlimited": False},
                "Migrate": {},
                "EphemeralDisk": {"SizeMB": 5},
                "Tasks": [{"Name": "t", "Driver": "docker"}],
            }
        ],
    },
}
"""The job files of the recordings of the same names, as requests."""


@pytest.mark.parametrize("name", JOB_FILES)
def test_refused_job_files(name: str) -> None:
    recording = (RECORDINGS / "jobspec" / f"{name}.error.txt").read_text()
    expected = recording.partition("Job validation errors:\n")[2]
    assert str(job_errors(canonical(JOB_FILES[name]))).strip() == expected.strip()


def test_warnings_about_services_without_a_delay() -> None:
    group = {"Services": [{"Name": "s", "TaskName": "t", "Provider": "nomad"}]}
    helper = {"Name": "u", "Driver": "raw_exec", "ShutdownDelay": 1}
    tasks = [{"Name": "t", "Driver": "raw_exec"}, helper]
    assert job_warnings(a_job(Group={**group, "Tasks": tasks})) == [
        'group "g" references task "t" in a service definition, but the task has no shutdown_delay set'
    ]
    assert job_warnings(a_job(Group={**group, "ShutdownDelay": 1})) == []


def test_warning_about_a_vault_identity() -> None:
    task = {"Identities": [{"Name": "vault_default", "Audience": ["a", "b"], "TTL": 1}]}
    warnings = job_warnings(a_job(Task=task))
    assert warnings[-1] == "Task t has an identity called vault_default but no vault block"
    assert "more secure to use 1 audience per identity" in warnings[0]


def test_warning_about_memory_depends_on_the_cluster() -> None:
    job = a_job(Task={"Resources": {"MemoryMaxMB": 400}})
    assert len(job_warnings(job)) == 1
    assert job_warnings(job, memory_oversubscription=True) == []
    assert warnings_text([]) == ""


def test_warning_about_a_large_source() -> None:
    recorded = "job source size of 1.1 MB exceeds maximum of 1.0 MB and will be discarded"
    assert source_size_warning(1_100_000, most=1_000_000) == recorded


def register_steps() -> dict[str, Any]:
    steps = json.loads((RECORDINGS / "http" / "job_register_rules.json").read_text())["steps"]
    return {step["step"]: step for step in steps}


def test_the_kind_of_a_job_cannot_change() -> None:
    steps = register_steps()
    batch = a_job(ID="rb", Type="batch")
    periodic = a_job(ID="rp", Type="batch", Periodic={"Spec": "@daily"})
    parameterized = a_job(ID="rq", Type="batch", ParameterizedJob={})
    for existing, step in (
        (a_job(), "type change"),
        (batch, "to periodic"),
        (batch, "to parameterized"),
        (periodic, "from periodic"),
        (parameterized, "from parameterized"),
    ):
        job = canonical(steps[step]["request"]["body"]["Job"])
        assert update_errors(existing, job)[0] == steps[step]["response"]["text"]
        assert update_errors(job, job) == []


def test_enforced_indexes() -> None:
    existing = replace(a_job(), job_modify_index=225)
    assert index_errors(existing, enforced=225) == []
    assert index_errors(None, enforced=0) == []
    assert index_errors(existing, enforced=0) == ["Enforcing job modify index 0: job already exists"]
    assert index_errors(None, enforced=7) == ["Enforcing job modify index 7: job does not exist"]
    assert index_errors(existing, enforced=7) == [
        "Enforcing job modify index 7: job exists with conflicting job modify index: 225"
    ]


def test_versions_grow_with_changes_alone() -> None:
    first = replace(a_job(Version=7), status="running", modify_index=9)
    assert next_version(None, first) == 7
    assert next_version(first, a_job()) == 7
    assert next_version(first, a_job(Priority=60)) == 8
    assert next_version(first, a_job(Group={"Scaling": {"Max": 3}})) == 8


def test_registrations_may_preserve_counts_and_resources() -> None:
    existing = a_job(Group={"Count": 5}, Task={"Resources": {"CPU": 999}})
    job = a_job(Group={"Count": 1}, Task={"Resources": {"CPU": 1}})
    counts = preserve(job, existing, counts=True).task_groups[0]
    assert (counts.count, counts.tasks[0].resources.cpu) == (5, 1)
    resources = preserve(job, existing, resources=True).task_groups[0]
    assert (resources.count, resources.tasks[0].resources.cpu) == (1, 999)
    unknown = a_job(Group={"Name": "new", "Count": 3})
    assert preserve(unknown, existing, counts=True, resources=True) == unknown
