"""Job files to JSON, beyond the recordings."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yurt.jobspec import JobspecError, parse_submitted_job


def job_with(text: str) -> dict[str, Any]:
    return parse_submitted_job(f'job "j" {{\n{text}\n}}\n')


def task_with(text: str) -> dict[str, Any]:
    task: dict[str, Any] = job_with(f'group "g" {{\ntask "t" {{\n{text}\n}}\n}}')["TaskGroups"][0]["Tasks"][0]
    return task


def problems(text: str) -> list[str]:
    with pytest.raises(JobspecError) as caught:
        job_with(text)
    return str(caught.value).split("\n")


def test_json_members_come_in_the_order_of_the_api() -> None:
    assert list(job_with(""))[:5] == ["Region", "Namespace", "ID", "Name", "Type"]


def test_periodic_and_disk_blocks() -> None:
    job = job_with(
        """
        periodic {
          crons            = ["*/5 * * * *"]
          prohibit_overlap = true
        }
        group "g" {
          ephemeral_disk { size = 500 }
        }
        """
    )
    assert job["Periodic"] == {
        "Enabled": None,
        "Spec": None,
        "Specs": ["*/5 * * * *"],
        "SpecType": "cron",
        "ProhibitOverlap": True,
        "TimeZone": None,
    }
    assert job["TaskGroups"][0]["EphemeralDisk"] == {"SizeMB": 500, "Sticky": None, "Migrate": None}


def test_a_csi_plugin_shows_up_only_when_given() -> None:
    assert "CSIPluginConfig" not in task_with("")
    plugin = task_with('csi_plugin {\n id = "x"\n type = "node"\n health_timeout = "10s"\n}')[
        "CSIPluginConfig"
    ]
    assert (plugin["ID"], plugin["Type"], plugin["HealthTimeout"]) == ("x", "node", 10_000_000_000)


def test_gateways_of_connect() -> None:
    job = job_with(
        """
        group "g" {
          service {
            connect {
              gateway {
                proxy {
                  connect_timeout = "3s"
                  envoy_gateway_bind_addresses "a" {
                    address = "10.0.0.1"
                    port    = 80
                  }
                }
                ingress {
                  listener {
                    port = 8080
                    service {
                      name  = "web"
                      hosts = ["example.com"]
                    }
                  }
                }
                mesh {}
              }
            }
          }
        }
        """
    )
    gateway = job["TaskGroups"][0]["Services"][0]["Connect"]["Gateway"]
    assert gateway["Proxy"]["ConnectTimeout"] == 3_000_000_000
    assert gateway["Proxy"]["EnvoyGatewayBindAddresses"]["a"]["Port"] == 80
    assert gateway["Ingress"]["Listeners"][0]["Services"][0]["Hosts"] == ["example.com"]
    assert (gateway["Mesh"], gateway["Terminating"]) == ({}, None)


def test_secrets_and_vault_of_groups_and_jobs_reach_the_tasks() -> None:
    job = job_with(
        """
        secret "j" { path = "a" }
        group "g" {
          vault { role = "g" }
          secret "g" { path = "b" }
          task "t" {
            secret "t" { path = "c" }
          }
        }
        """
    )
    task = job["TaskGroups"][0]["Tasks"][0]
    assert [secret["Name"] for secret in task["Secrets"]] == ["t", "g", "j"]
    assert task["Vault"]["Role"] == "g"


def test_affinity_weights_wrap_into_eight_bits() -> None:
    assert job_with("affinity {\n weight = 500\n}")["Affinities"][0]["Weight"] == -12


@pytest.mark.parametrize(
    ("written", "operand", "left", "right"),
    [
        ('operator = ">"\nvalue = 3', ">", "", "3"),
        ('value = "a"\nversion = "> 1"\nregexp = "x"', "regexp", "", "x"),
        ('regexp = "x"\ndistinct_hosts = true', "distinct_hosts", "", "true"),
        (
            'distinct_hosts = true\ndistinct_property = "${meta.r}"\nvalue = "2"',
            "distinct_property",
            "${meta.r}",
            "2",
        ),
    ],
)
def test_the_strongest_form_of_a_constraint_wins(written: str, operand: str, left: str, right: str) -> None:
    [constraint] = job_with(f"constraint {{\n{written}\n}}")["Constraints"]
    assert constraint == {"Operand": operand, "LTarget": left, "RTarget": right}


def test_dynamic_blocks_nest_and_take_part_in_the_order() -> None:
    job = job_with(
        """
        group "first" {}
        dynamic "group" {
          for_each = { b = ["x", "y"], a = ["z"] }
          iterator = g
          labels   = [g.key]
          content {
            dynamic "task" {
              for_each = g.value
              labels   = ["${g.key}-${task.value}"]
              content { driver = "d${task.key}" }
            }
          }
        }
        group "last" {}
        """
    )
    assert [group["Name"] for group in job["TaskGroups"]] == ["first", "a", "b", "last"]
    assert [(task["Name"], task["Driver"]) for task in job["TaskGroups"][2]["Tasks"]] == [
        ("b-x", "d0"),
        ("b-y", "d1"),
    ]


def test_dynamic_is_an_ordinary_key_in_free_form_maps() -> None:
    config = task_with('config {\n dynamic "x" {\n  for_each = [1]\n }\n}')["Config"]
    assert config == {"dynamic": [{"x": [{"for_each": [1]}]}]}


def test_free_form_numbers_and_nulls() -> None:
    config = task_with(
        "config {\n a = 1.0\n b = 0.1\n c = 9223372036854775808\n d = null\n e = [null]\n f = { g = null }\n}"
    )["Config"]
    assert config == {"a": 1, "b": 0.1, "c": 9223372036854775808.0, "e": [None], "f": [{"g": None}]}
    assert isinstance(config["c"], float)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "group {\n}",
            "input.hcl:2,7-8: Missing name for group; All group blocks must have 1 labels (name).",
        ),
        (
            'update "x" {\n}',
            "input.hcl:2,8-11: Extraneous label for update; No labels are expected for update blocks.",
        ),
        (
            'group "a" "b" {\n}',
            "input.hcl:2,11-14: Extraneous label for group; Only 1 labels (name) are expected",
        ),
        (
            "type {\n}",
            'input.hcl:2,1-5: Unsupported block type; Blocks of type "type" are not expected here. Did you',
        ),
        (
            "group = 1",
            'An argument named "group" is not expected here. Did you mean to define a block of type "group"?',
        ),
        ('meta = "x"', "Unsuitable value: map of string required, but have string"),
        ("meta { a = null }", "Unsuitable value: null value is not allowed"),
        ("meta {\n a {\n }\n}", 'Unexpected "a" block; Blocks are not allowed here'),
        ("meta {\n}\nmeta {\n}", "Duplicate meta block; meta may not be defined more than once."),
        ("datacenters = [null]", "Unsuitable value: null value is not allowed"),
        ('datacenters = ["a", [1]]', "Unsuitable value: element 1: string required, but have tuple"),
        ("priority = 1e30", "value must be a whole number, between -9223372036854775808 and"),
        ("spread {\n weight = 128\n}", "value must be a whole number, between -128 and 127"),
        ('all_at_once = "True"', 'a bool is required; to convert from string, use lowercase "true"'),
        ('group "g" {\n scaling {\n }\n}', 'The argument "max" is required, but no definition was found.'),
        ('update {\n stagger = "x"\n}', 'Unsuitable value: time: invalid duration "x"'),
        ('update {\n stagger = "5"\n}', 'Unsuitable value: time: missing unit in duration "5"'),
        ("update {\n stagger = 1.5\n}", "Unsuitable value: a duration such as"),
        ("update {\n stagger = null\n}", "Unsuitable value: null value is not allowed"),
        ('dynamic "nope" {\n}', 'Blocks of type "nope" are not expected here.'),
        ('dynamic "group" {\n content {\n }\n}', 'The argument "for_each" is required'),
        ('dynamic "group" {\n for_each = "x"\n content {\n }\n}', "Cannot use a string value in for_each."),
        ('dynamic "group" {\n for_each = [1]\n content {\n }\n}', 'The argument "labels" is required'),
        (
            'dynamic "group" {\n for_each = [1]\n labels = []\n content {\n }\n}',
            "A list of 1 label(s) is required",
        ),
        (
            'dynamic "group" {\n for_each = [1]\n labels = [[]]\n content {\n }\n}',
            "Each label must be a string.",
        ),
        (
            'dynamic "update" {\n for_each = [1]\n iterator = 1\n content {\n }\n}',
            "A bare name is required here.",
        ),
    ],
)
def test_wrong_values_name_the_place_and_the_fix(text: str, expected: str) -> None:
    assert expected in problems(text)[0]


def test_problems_in_free_form_maps_come_last_and_are_counted() -> None:
    lines = problems(
        'group "g" {\n task "t" {\n  config {\n   a = nope()\n   b = var.x\n  }\n }\n}\npriority = "x"'
    )
    assert lines == [
        "input.hcl:10,13-14: Unsuitable value type; Unsuitable value: a number is required",
        'input.hcl:5,8-12: Call to unknown function; There is no function named "nope"., and 1 other '
        "diagnostic(s)",
    ]


def test_files_without_one_job_are_refused() -> None:
    for text, expected in (
        (
            'job "a" {\n}\njob "b" {\n}\n',
            "input.hcl:3,1-4: Duplicate job block; Only one job block is allowed.",
        ),
        ("x = 1\n", 'input.hcl:1,1-2: Unsupported argument; An argument named "x" is not expected here.'),
        ("jobs {\n}\n", 'Blocks of type "jobs" are not expected here. Did you mean "job"?'),
    ):
        with pytest.raises(JobspecError) as caught:
            parse_submitted_job(text)
        assert expected in str(caught.value)


JSON_JOB = """{
  "variable": {"n": {"type": "list(number)", "default": [1, 2]}},
  "job": {"j": [{
    "type": "${"batch"}",
    "group": {"g": {
      "dynamic": {"task": {
        "for_each": "${var.n}", "labels": ["t${task.key}"], "content": {"driver": "d${task.value}"}
      }},
      "meta": {"//": "kept", "x": 1}
    }}
  }]}
}"""


def test_json_syntax_has_types_templates_and_dynamic_blocks() -> None:
    job = parse_submitted_job(JSON_JOB.replace('"${"batch"}"', '"${lower(\\"BATCH\\")}"'))
    [group] = job["TaskGroups"]
    assert job["Type"] == "batch"
    assert [(task["Name"], task["Driver"]) for task in group["Tasks"]] == [("t0", "d1"), ("t1", "d2")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"job": {"j": 5}}', "input.hcl:1,15-16: Incorrect JSON value type; Either a JSON object or"),
        ('{"job": {"j": {"typ": "x"}}}', 'No argument or block type is named "typ". Did you mean "type"?'),
        (
            '{"job": {"j": {"type": "${var.x}"}}}',
            "input.hcl:1,30-32: Unsupported attribute; This object does not have",
        ),
        ('{"job": {"j": {"type": "${"}}}', "input.hcl:1,25-27: Unclosed template sequence; "),
        ('{"variable": {"x": {"type": "li st"}}, "job": {"j": {}}}', "Invalid type specification; "),
    ],
)
def test_json_syntax_errors_have_places(text: str, expected: str) -> None:
    with pytest.raises(JobspecError) as caught:
        parse_submitted_job(text)
    assert expected in str(caught.value)


NAMES = st.sampled_from(
    [
        *(
            "job",
            "group",
            "task",
            "config",
            "env",
            "meta",
            "variable",
            "locals",
            "dynamic",
            "network",
            "port",
        ),
        *("count", "x"),
    ]
)
EXPRESSIONS = st.sampled_from(
    [
        *(
            "1",
            '"s"',
            "null",
            "[1, {a=2}]",
            "{a=1}",
            '"${var.x}-${attr.y}"',
            "local.x",
            "1/0",
            "local",
            "var",
        ),
        *("[for a in local.x : a]", "true ? 1 : [2]", "upper(1)", "x.*.y", "range(3)", "<<E\n${x}\nE\n"),
        *("jsonencode(local)", "-x"),
    ]
)


def bodies(depth: int) -> st.SearchStrategy[str]:
    attribute = st.builds("{} = {}\n".format, NAMES, EXPRESSIONS)
    if depth == 0:
        return attribute
    block = st.builds(
        "{} {} {{\n{}}}\n".format, NAMES, st.sampled_from(["", '"x"', '"y" "z"']), bodies(depth - 1)
    )
    return st.lists(st.one_of(attribute, block), max_size=4).map("".join)


@given(bodies(4), bodies(2))
def test_any_job_file_is_read_or_refused(body: str, rest: str) -> None:
    try:
        job = parse_submitted_job(f'job "j" {{\n{body}}}\n{rest}')
    except JobspecError as error:
        assert_has_message(error)
    else:
        assert job["ID"]


def assert_has_message(error: JobspecError) -> None:
    assert str(error)
    assert error.diagnostics
