"""The evaluation broker: order, one evaluation of a job at a time, and what comes after each answer."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from tests.state.builders import START_NS, an_eval
from yurt.model.evaluation import Evaluation
from yurt.model.job import BATCH, SERVICE
from yurt.model.times import SECOND_NS, time_text
from yurt.model.wire import EvalID
from yurt.server.broker import (
    DELIVERY_LIMIT,
    FAILED_QUEUE,
    INITIAL_NACK_DELAY_S,
    NACK_TIMEOUT_S,
    SUBSEQUENT_NACK_DELAY_S,
    Broker,
    Delivery,
    NotOutstanding,
)


class _Desk:
    """A broker with a hand on the clock."""

    def __init__(self) -> None:
        tokens = count(1)
        self.broker = Broker(lambda: f"token-{next(tokens)}")
        self.now = 100.0

    @property
    def wall(self) -> int:
        return START_NS + round(self.now * SECOND_NS)

    def add(self, eval_id: str, job_id: str = "", **changes: Any) -> Evaluation:
        evaluation = an_eval(eval_id, job_id or f"job-of-{eval_id}", **changes)
        self.broker.enqueue(evaluation, now=self.now, wall=self.wall)
        return evaluation

    def take(self, *types: str) -> Delivery:
        delivery = self.broker.dequeue(types or (SERVICE, BATCH), now=self.now)
        assert delivery is not None, "nothing is ready"
        return delivery

    def taken(self, *types: str) -> list[str]:
        """Take everything that is ready."""
        found: list[str] = []
        while (delivery := self.broker.dequeue(types or (SERVICE, BATCH), now=self.now)) is not None:
            found.append(delivery.evaluation.id)
        return found

    def ack(self, delivery: Delivery) -> None:
        self.broker.ack(delivery, now=self.now, wall=self.wall)

    def nack(self, delivery: Delivery) -> None:
        self.broker.nack(delivery, now=self.now)

    def pass_time(self, seconds: float) -> None:
        self.now += seconds
        self.broker.tick(now=self.now, wall=self.wall)

    @property
    def next_due(self) -> float | None:
        return self.broker.next_due(now=self.now, wall=self.wall)


def test_the_most_urgent_comes_first_then_the_oldest() -> None:
    desk = _Desk()
    desk.add("late", create_index=9)
    desk.add("early", create_index=3)
    desk.add("urgent", priority=90, create_index=20)
    desk.add("later still", create_index=9)
    assert desk.taken() == ["urgent", "early", "late", "later still"]


def test_types_are_queued_apart_and_the_most_urgent_of_those_asked_for_comes() -> None:
    desk = _Desk()
    desk.add("service", priority=50)
    desk.add("batch", priority=70, type=BATCH)
    desk.add("system", priority=90, type="system")
    assert desk.broker.has_ready(("system",))
    assert not desk.broker.has_ready(("sysbatch",))
    assert desk.taken(SERVICE, BATCH) == ["batch", "service"]
    assert desk.taken("system") == ["system"]


def test_one_evaluation_of_a_job_at_a_time() -> None:
    desk = _Desk()
    desk.add("first", "web")
    desk.add("second", "web")
    desk.add("elsewhere", "web", namespace="other")
    first = desk.take()
    assert first.evaluation.id == "first"
    assert desk.taken() == ["elsewhere"], "namespaces are apart"
    desk.ack(first)
    assert desk.taken() == ["second"]


def test_of_those_that_waited_only_the_best_runs_and_the_rest_are_needless() -> None:
    desk = _Desk()
    desk.add("running", "web")
    delivery = desk.take()
    desk.add("old", "web", modify_index=5)
    desk.add("new", "web", modify_index=8)
    desk.add("newest but unimportant", "web", modify_index=9, priority=10)
    desk.ack(delivery)
    assert desk.taken() == ["new"]
    assert [one.id for one in desk.broker.take_cancelable()] == ["old", "newest but unimportant"]
    assert desk.broker.take_cancelable() == []
    desk.add("old", "web", modify_index=5)
    assert desk.broker.stats()["pending"] == 1, "a cancelled one is forgotten, and may come again"


def test_a_known_evaluation_is_not_queued_twice() -> None:
    desk = _Desk()
    for _ in range(2):
        desk.add("e1")
    delivery = desk.take()
    desk.add("e1")
    assert desk.taken() == []
    desk.ack(delivery)
    desk.add("e1")
    assert desk.taken() == ["e1"]


@pytest.mark.parametrize(
    "answer",
    [
        _Desk.ack,
        _Desk.nack,
        lambda desk, delivery: desk.broker.keep(delivery, now=desk.now),
    ],
    ids=["ack", "nack", "keep"],
)
@pytest.mark.parametrize("fault", ["answered already", "another token", "timed out"])
def test_only_the_holder_may_answer(answer: Callable[[_Desk, Delivery], None], fault: str) -> None:
    desk = _Desk()
    desk.add("e1")
    delivery = desk.take()
    match fault:
        case "answered already":
            desk.ack(delivery)
        case "another token":
            delivery = Delivery(evaluation=delivery.evaluation, token="stolen")
        case "timed out":
            desk.pass_time(NACK_TIMEOUT_S)
    assert not desk.broker.is_held(delivery)
    with pytest.raises(NotOutstanding):
        answer(desk, delivery)


def test_a_refused_evaluation_comes_back_later_and_later_then_fails() -> None:
    desk = _Desk()
    desk.add("e1", "web")
    desk.add("behind", "web")
    for delay_s in (INITIAL_NACK_DELAY_S, SUBSEQUENT_NACK_DELAY_S):
        desk.nack(desk.take())
        assert desk.taken() == [], "its job waits with it"
        assert desk.next_due == pytest.approx(delay_s)
        desk.pass_time(delay_s - 0.001)
        assert not desk.broker.has_ready((SERVICE,))
        desk.pass_time(0.001)
    desk.nack(desk.take())
    assert DELIVERY_LIMIT == 3
    assert desk.taken() == []
    failed = desk.take(FAILED_QUEUE)
    assert failed.evaluation.id == "e1"
    desk.ack(failed)
    assert desk.taken() == ["behind"]


def test_silence_is_a_refusal() -> None:
    desk = _Desk()
    desk.add("e1")
    first = desk.take()
    assert desk.next_due == pytest.approx(NACK_TIMEOUT_S)
    desk.pass_time(NACK_TIMEOUT_S)
    assert not desk.broker.is_outstanding(EvalID("e1"))
    desk.pass_time(INITIAL_NACK_DELAY_S)
    second = desk.take()
    assert second.token != first.token


def test_progress_gives_the_holder_its_full_time_again() -> None:
    desk = _Desk()
    desk.add("e1")
    delivery = desk.take()
    desk.pass_time(NACK_TIMEOUT_S - 1)
    desk.broker.keep(delivery, now=desk.now)
    desk.pass_time(NACK_TIMEOUT_S - 1)
    assert desk.broker.is_held(delivery)
    desk.ack(delivery)
    assert desk.next_due is None


def test_a_relative_delay() -> None:
    desk = _Desk()
    desk.add("later", "web", wait=30 * SECOND_NS)
    desk.add("now", "web")
    assert desk.taken() == ["now"], "waiting does not hold the job's other evaluations"
    assert desk.broker.stats() == {"ready": 0, "unacked": 1, "pending": 0, "waiting": 1}
    desk.pass_time(30)
    assert desk.broker.stats() == {"ready": 0, "unacked": 1, "pending": 1, "waiting": 0}


def test_delays_until_a_time_end_in_order() -> None:
    desk = _Desk()
    desk.add("second", wait_until=time_text(desk.wall + 20 * SECOND_NS))
    desk.add("first", wait_until=time_text(desk.wall + 10 * SECOND_NS))
    desk.add("past", wait_until=time_text(desk.wall - SECOND_NS))
    assert desk.taken() == ["past"]
    assert desk.next_due == pytest.approx(10)
    desk.pass_time(10)
    assert desk.taken() == ["first"]
    desk.pass_time(10)
    assert desk.taken() == ["second"]


def test_only_what_waits_for_a_set_time_can_be_dropped() -> None:
    desk = _Desk()
    desk.add("delayed", "web", wait_until=time_text(desk.wall + 10 * SECOND_NS))
    desk.add("kept", wait_until=time_text(desk.wall + 10 * SECOND_NS))
    desk.add("refused", "api")
    desk.nack(desk.take())
    desk.broker.drop([EvalID("delayed"), EvalID("refused"), EvalID("unknown")])
    desk.pass_time(10)
    assert sorted(desk.taken()) == ["kept", "refused"]
    desk.add("delayed", "web")
    assert desk.taken() == ["delayed"], "a dropped one is forgotten, and may come again"


def test_what_the_holder_requeues_comes_again_after_the_ack() -> None:
    desk = _Desk()
    evaluation = desk.add("e1")
    delivery = desk.take()
    desk.broker.requeue(evaluation, "another token")
    desk.broker.requeue(evaluation, delivery.token)
    assert desk.taken() == []
    desk.ack(delivery)
    again = desk.take()
    assert again.evaluation.id == "e1"
    desk.ack(again)
    assert desk.taken() == []


def test_a_refusal_forgets_what_was_to_be_requeued() -> None:
    desk = _Desk()
    evaluation = desk.add("e1")
    delivery = desk.take()
    desk.broker.requeue(evaluation, delivery.token)
    desk.nack(delivery)
    desk.pass_time(INITIAL_NACK_DELAY_S)
    desk.ack(desk.take())
    assert desk.taken() == []


def test_clearing_forgets_everything() -> None:
    desk = _Desk()
    desk.add("ready")
    desk.add("delayed", wait_until=time_text(desk.wall + 10 * SECOND_NS))
    held = desk.take()
    desk.broker.clear()
    assert desk.broker.stats() == {"ready": 0, "unacked": 0, "pending": 0, "waiting": 0}
    with pytest.raises(NotOutstanding):
        desk.ack(held)
    desk.add("ready")
    assert desk.taken() == ["ready"]
