"""Sizes to processes and batches."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quire.run.workers import PER_DOCUMENT, PER_WORKER, Batch, batches, work_of, worker_count

MEGABYTE = 1024 * 1024


def test_little_work_is_done_where_it_is() -> None:
    assert worker_count([], jobs=None, cores=8) == 1
    assert worker_count([work_of(10)] * 200, jobs=None, cores=8) == 1
    assert worker_count([PER_WORKER, PER_WORKER - 1], jobs=None, cores=8) == 1


def test_much_work_is_shared_by_all_cores() -> None:
    assert worker_count([MEGABYTE] * 1000, jobs=None, cores=8) == 8
    assert worker_count([MEGABYTE] * 1000, jobs=None, cores=1) == 1


def test_each_process_has_enough_to_do() -> None:
    assert worker_count([PER_WORKER // 4] * 12, jobs=None, cores=8) == 3


def test_sizes_decide_and_not_numbers() -> None:
    assert worker_count([work_of(10 * MEGABYTE)] * 2, jobs=None, cores=2) == 2
    assert worker_count([work_of(100)] * 20, jobs=None, cores=2) == 1


def test_very_many_small_documents_are_much_work() -> None:
    assert worker_count([work_of(0)] * (2 * PER_WORKER // PER_DOCUMENT), jobs=None, cores=2) == 2


def test_one_document_cannot_be_shared() -> None:
    assert worker_count([100 * MEGABYTE], jobs=None, cores=8) == 1
    assert worker_count([100 * MEGABYTE], jobs=8, cores=8) == 1


def test_what_is_asked_for_is_done() -> None:
    assert worker_count([1, 1, 1], jobs=2, cores=1) == 2
    assert worker_count([MEGABYTE] * 1000, jobs=1, cores=8) == 1
    assert worker_count([MEGABYTE] * 1000, jobs=3, cores=8) == 3


def test_batches_are_filled_in_order() -> None:
    items = [("a", 4), ("b", 5), ("c", 2), ("d", 30), ("e", 10), ("f", 1)]
    assert list(batches(items, most=10)) == [
        Batch(("a", "b"), 9),
        Batch(("c",), 2),
        Batch(("d",), 30),
        Batch(("e",), 10),
        Batch(("f",), 1),
    ]


def test_batches_are_made_when_they_are_asked_for() -> None:
    taken = []
    made = batches(((number, taken.append(number) or 6) for number in range(100)), most=10)
    assert next(made) == Batch((0,), 6)
    assert taken == [0, 1]


@given(st.lists(st.integers(0, 50)), st.integers(1, 60))
def test_batches_hold_everything_once(works, most) -> None:
    made = list(batches(enumerate(works), most=most))
    assert [item for batch in made for item in batch.items] == list(range(len(works)))
    for batch in made:
        assert batch.work == sum(works[item] for item in batch.items)
        assert batch.work <= most or len(batch.items) == 1
