"""The engine ``ray``: parts of a run as the rows of a Ray dataset. Ray schedules, retries, spills and shows progress.

Connects to the cluster that ``RAY_ADDRESS`` names, else to one on this machine, else starts one.
"""

from __future__ import annotations

import logging
import pickle
import sys
import warnings
from collections.abc import Callable, Generator, Sequence
from functools import partial
from importlib import import_module
from typing import Any

from quire.errors import MissingExtraError
from quire.run.parts import Done, Part

_RETRIES = 3
"""How often a part is tried again whose process or node died."""


def results(
    parts: Sequence[Part], work: Callable[[Part], Done], workers: int | None
) -> Generator[tuple[Part, Done | None], None, None]:
    """Each part with its result, in order; None if its process died each time. ``workers`` limits the tasks at once."""
    ray, data = _ray()
    if not ray.is_initialized():
        ray.init(log_to_driver=False, logging_level=logging.WARNING)
    logging.getLogger("ray.data").setLevel(logging.WARNING)
    context = data.DataContext.get_current()
    context.enable_progress_bars = sys.stderr.isatty()
    context.execution_options.preserve_order = True
    context.max_errored_blocks = -1  # a part that cannot be done must not end the run
    items = [{"index": index, "part": pickle.dumps(part)} for index, part in enumerate(parts)]
    rows = data.from_items(items, override_num_blocks=max(len(items), 1))
    following = 0
    pool = data.TaskPoolStrategy(size=workers)
    with warnings.catch_warnings(action="ignore"):  # max_retries is deprecated, and nothing replaces it in Ray 2.60
        made = rows.map(partial(_in_task, work), num_cpus=1, compute=pool, max_retries=_RETRIES)
    for row in made.iter_rows():
        yield from ((part, None) for part in parts[following : row["index"]])
        following = row["index"] + 1
        done = pickle.loads(row["done"])  # noqa: S301  made by a task of this run
        if isinstance(done, Exception):
            raise done
        yield parts[row["index"]], done
    yield from ((part, None) for part in parts[following:])


def _in_task(work: Callable[[Part], Done], row: dict[str, Any]) -> dict[str, Any]:
    """The result of a part, or its error: Ray would go on without it."""
    try:
        done: Done | Exception = work(pickle.loads(row["part"]))  # noqa: S301  made by this run
    except Exception as error:  # noqa: BLE001  raised again where the results are read
        done = error
    return {"index": row["index"], "done": pickle.dumps(done)}


def _ray() -> tuple[Any, Any]:
    try:
        return import_module("ray"), import_module("ray.data")
    except ImportError as error:
        raise MissingExtraError("ray") from error
