"""The engines ``local`` and ``ray``, and ``map_documents``: a function over the documents of a folder, a URL or shards.

A few tasks for each core are in progress, so the memory of this process does not grow with the number of parts.
"""

import logging
import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from importlib import import_module
from typing import Any

from quire.errors import InputError, MissingExtraError, QuireError, invalid_value
from quire.run.parts import PART, Part, PartResult, Problem, parts_of, read_documents, read_texts
from quire.run.process_pool import map_batches
from quire.run.workers import Batch, WorkerDied, cores

Function = Callable[[Any], Any]  # takes a record batch of documents (`path`, `text`), returns a record batch
OnProblem = Callable[[str, str], None]  # called with the name of a document and why it cannot be read
Results = Generator[tuple[Any, Any], None, None]  # each item with its result, or WorkerDied, in order
Engine = Callable[[Iterable[Any], Callable[[Any], Any], int | None], Results]

_RETRIES = 3  # how often Ray tries a part again whose process or node died
_PER_CORE = 8  # how many of Ray's tasks for each core may be unfinished, or done and waiting for an earlier one


def refuse_problem(path: str, reason: str) -> None:
    """Raise an InputError for a document that cannot be read."""
    raise InputError(path, reason)


def map_documents(
    source: str,
    function: Function,
    *,
    engine: str = "local",
    workers: int | None = None,
    on_problem: OnProblem = refuse_problem,
) -> Iterator[Any]:
    """Yield the record batches that ``function`` returns for the documents of a source, in order.

    ``source`` is a folder, a URL, or shards: ``shards/*.parquet``. ``engine`` is ``local`` (processes on this machine;
    ``function`` must be importable) or ``ray``. ``on_problem`` gets the path of each document that cannot be read or
    that kills its process, and the reason; by default the first one raises an InputError.
    """
    parts, problems = parts_of(source)
    with closing(results(parts, partial(_apply, function), engine=engine, workers=workers)) as running:
        for problem in problems:
            on_problem(*problem)
        for done in running:
            for problem in done.problems:
                on_problem(*problem)
            yield done.value


def _apply(function: Function, part: Part) -> PartResult:
    documents, problems = read_documents(part)
    return PartResult(function(documents), problems)


def engine_of(name: str | None) -> Engine:
    """The engine of that name; None does the work in this process."""
    if name is None:
        return lambda items, work, _: ((item, work(item)) for item in items)
    if name not in ENGINES:
        raise invalid_value("engine", name, f"choose from: {', '.join(ENGINES)}")
    return ENGINES[name]


def results(
    parts: Sequence[Part], work: Callable[[Part], PartResult], *, engine: str | None, workers: int | None = None
) -> Generator[PartResult, None, None]:
    """The results of ``work`` for all parts, in order. A document that kills its process is a problem of its part."""
    run = engine_of(engine)
    with closing(run(parts, work, workers)) as running:
        for part, done in running:
            yield _without_killers(part, work, run) if isinstance(done, WorkerDied) else done


def _without_killers(part: Part, work: Callable[[Part], PartResult], run: Engine) -> PartResult:
    """The result of a part that killed its process: each document is tried alone, then the others together."""
    paths: Sequence[str] = part.paths
    with suppress(QuireError):
        paths = paths or [path for path, _ in read_texts(part)[0]]
    part = part._replace(version="")  # less than the part itself, so no run may take it for finished
    with closing(run([part._replace(paths=(path,)) for path in paths], work, 1)) as alone:
        killers = {single.paths[0] for single, done in alone if isinstance(done, WorkerDied)}
    reason = "its process died, perhaps for lack of memory; cut it into smaller files"
    problems = [Problem(path, reason) for path in paths if path in killers]
    rest = tuple(path for path in paths if path not in killers)
    with closing(run([part._replace(paths=rest)] if rest else [], work, 1)) as again:
        for _, done in again:
            if not isinstance(done, WorkerDied):
                return PartResult(done.value, [*done.problems, *problems])
    return PartResult(None, [*problems, *[Problem(path, "its process died again and again") for path in rest]])


def _local(items: Iterable[Any], work: Callable[[Any], Any], workers: int | None) -> Results:
    """The engine ``local``."""
    count = min(workers or cores(), len(items) or 1) if isinstance(items, Sequence) else workers or cores()
    return map_batches(work, (Batch((item,), PART) for item in items), workers=count)


def _ray(items: Iterable[Any], work: Callable[[Any], Any], workers: int | None) -> Results:
    """The engine ``ray``; ``workers`` limits the tasks at once."""
    try:
        ray: Any = import_module("ray")
    except ImportError as error:
        raise MissingExtraError("ray") from error
    if not ray.is_initialized():
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # silences a warning about GPUs
        ray.init(log_to_driver=False, logging_level=logging.WARNING)
    task = ray.remote(num_cpus=1, max_retries=_RETRIES)(lambda work, item: work(item))
    shared = ray.put(work)
    waiting: deque[tuple[Any, Any]] = deque()
    for item in items:
        waiting.append((item, task.remote(shared, item)))
        while len(waiting) >= (workers or _PER_CORE * max(1, int(ray.cluster_resources().get("CPU", 1)))):
            yield _ray_result(ray, *waiting.popleft())
    for item, reference in waiting:
        yield _ray_result(ray, item, reference)


def _ray_result(ray: Any, item: Any, reference: Any) -> tuple[Any, Any]:
    """An item with the result of its task; WorkerDied if its process or node did each time."""
    try:
        return item, ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None  # the error itself, which Ray wraps
    except ray.exceptions.RayError:
        return item, WorkerDied("its process or node died each time")


ENGINES: Mapping[str, Engine] = {"local": _local, "ray": _ray}
