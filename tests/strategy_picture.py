"""A document with the chunks of each strategy drawn beside it: ``python tests/strategy_picture.py FILE [CAP]``.

The pictures in docs/strategies.md come from here.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import quire
from quire.cli.output import clip, visible, width
from quire.model.options import STRATEGIES, own_names

CAP = 128
"""A cap that cuts even a document of one page."""
_TEXT = 46
_COLUMN = 9


def cut(text: str, path: str, cap: int = CAP) -> dict[str, quire.Chunks]:
    """The chunks of each strategy; the other sizes are in about the proportion of the defaults to the cap."""
    cuts = {}
    for strategy in STRATEGIES:
        target = cap // 2 if strategy == "packed" else cap * 3 // 4
        sizes: dict[str, Any] = {"max_tokens": cap, "target_tokens": target, "min_tokens": cap // 8}
        options = {name: size for name, size in sizes.items() if name in own_names(strategy)}
        cuts[strategy] = quire.chunk(text, strategy, path=path, **options)
    return cuts


def draw(text: str, cuts: Mapping[str, Sequence[quire.Chunk]]) -> list[str]:
    """The lines of ``text`` with a column for each strategy: the start, number and end of each chunk."""
    columns = [_marks(chunks) for chunks in cuts.values()]
    rows = [_row("", list(cuts))]
    for number, line in enumerate(text.splitlines(), 1):
        shown = f"{number:>3} {clip(visible(line[: 4 * _TEXT]), _TEXT)}"
        rows.append(_row(shown, [column.get(number, "") for column in columns]))
    return rows


def _row(line: str, cells: Sequence[str]) -> str:
    return (line + " " * (_TEXT + 6 - width(line)) + "".join(cell.ljust(_COLUMN) for cell in cells)).rstrip()


def _marks(chunks: Sequence[quire.Chunk]) -> dict[int, str]:
    """The mark of each line that is in a chunk."""
    marks: dict[int, str] = {}
    for chunk in chunks:
        first, last = chunk.source_position.start_line, chunk.source_position.end_line
        corner = "├" if first in marks else "╶" if first == last else "┌"
        marks.update(dict.fromkeys(range(first + 1, last), "│"))
        if last > first:
            marks[last] = "└"
        marks[first] = f"{corner} {chunk.chunk_number}"
    return marks


def table(chunks: Sequence[quire.Chunk]) -> list[str]:
    """A strategy's chunks as a Markdown table: lines, size, and what precedes the text."""
    rows = ["| chunk | lines | tokens | above the text |", "|---|---|---|---|"]
    for each in chunks:
        first, last = each.source_position.start_line, each.source_position.end_line
        lines = f"{first}-{last}" if last > first else str(first)
        breadcrumb = each.embed_text.removesuffix(each.original_text).strip()
        above = [f"`{breadcrumb}`"] if breadcrumb else []
        if each.overlap_chars:
            above.append(f"{each.overlap_chars} characters of chunk {each.chunk_number - 1}")
        tokens = each.token_stats.embed_tokens
        rows.append(f"| {each.chunk_number} | {lines} | {tokens} | {', then '.join(above) or '–'} |")
    return rows


if __name__ == "__main__":
    document = quire.chunk_file(sys.argv[1], "tree").document
    print(*draw(document.text, cut(document.text, sys.argv[1], *map(int, sys.argv[2:]))), sep="\n")  # noqa: T201
