"""Timing: everything in turn, the best of several rounds, so that a noisy machine disturbs all alike."""

from __future__ import annotations

import io
import os
import subprocess
import tarfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import quire
from quire.tokens import tokenizers

ROOT = Path(__file__).resolve().parents[1]
"""The folder of the repository."""
RUNS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "`packed`": ("packed", {}),
    "`packed`, 512/256": ("packed", {"hard_cap": 512, "target": 256}),
    "`flow`": ("flow", {}),
    "`sections`": ("sections", {"tokenizer": "o200k_base"}),
    "`tree`": ("tree", {}),
}
"""The strategies that versions are compared by, with their options."""
Document = tuple[str, str]
"""A path and a text."""
Item = TypeVar("Item")


def documents(*folders: str, pattern: str = "*.md") -> list[Document]:
    """The Markdown files of the shared data, or of some folders in it; none where there is no such folder."""
    shared = Path(os.environ.get("QUIRE_SHARED", Path(__file__).resolve().parents[2] / "shared" / "data"))
    files = [file for folder in folders or (".",) for file in sorted((shared / folder).rglob(pattern))]
    return [(file.relative_to(shared).as_posix(), file.read_bytes().decode("utf-8-sig")) for file in files]


def unpacked(commit: str, folder: Path) -> Path:
    """The sources of an earlier version, unpacked from the repository's history into a folder."""
    archive = subprocess.run(["git", "archive", commit, "src"], cwd=ROOT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        tar.extractall(folder, filter="data")
    return folder / "src"


def environment(source: Path) -> dict[str, str]:
    """The environment of a process that runs a benchmark with the version of quire in ``source``."""
    return {**os.environ, "PYTHONPATH": f"{source}{os.pathsep}{ROOT}", "PYTHONHASHSEED": "0"}


def ten_fields(chunk: quire.Chunk) -> tuple[object, ...]:
    """What most programs read of a chunk; the three kinds of position count as one field each."""
    place, sizes = chunk.source_position, chunk.token_stats
    return (
        chunk.id, chunk.original_text, chunk.embed_text, chunk.header_path, chunk.breadcrumb,
        sizes.tokens, sizes.embed_tokens,
        place.char_start, place.char_end, place.start_line, place.end_line, place.byte_start, place.byte_end,
    )  # fmt: skip


def load() -> None:
    """Have the vocabulary loaded, so that nothing measured has to wait for it."""
    tokenizers.resolve("o200k_base", "o200k_base").count("".join(chr(0x4E00 + n % 20000) for n in range(500_000)))


def megabytes(texts: Sequence[Document]) -> float:
    """The size of the texts in UTF-8."""
    return sum(len(text.encode()) for _, text in texts) / 1e6


def seconds(work: Callable[[], object], rounds: int = 3) -> float:
    """The best time of ``work``."""
    return min(_timed(work) for _ in range(rounds))


def in_turn(works: Mapping[str, Callable[[Item], object]], items: Sequence[Item], rounds: int) -> dict[str, float]:
    """The sum over ``items`` of each work's best time, all works in turn on each item, in changing order."""
    best = {name: [float("inf")] * len(items) for name in works}
    for round_ in range(rounds):
        for index, item in enumerate(items):
            for name in _rotated(list(works), round_):
                taken = _timed(lambda name=name, item=item: works[name](item))
                best[name][index] = min(best[name][index], taken)
    return {name: sum(times) for name, times in best.items()}


def _rotated(names: list[str], by: int) -> Iterator[str]:
    first = by % len(names)
    yield from names[first:]
    yield from names[:first]


def _timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
