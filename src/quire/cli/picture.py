"""A document with what each strategy cuts it into drawn beside it: ``python -m quire.cli.picture FILE [CAP]``.

The pictures in docs/strategies.md come from here. The functions are pure; only ``main`` reads and writes.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import quire
from quire.cli.commands import ERROR, guarded
from quire.cli.output import echo, note
from quire.cli.shown import clip, visible, width
from quire.options import LEAST_CAP, OWN

CAP = 128
"""A cap at which a document of a page already comes apart."""
_TEXT = 56
_COLUMN = 10


def options_for(strategy: str, cap: int) -> dict[str, Any]:
    """The strategy's own options for a cap, the other sizes in about the proportion of the defaults."""
    sizes = {
        "hard_cap": cap,
        "max_tokens": cap,
        "target": cap // 2,
        "target_tokens": cap * 3 // 4,
        "min_tokens": cap // 8,
    }
    return {name: sizes[name] for name in OWN[strategy] if name in sizes}


def cut(text: str, path: str, cap: int = CAP) -> dict[str, quire.Chunks]:
    """What each strategy makes of a text."""
    return {strategy: quire.chunk(text, strategy, path=path, **options_for(strategy, cap)) for strategy in OWN}


def draw(text: str, cuts: Mapping[str, Sequence[quire.Chunk]]) -> list[str]:
    """The lines of ``text`` with a column for each strategy: where a chunk starts, its number, and where it ends."""
    columns = [_marks(chunks) for chunks in cuts.values()]
    lines = [_shown(number, line) for number, line in enumerate(text.splitlines(), 1)]
    rows = [_row(line, [column.get(number, "") for column in columns]) for number, line in enumerate(lines, 1)]
    return [_row("", list(cuts)), *rows]


def table(chunks: Sequence[quire.Chunk]) -> list[str]:
    """A strategy's chunks as a Markdown table: where each is, how large, and what stands above its text."""
    rows = [f"| {each.chunk_number} | {_place(each)} | {_size(each)} | {_above(each)} |" for each in chunks]
    return ["| chunk | lines | tokens | above the text |", "|---|---|---|---|", *rows]


def _row(line: str, cells: Sequence[str]) -> str:
    return (line + " " * (_TEXT + 6 - width(line)) + "".join(cell.ljust(_COLUMN) for cell in cells)).rstrip()


def _shown(number: int, line: str) -> str:
    return f"{number:>3} {clip(visible(line[: 4 * _TEXT]), _TEXT)}"


def _marks(chunks: Sequence[quire.Chunk]) -> dict[int, str]:
    """What stands beside each line that is in a chunk."""
    marks: dict[int, str] = {}
    for chunk in chunks:
        first, last = chunk.source_position.start_line, chunk.source_position.end_line
        corner = "├" if first in marks else "╶" if first == last else "┌"
        marks.update(dict.fromkeys(range(first + 1, last), "│"))
        if last > first:
            marks[last] = "└"
        marks[first] = f"{corner} {chunk.chunk_number}"
    return marks


def _place(chunk: quire.Chunk) -> str:
    place = chunk.source_position
    return f"{place.start_line}-{place.end_line}" if place.end_line > place.start_line else str(place.start_line)


def _size(chunk: quire.Chunk) -> str:
    return f"{chunk.token_stats.embed_tokens}"


def _above(chunk: quire.Chunk) -> str:
    """The breadcrumb that is embedded with it, and how much of the chunk before."""
    line = chunk.embed_text.removesuffix(chunk.original_text).strip()
    repeated = f"{chunk.overlap_chars} characters of chunk {chunk.chunk_number - 1}" if chunk.overlap_chars else ""
    return ", then ".join(part for part in (f"`{line}`" if line else "", repeated) if part) or "–"


def show(file: str, cap: int) -> int:
    """Draw a file; the result is the exit code."""
    try:
        text = quire.chunk_file(file, "tree").document.text
    except quire.QuireError as error:
        note(f"quire: {visible(str(error))}")
        return ERROR
    for line in draw(text, cut(text, file, cap)):
        echo(line)
    return 0


def main(arguments: Sequence[str]) -> int:
    """Draw the file that the arguments name."""
    match arguments:
        case [file]:
            return guarded(partial(show, file, CAP))
        case [file, cap] if cap.isdecimal() and int(cap) >= LEAST_CAP:
            return guarded(partial(show, file, int(cap)))
    note(f"usage: python -m quire.cli.picture FILE [CAP]; CAP is at least {LEAST_CAP} tokens")
    return ERROR


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
