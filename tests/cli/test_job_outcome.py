"""What a deployment waits for, in words that say what to do."""

import pytest

from yurt.cli.job_outcome import progress
from yurt.sdk.types.deployments import Deployment, GroupState

BY_HAND = "Deployment is running but requires manual promotion"


@pytest.mark.parametrize(
    ("deployment", "text"),
    [
        pytest.param(
            Deployment(
                job_id="web",
                status="running",
                task_groups={"a": GroupState(desired_total=3, placed_allocs=2, healthy_allocs=1)},
            ),
            'healthy allocations: "a" (1 of 3 healthy, 2 placed)',
            id="health",
        ),
        pytest.param(
            Deployment(
                job_id="web",
                status="running",
                status_description=BY_HAND,
                task_groups={"a": GroupState(desired_total=3, desired_canaries=1, placed_allocs=1)},
            ),
            'healthy allocations: "a" (0 of 3 healthy, 1 placed, 1 canaries to be promoted)',
            id="health of canaries",
        ),
        pytest.param(
            Deployment(
                job_id="web",
                status="running",
                status_description=BY_HAND,
                task_groups={"a": GroupState(desired_total=3, desired_canaries=1, healthy_allocs=1)},
            ),
            "the promotion of healthy canaries in \"a\": 'yurt job promote web'",
            id="a person",
        ),
        pytest.param(
            Deployment(id="0123456789", status="paused", task_groups={"a": GroupState(desired_total=1)}),
            "'yurt deployment resume 01234567': \"a\" (0 of 1 healthy, 0 placed)",
            id="a paused deployment",
        ),
    ],
)
def test_progress_names_what_is_missing(deployment: Deployment, text: str) -> None:
    assert progress(deployment) == text
