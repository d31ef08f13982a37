"""``map_documents``: a function over the documents of a folder or URL, on all cores or on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from types import MappingProxyType
from typing import Any

from quire.errors import InputError, invalid_value
from quire.run import ray_engine
from quire.run.parts import PART, Done, Part, Problem, parts_of, read_documents, remove_other_parts, without, write_part
from quire.run.process_pool import Lost, map_batches
from quire.run.workers import Batch, cores

Function = Callable[[Any], Any]
"""Takes a record batch of documents (``path``, ``text``), returns a record batch."""
Work = Callable[[Part], Done]


def map_documents(
    source: str,
    function: Function,
    *,
    engine: str = "local",
    workers: int | None = None,
    on_problem: Callable[[str, str], None] | None = None,
) -> Iterator[Any]:
    """Yield the record batches that ``function`` returns for the documents of a folder or URL, in order of their paths.

    ``engine`` is ``local`` (processes on this machine; ``function`` must be importable) or ``ray``. ``on_problem`` gets
    the path of each document that cannot be read or that kills its process, and the reason; by default the first one
    raises an InputError.
    """
    parts, problems = parts_of(source)
    with closing(results(parts, partial(_apply, function), engine=engine, workers=workers)) as running:
        _report(problems, on_problem)
        for done in running:
            _report(done.problems, on_problem)
            yield done.value


def write_parts(
    parts: Sequence[Part], function: Function, output: str, *, engine: str, workers: int | None = None
) -> Generator[Done, None, None]:
    """Write what ``function`` makes of each part to a Parquet file; yield the numbers of its rows and tokens."""
    with closing(results(parts, partial(_write, function, output), engine=engine, workers=workers)) as running:
        yield from running
    remove_other_parts(output, len(parts))


def _write(function: Function, output: str, part: Part) -> Done:
    done = _apply(function, part)
    write_part(output, part.number, done.value)
    tokens = sum(stats["tokens"] for stats in done.value.column("tokenStats").to_pylist())
    return Done((done.value.num_rows, tokens), done.problems)


def _apply(function: Function, part: Part) -> Done:
    documents, problems = read_documents(part.source, part.paths)
    return Done(function(documents), tuple(problems))


def _report(problems: Iterable[Problem], on_problem: Callable[[str, str], None] | None) -> None:
    for path, reason in problems:
        if on_problem is None:
            raise InputError(path, reason)
        on_problem(path, reason)


def results(
    parts: Sequence[Part], work: Work, *, engine: str, workers: int | None = None
) -> Generator[Done, None, None]:
    """The results of ``work`` for all parts, in order. A document that kills its process is a problem of its part."""
    if engine not in ENGINES:
        raise invalid_value("engine", engine, f"choose from: {', '.join(ENGINES)}")
    run = ENGINES[engine]
    with closing(run(parts, work, workers)) as running:
        for part, done in running:
            yield _without_killers(part, work, run) if done is None else done


def _without_killers(part: Part, work: Work, run: Engine) -> Done:
    """The result of a part that killed its process: each document is tried alone, then the others together."""
    with closing(run([part._replace(paths=(path,)) for path in part.paths], work, 1)) as alone:
        killers = [single.paths[0] for single, done in alone if done is None]
    problems = [
        Problem(path, "its process died, perhaps for lack of memory; cut it into smaller files") for path in killers
    ]
    rest = without(part, killers)
    with closing(run([rest], work, 1)) as again:
        done = next(again)[1] or Done(
            None, tuple(Problem(path, "its process died again and again") for path in rest.paths)
        )
    return Done(done.value, (*done.problems, *problems))


Engine = Callable[[Sequence[Part], Work, int | None], Generator[tuple[Part, Done | None], None, None]]
"""Yields each part with its result, in order; None if its process died each time."""


def _local(parts: Sequence[Part], work: Work, workers: int | None) -> Generator[tuple[Part, Done | None], None, None]:
    wanted = max(1, min(workers or cores(), len(parts)))
    held = (Batch((part,), PART) for part in parts)
    with closing(map_batches(partial(_each, work), held, workers=wanted)) as running:
        for part, done in running:
            yield part, None if isinstance(done, Lost) else done


def _each(work: Work, parts: Sequence[Part]) -> list[Done]:
    return [work(part) for part in parts]


ENGINES: Mapping[str, Engine] = MappingProxyType({"local": _local, "ray": ray_engine.results})
