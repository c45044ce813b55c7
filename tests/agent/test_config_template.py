"""Driver config is evaluated strictly: a name that does not exist fails the task's start."""

from __future__ import annotations

from typing import Any

import pytest

from yurt.agent.config_template.evaluate import evaluate_config
from yurt.agent.task_env import TaskEnv

ENV = TaskEnv(
    {"NOMAD_TASK_NAME": "web", "NOMAD_PORT_db_main": "20002", "a.b": "dotted", "HOME": "/root"},
    {
        "node.unique.name": "node1",
        "attr.kernel.name": "linux",
        "attr.driver.docker": "1",
        "attr.driver.docker.version": "27.0",
        "attr.unique.network.ip-address": "10.0.0.1",
        "meta.my-key": "m",
    },
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("plain", "plain"),
        ("${NOMAD_TASK_NAME}", "web"),
        ("x-${NOMAD_TASK_NAME}-${node.unique.name}!", "x-web-node1!"),
        ('${env["HOME"]}', "/root"),
        ("${env.HOME}", "/root"),
        ("${a.b}", "dotted"),
        ("${attr.unique.network.ip-address}", "10.0.0.1"),
        ("${meta.my-key}", "m"),
        ("${attr.driver.docker.version}", "27.0"),
        ("$${NOMAD_TASK_NAME}", "${NOMAD_TASK_NAME}"),
        ("a$${b}${ NOMAD_TASK_NAME }", "a${b}web"),
        ("${upper(NOMAD_TASK_NAME)}", "WEB"),
        ('${substr("hello", 1, 3)}', "ell"),
        ('${substr("hello", -3, -1)}', "llo"),
        ("${strlen(NOMAD_TASK_NAME)}", 3),
        ("n=${max(1, 7, 3)}", "n=7"),
        ("${min(2, 1.5)}", 1.5),
        ("${abs(-4)}", 4),
        ('${int("12")}', 12),
        ('${coalesce(null, "x")}', "x"),
        ("${concat([1], [2, true])}", [1, 2, True]),
        ("${length([1, 2])}", 2),
        ("${hasindex([1], 1)}", False),
        ('${jsondecode("{\\"k\\": [5]}").k[0]}', 5),
        ('${jsonencode(["}"])}', '["}"]'),
        ('${reverse(lower("AB"))}', "ba"),
        ("yes-${hasindex([1], 0)}", "yes-true"),
        ("${(NOMAD_TASK_NAME)}", "web"),
        ('${jsonencode(env["HOME"])}', '"/root"'),
    ],
)
def test_expressions(text: str, value: object) -> None:
    assert evaluate_config({"x": text}, ENV) == ({"x": value}, [])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "${nope.foo}",
            'Unknown variable: There is no variable named "nope". Did you mean "node"?',
        ),
        ("${NOMAD_META_zz}", 'Unknown variable: There is no variable named "NOMAD_META_zz".'),
        (
            "${attr.nosuch}",
            'Unsupported attribute: This object does not have an attribute named "nosuch".',
        ),
        (
            '${env["X"]}',
            "Invalid index: The given key does not identify an element in this collection value.",
        ),
        (
            "${uper(HOME)}",
            'Call to unknown function: There is no function named "uper". Did you mean "upper"?',
        ),
        ("${int(HOME)}", 'Error in function call: Call to function "int" failed'),
        (
            "d=${attr.driver.docker}",
            "Invalid template interpolation value: Cannot include the given value",
        ),
        ("${HOME", "the expression does not end"),
        ("${}", "the expression ends too early"),
        ("${HOME HOME}", "'HOME' is not expected here"),
        ("${HOME.}", "the expression ends too early"),
        ("${(HOME}", "')' is missing"),
        ("${HOME ? 1 : 2}", "'?' is not expected here"),
        ("${" + "(" * 60 + "1" + ")" * 60 + "}", "nested more than 50 levels"),
        ('${"\\q"}', "is not a string"),
    ],
)
def test_what_is_wrong_is_said(text: str, problem: str) -> None:
    _, problems = evaluate_config({"x": text}, ENV)

    assert len(problems) == 1
    assert problem in problems[0]


def test_all_strings_of_nested_config_are_evaluated_and_all_problems_given() -> None:
    config: dict[str, Any] = {
        "command": "/bin/echo",
        "args": ["${NOMAD_TASK_NAME}", "${nope}"],
        "mount": ({"source": "${HOME}", "readonly": True, "size": 3},),
        "labels": {"${key}": "${zz}"},
    }
    values, problems = evaluate_config(config, ENV)

    assert values["mount"] == [{"source": "/root", "readonly": True, "size": 3}]
    assert [problem[:46] for problem in problems] == [
        'Unknown variable: There is no variable named "',
        'Unknown variable: There is no variable named "',
    ]
