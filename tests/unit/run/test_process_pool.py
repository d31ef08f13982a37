"""A function over items in processes: order, streams, deaths, errors, and what is left behind."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from contextlib import closing

import pytest
import working

from quire.run.process_pool import WINDOW, map_batches
from quire.run.workers import Batch, WorkerDied

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")


def singles(items, work=1):
    return (Batch((item,), work) for item in items)


def run(function, batches, workers=2, **more):
    with closing(map_batches(function, batches, workers=workers, **more)) as results:
        return list(results)


def is_running(pid) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.fixture
def pipe(tmp_path) -> str:
    os.mkfifo(tmp_path / "pipe")
    return str(tmp_path / "pipe")


@posix
def test_results_come_in_order_whatever_takes_long(pipe) -> None:
    """The first is done when the last one is."""
    items = [(0, pipe, "r"), *((number, "", "") for number in range(1, 9)), (9, pipe, "w")]
    assert [result for _, result in run(working.in_step, singles(items))] == list(range(10))


def test_nothing_to_do() -> None:
    assert run(working.process, iter(())) == []


def test_others_do_the_work() -> None:
    pids = {pid for _, (_, pid) in run(working.process, singles(range(20)))}
    assert os.getpid() not in pids


def test_in_a_thread() -> None:
    """Where Python allows no handling of signals."""
    results = []
    thread = threading.Thread(target=lambda: results.extend(run(working.process, singles([1, 2]))))
    thread.start()
    thread.join()
    assert [item for item, _ in results] == [1, 2]


def test_first_results_come_while_most_is_still_to_be_taken() -> None:
    taken = []

    def items():
        for number in range(1000):
            taken.append(number)
            yield Batch((number,), WINDOW // 4)

    with closing(map_batches(working.process, items(), workers=2)) as results:
        next(results)
        assert len(taken) <= 8


@posix
def test_little_is_done_behind_one_that_takes_long(pipe) -> None:
    taken = []

    def items():
        yield Batch(((0, pipe, "r"),), 1)
        for number in range(1, 1000):
            taken.append(number)
            yield Batch(((number, pipe, "w") if number == 4 else (number, "", ""),), WINDOW // 4)

    with closing(map_batches(working.in_step, items(), workers=2)) as results:
        next(results)
        assert 4 <= len(taken) <= 8


@posix
@pytest.mark.parametrize("item", ["killer", "leaver"])
def test_an_item_that_ends_its_process_is_named_and_all_others_are_done(item) -> None:
    batches = [Batch(("a", "b", item, "c"), 4), Batch(("d", "e"), 2), Batch(("f",), 1), Batch((item,), 1)]
    results = run(working.killed_by, batches)
    assert [result for result, _ in results] == ["a", "b", item, "c", "d", "e", "f", item]
    for each, result in results:
        if each == item:
            assert result == WorkerDied("its process died, perhaps for lack of memory")
        else:
            assert result == each


@posix
def test_an_item_may_fail_once(tmp_path) -> None:
    items = [str(tmp_path / name) for name in "abcd"]
    for name in "acd":
        (tmp_path / name).touch()
    results = run(working.killed_once, [Batch(tuple(items[:3]), 3), Batch((items[3],), 1)])
    assert results == [(each, each) for each in items]


def test_an_error_is_raised_in_its_turn_and_says_where_it_happened() -> None:
    seen = []
    with closing(map_batches(working.refuse, singles(range(20)), workers=2)) as results:  # noqa: SIM117
        with pytest.raises(ValueError, match="seven is refused") as caught:
            seen.extend(result for _, result in results)
    assert seen == list(range(7))
    assert "in refuse" in str(caught.value.__cause__)


def test_processes_that_never_get_ready() -> None:
    told = []
    results = run(working.process, singles(range(5)), prepare=working.leave, on_failure=told.append)
    assert [(item, pid) for item, (_, pid) in results] == [(number, os.getpid()) for number in range(5)]
    assert told == ["cannot start 2 processes (a process died at its start); this process does the work"]


@posix
def test_processes_that_cannot_be_started() -> None:
    import resource  # noqa: PLC0415  not on Windows

    told = []
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest = os.dup(0)
    os.close(lowest)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest + 1, before[1]))
    try:
        results = run(working.process, singles(range(5)), on_failure=told.append)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert {pid for _, (_, pid) in results} == {os.getpid()}
    assert told == ["cannot start 2 processes (Too many open files); this process does the work"]


def test_a_process_that_may_have_none_of_its_own() -> None:
    """Such as one of a pool of the caller's."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        results = pool.apply(_both_pids)
    assert len(set(results)) == 1


def _both_pids():
    ((_, (_, pid)),) = run(working.process, singles([1]))
    return pid, os.getpid()


@posix
def test_nobody_is_left_behind_when_the_results_are_not_wanted() -> None:
    with closing(map_batches(working.process, singles(range(1000)), workers=2)) as results:
        pids = {next(results)[1][1] for _ in range(50)}
    assert not any(map(is_running, pids))


PROGRAM = """
print("once", flush=True)
from contextlib import closing
from quire.run.process_pool import map_batches
from quire.run.workers import Batch
with closing(map_batches(abs, [Batch((1, 2), 1), Batch((3,), 1)], workers=2)) as results:
    print(list(results), flush=True)
"""


def test_the_callers_program_is_not_run_again(tmp_path) -> None:
    """As multiprocessing would, without ``if __name__ == "__main__"``."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("once\n[(1, 1), (2, 2), (3, 3)]\n", "")


ORPHANS = """
import sys, working
from quire.run.process_pool import map_batches
from quire.run.workers import Batch
results = map_batches(working.process, (Batch((number,), 1) for number in range(10**9)), workers=2)
for _, (_, pid) in results:
    print(pid, flush=True)
"""


@posix
def test_processes_end_when_the_one_that_started_them_is_killed() -> None:
    places = [os.path.dirname(working.__file__), *filter(None, [os.environ.get("PYTHONPATH")])]  # noqa: PTH120
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(places)}
    parent = subprocess.Popen([sys.executable, "-c", ORPHANS], stdout=subprocess.PIPE, env=environment)
    pids = {int(parent.stdout.readline()) for _ in range(20)}
    parent.send_signal(signal.SIGKILL)
    parent.stdout.read()  # which ends when all that could write to it have ended
    parent.stdout.close()
    parent.wait()
    assert pids
