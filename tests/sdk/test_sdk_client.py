"""The client against a server that answers as recorded."""

import json
import socket

import pytest

from tests.sdk.replay_server import ReplayServer, Reply, Request
from yurt.sdk import ApiError, BadAnswer, Client, ClientSettings, ServerUnreachable, TlsSettings, evals, jobs
from yurt.sdk.errors import BadSettings
from yurt.sdk.types.evals import Evaluation
from yurt.sdk.wire import api_name, decode, without_nulls


def test_recorded_job_list_is_decoded(server: ReplayServer, client: Client) -> None:
    server.replay("job_lists")
    answer = jobs.listing(client)
    assert [job.id for job in answer.value][:3] == ["l-a", "l-b", "l-c"]
    assert answer.value[0].type == "service"
    assert answer.index == 149


def test_error_status_becomes_an_api_error(server: ReplayServer, client: Client) -> None:
    server.on("GET", "/v1/job/nope", Reply(b"job not found\n\n", 404))
    with pytest.raises(ApiError) as failure:
        jobs.read(client, "nope")
    assert failure.value.status == 404
    assert str(failure.value) == "Unexpected response code: 404 (job not found)"


def test_ids_are_escaped_in_paths(server: ReplayServer, client: Client) -> None:
    server.on("GET", "/v1/job/a%2Fb%20c", {"ID": "a/b c"})
    assert jobs.read(client, "a/b c").value.id == "a/b c"


def test_scope_and_token_travel_with_every_call(server: ReplayServer) -> None:
    server.on("GET", "/v1/jobs", [])
    client = Client(server.address, token="secret", namespace="team", region="north", basic_auth="me:pw")
    jobs.listing(client)
    jobs.listing(client.within(namespace="other"))
    client.close()
    first, second = server.requests
    assert first.query == {"namespace": "team", "region": "north"}
    assert first.headers["X-Nomad-Token"] == "secret"
    assert first.headers["Authorization"] == "Basic bWU6cHc="
    assert second.query["namespace"] == "other"


def test_connection_is_kept_and_reopened(server: ReplayServer, client: Client) -> None:
    server.on("GET", "/v1/jobs", Reply([]), Reply([], headers={"Connection": "close"}), Reply([]))
    for _ in range(3):
        jobs.listing(client)
    assert len(server.requests) == 3


def test_nobody_listening_is_named(client: Client) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    with pytest.raises(ServerUnreachable) as failure:
        jobs.listing(Client(f"http://127.0.0.1:{port}"))
    address = f"127.0.0.1:{port}"
    assert str(failure.value) == (
        f'Get "http://{address}/v1/jobs": dial tcp {address}: connect: connection refused'
    )


def test_unknown_host_is_named() -> None:
    with pytest.raises(ServerUnreachable, match=r"lookup no-such-host\.invalid: no such host"):
        jobs.listing(Client("http://no-such-host.invalid:4646"))


@pytest.mark.parametrize("address", ["127.0.0.1:4646", "ftp://x", "http://h:notaport"])
def test_unusable_address_is_refused(address: str) -> None:
    with pytest.raises(BadSettings):
        Client(address)


def test_missing_tls_file_is_refused(tmp_path: object) -> None:
    with pytest.raises(BadSettings, match="TLS files cannot be loaded"):
        TlsSettings(ca_cert=f"{tmp_path}/none.pem").context()


def test_answer_of_another_shape_is_reported(server: ReplayServer, client: Client) -> None:
    server.on("GET", "/v1/jobs", Reply(b"<html>not an API</html>"))
    with pytest.raises(BadAnswer, match="unexpected answer from"):
        jobs.listing(client)


def test_watch_yields_only_changes(server: ReplayServer, client: Client) -> None:
    server.on(
        "GET",
        "/v1/evaluation/e",
        Reply({"ID": "e", "Status": "pending"}, headers={"X-Nomad-Index": "5"}),
        Reply({"ID": "e", "Status": "pending"}, headers={"X-Nomad-Index": "5"}),
        Reply({"ID": "e", "Status": "complete"}, headers={"X-Nomad-Index": "7"}),
    )
    changes = client.watch(evals.read, "e")
    assert [next(changes).value.status, next(changes).value.status] == ["pending", "complete"]
    assert [request.query.get("index") for request in server.requests] == [None, "5", "5"]
    assert server.requests[1].query["wait"] == "300000ms"


def test_register_sends_source_and_index(server: ReplayServer, client: Client) -> None:
    def answer(request: Request) -> Reply:
        return Reply({"EvalID": "e", "JobModifyIndex": 9, "Warnings": ""})

    server.on("PUT", "/v1/jobs", answer)
    registered = jobs.register(
        client, {"ID": "web"}, source={"Source": "job", "Format": "hcl2"}, check_index=0
    ).value
    sent = json.loads(server.requests[0].body)
    assert registered.eval_id == "e"
    assert sent == {
        "Job": {"ID": "web"},
        "Submission": {"Source": "job", "Format": "hcl2"},
        "EnforceIndex": True,
        "JobModifyIndex": 0,
    }


def test_environment_prefers_its_own_names() -> None:
    settings = ClientSettings.from_environment(
        {
            "NOMAD_ADDR": "http://nomad:1",
            "YURT_ADDR": "http://yurt:2",
            "NOMAD_TOKEN": "t",
            "NOMAD_SKIP_VERIFY": "true",
        }
    )
    assert settings.address == "http://yurt:2"
    assert settings.token == "t"
    assert settings.tls.skip_verify


@pytest.mark.parametrize(
    ("field", "name"),
    [("id", "ID"), ("eval_id", "EvalID"), ("failed_tg_allocs", "FailedTGAllocs"), ("http_addr", "HTTPAddr")],
)
def test_api_names(field: str, name: str) -> None:
    assert api_name(field) == name


def test_null_means_unset() -> None:
    assert without_nulls({"A": None, "B": [None, {"C": None}]}) == {"B": [None, {}]}
    assert decode(b'{"ID": "x", "FailedTGAllocs": null}', Evaluation).failed_tg_allocs == {}
