"""Denial of service by calls that cost much: one client gets a share and no more."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.api.v1.served import served
from tests.support.real_agent import running_agent
from yurt.api.call_rates import CLIENTS_MAX, COSTLY, CallRates
from yurt.api.errors import HttpError
from yurt.config import check


def is_refused(rates: CallRates, client: str) -> bool:
    try:
        rates.spend(client)
    except HttpError as error:
        return error.status == 429
    return False


def test_a_client_spends_its_burst_and_then_gets_what_refills() -> None:
    now = [0.0]
    rates = CallRates(per_second=2, burst=3, now=lambda: now[0])
    assert [is_refused(rates, "a") for _ in range(4)] == [False, False, False, True]
    assert not is_refused(rates, "b"), "others have their own share"
    now[0] += 0.5
    assert [is_refused(rates, "a") for _ in range(2)] == [False, True]
    now[0] += 100
    assert [is_refused(rates, "a") for _ in range(4)] == [False, False, False, True]


def test_no_more_clients_are_remembered_than_allowed() -> None:
    rates = CallRates(per_second=1, burst=1, now=lambda: 0.0)
    for number in range(CLIENTS_MAX + 10):
        rates.spend(str(number))
    assert is_refused(rates, str(CLIENTS_MAX + 9))
    assert not is_refused(rates, "0"), "forgotten"


async def test_costly_calls_are_routes_that_exist() -> None:
    known = {(method, route.path) for route in (await served()).table.routes for method in route.handlers}
    assert {path for _, path in COSTLY} <= {path for _, path in known}


def test_an_agent_refuses_too_many_with_a_text_that_says_why(tmp_path: Path) -> None:
    more = "limits {\n  http_costly_calls_per_second = 1\n  http_costly_calls_burst = 2\n}"
    with running_agent(tmp_path, client=False, more_config=more) as agent:
        body = {"JobHCL": 'job "a" {}', "Canonicalize": False}
        answers = [agent.call("POST", "/v1/jobs/parse", body) for _ in range(10)]
        assert answers[0].status != 429
        assert (answers[-1].status, "limits.http_costly_calls_per_second" in answers[-1].text) == (429, True)
        assert agent.call("GET", "/v1/status/leader").status == 200


@pytest.mark.parametrize("key", ["https_handshake_timeout", "http_header_timeout", "http_max_header_size"])
def test_limits_that_would_shut_everybody_out_are_refused(key: str, tmp_path: Path) -> None:

    file = tmp_path / "limits.hcl"
    file.write_text(f'limits {{\n  {key} = "0"\n}}')
    assert [problem.key for problem in check([str(file)])] == [f"limits.{key}"]
