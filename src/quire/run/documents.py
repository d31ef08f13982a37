"""``map_documents``: a function over the documents of a folder, a URL or shards, on all cores or on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from types import MappingProxyType
from typing import Any, TypeVar

from quire.errors import InputError, invalid_value
from quire.run import ray_engine
from quire.run.parts import PART, Part, PartResult, Problem, names_in, parts_of, read_documents
from quire.run.process_pool import WorkerDied, map_batches
from quire.run.workers import Batch, cores

Function = Callable[[Any], Any]
"""Takes a record batch of documents (``path``, ``text``), returns a record batch."""
Work = Callable[[Part], PartResult]
Item = TypeVar("Item")
Result = TypeVar("Result")
Engine = Callable[[Iterable[Any], Callable[[Any], Any], int | None], Generator[tuple[Any, Any], None, None]]
"""Yields each item with the result of a function, in order; WorkerDied if its process died each time."""


def map_documents(
    source: str,
    function: Function,
    *,
    engine: str = "local",
    workers: int | None = None,
    on_problem: Callable[[str, str], None] | None = None,
) -> Iterator[Any]:
    """Yield the record batches that ``function`` returns for the documents of a source, in order.

    ``source`` is a folder, a URL, or shards: ``shards/*.parquet``. ``engine`` is ``local`` (processes on this machine;
    ``function`` must be importable) or ``ray``. ``on_problem`` gets the path of each document that cannot be read or
    that kills its process, and the reason; by default the first one raises an InputError.
    """
    parts, problems = parts_of(source)
    with closing(results(parts, partial(_apply, function), engine=engine, workers=workers)) as running:
        _report(problems, on_problem)
        for done in running:
            _report(done.problems, on_problem)
            yield done.value


def _apply(function: Function, part: Part) -> PartResult:
    documents, problems = read_documents(part)
    return PartResult(function(documents), tuple(problems))


def _report(problems: Iterable[Problem], on_problem: Callable[[str, str], None] | None) -> None:
    for path, reason in problems:
        if on_problem is None:
            raise InputError(path, reason)
        on_problem(path, reason)


def engine_of(name: str | None) -> Engine:
    """The engine of that name; None does the work in this process."""
    if name is None:
        return lambda items, work, _: ((item, work(item)) for item in items)
    if name not in ENGINES:
        raise invalid_value("engine", name, f"choose from: {', '.join(ENGINES)}")
    return ENGINES[name]


def results(
    parts: Sequence[Part], work: Work, *, engine: str | None, workers: int | None = None
) -> Generator[PartResult, None, None]:
    """The results of ``work`` for all parts, in order. A document that kills its process is a problem of its part."""
    run = engine_of(engine)
    with closing(run(parts, work, workers)) as running:
        for part, done in running:
            yield _without_killers(part, work, run) if isinstance(done, WorkerDied) else done


def _without_killers(part: Part, work: Work, run: Engine) -> PartResult:
    """The result of a part that killed its process: each document is tried alone, then the others together."""
    paths = names_in(part)
    part = part._replace(version="")  # less than the part itself, so no run may take it for finished
    with closing(run([part._replace(paths=(path,)) for path in paths], work, 1)) as alone:
        killers = {single.paths[0] for single, done in alone if isinstance(done, WorkerDied)}
    problems = [
        Problem(path, "its process died, perhaps for lack of memory; cut it into smaller files") for path in killers
    ]
    rest = part._replace(paths=tuple(path for path in paths if path not in killers))
    if not rest.paths:
        return PartResult(None, tuple(problems))
    with closing(run([rest], work, 1)) as again:
        _, done = next(again)
    if isinstance(done, WorkerDied):
        done = PartResult(None, tuple(Problem(path, "its process died again and again") for path in rest.paths))
    return PartResult(done.value, (*done.problems, *problems))


def _local(
    items: Iterable[Item], work: Callable[[Item], Result], workers: int | None
) -> Generator[tuple[Item, Result | WorkerDied], None, None]:
    count = workers or cores()
    if isinstance(items, Sequence):
        count = max(1, min(count, len(items)))
    return map_batches(partial(_results, work), (Batch((item,), PART) for item in items), workers=count)


def _results(work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    return [work(item) for item in items]


ENGINES: Mapping[str, Engine] = MappingProxyType({"local": _local, "ray": ray_engine.results})
