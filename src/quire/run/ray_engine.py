"""The engine ``ray``: a task for each part. Ray schedules them and repeats those of a node that dies.

Connects to the cluster that ``RAY_ADDRESS`` names, else to one on this machine, else starts one. A few tasks for each
core are in progress, so the memory of this process does not grow with the number of parts.
"""

from __future__ import annotations

import logging
import os
from collections import deque
from collections.abc import Callable, Generator, Iterable
from importlib import import_module
from typing import Any, TypeVar

from quire.errors import MissingExtraError
from quire.run.process_pool import WorkerDied

Item = TypeVar("Item")

_RETRIES = 3
"""How often a part is tried again whose process or node died."""
_PER_CORE = 2
"""How many unfinished tasks there may be for each core: one that runs, and one that waits for it."""
_AHEAD = 4
"""How many times as many tasks may be unfinished, or done and waiting for an earlier one."""


def results(
    items: Iterable[Item], work: Callable[[Item], Any], workers: int | None
) -> Generator[tuple[Item, Any], None, None]:
    """Each item with its result, in order, or WorkerDied. ``workers`` limits the tasks at once."""
    try:
        ray: Any = import_module("ray")
    except ImportError as error:
        raise MissingExtraError("ray") from error
    if not ray.is_initialized():
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # silences a warning about GPUs
        ray.init(log_to_driver=False, logging_level=logging.WARNING)
    task = ray.remote(num_cpus=1, max_retries=_RETRIES)(_in_task)
    shared = ray.put(work)
    remaining = iter(items)
    waiting: deque[tuple[Item, Any]] = deque()
    unfinished: list[Any] = []
    has_more = True
    while True:
        limit = workers or _PER_CORE * max(1, int(ray.cluster_resources().get("CPU", 1)))
        while has_more and len(unfinished) < limit and len(waiting) < _AHEAD * limit:
            following = next(remaining, None)
            has_more = following is not None
            if following is not None:
                unfinished.append(task.remote(shared, following))
                waiting.append((following, unfinished[-1]))
        if not waiting:
            return
        if waiting[0][1] in unfinished:
            unfinished = ray.wait(unfinished, num_returns=1)[1]
        else:
            item, result = waiting.popleft()
            yield item, _result(ray, result)


def _result(ray: Any, reference: Any) -> Any:
    """The result of a task; WorkerDied if its process or node did each time."""
    try:
        done = ray.get(reference)
    except ray.exceptions.RayTaskError:
        raise
    except ray.exceptions.RayError:
        return WorkerDied("its process or node died each time")
    if isinstance(done, Exception):
        raise done
    return done


def _in_task(work: Callable[[Item], Any], item: Item) -> Any:
    """The result for an item, or its error as it is: Ray would wrap it."""
    try:
        return work(item)
    except Exception as error:  # noqa: BLE001  raised again where the results are read
        return error
