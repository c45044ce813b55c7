"""The autopilot's configuration: durations are texts, and must be durations."""

from __future__ import annotations

from tests.api.v1.served import served

PATH = "/v1/operator/autopilot/configuration"


async def test_durations_are_kept_in_their_usual_form() -> None:
    api = await served()
    assert (await api.call("PUT", PATH, {"LastContactThreshold": "1500ms"})).text == "true"
    stored = (await api.call("GET", PATH)).json
    assert (stored["LastContactThreshold"], stored["ServerStabilizationTime"]) == ("1.5s", "0s")


async def test_a_text_that_is_no_duration_is_refused() -> None:
    api = await served()
    reply = await api.call("PUT", PATH, {"ServerStabilizationTime": "soon"})
    assert (reply.status, reply.text) == (
        400,
        'Error parsing autopilot config: time: invalid duration "soon"',
    )
    assert (await api.call("GET", PATH)).json["ServerStabilizationTime"] == "10s"
