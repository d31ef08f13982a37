"""Documents that kill the process that reads them are found and reported; all others of their part are done."""

from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from typing import Any

from quire.errors import QuireError
from quire.run.parts import Part, PartResult, Problem, read_texts
from quire.run.workers import WorkerDied


def without_killers(part: Part, work: Callable[[Part], PartResult], run: Callable[..., Any]) -> PartResult:
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
