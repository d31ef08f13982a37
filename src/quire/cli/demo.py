"""quire at work on its own documentation: ``python -m quire.cli.demo README.md docs``, behind ``make demo``.

Each part is headed by the command or the code that it stands for and is made with the public functions alone.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import quire
from quire.cli import main as command_line
from quire.cli.commands import ERROR, guarded
from quire.cli.output import Paint, count_of, echo, lines_of, note
from quire.cli.shown import clip, visible
from quire.options import DEFAULT_STRATEGY, OWN, TOKENIZERS

_WIDTH = 118
_SHOWN_LINES = 8


def show(readme: str, folder: str) -> int:
    """The whole demonstration; the result is the exit code."""
    files = sorted(Path(folder).rglob("*.md"))
    if not Path(readme).is_file() or not files:
        note(f"quire: the demonstration needs {readme} and Markdown files in {folder}, and finds none here;")
        note("       run `make demo` at the root of quire's repository")
        return ERROR
    paint = Paint(sys.stdout)
    echo(paint.title(f"quire {quire.__version__} at work on its own documentation"))
    _outline(readme, paint)
    _sizes(DEFAULT_STRATEGY, files, folder, paint)
    _one_chunk(files, paint)
    for strategy in OWN:
        if strategy != DEFAULT_STRATEGY:
            _sizes(strategy, files, folder, paint)
    return _verdict([Path(readme), *files], f"{readme} {folder}", paint)


def _outline(readme: str, paint: Paint) -> None:
    _head(f"$ quire outline {readme} --depth 2", "the heading tree, with tokens and lines", paint)
    command_line(["outline", readme, "--depth", "2"])


def _sizes(strategy: str, files: Sequence[Path], folder: str, paint: Paint) -> None:
    what = "what the documents are cut into"
    if strategy == DEFAULT_STRATEGY:
        what += f", with the default strategy: {strategy}"
    _head(f"$ quire chunk {folder}{_option(strategy)}", what, paint)
    sizes = [chunk.token_stats.tokens for file in files for chunk in quire.chunk_file(file, strategy)]
    counted = f" by {TOKENIZERS[strategy]}" if strategy in TOKENIZERS else ""
    largest = f"the largest has {count_of(max(sizes, default=0), 'token')}"
    parts = (count_of(len(files), "document"), count_of(len(sizes), "chunk"), count_of(sum(sizes), "token"))
    echo(f"{paint.number(', '.join(parts))}{counted}; {largest}")


def _one_chunk(files: Sequence[Path], paint: Paint) -> None:
    file, chunk = _deepest(files)
    place = chunk.source_position
    _head(f'>>> chunk = quire.chunk_file("{file}")[{chunk.chunk_number}]', "one of them, and its place", paint)
    echo(f"{paint.place(chunk.id)}  {paint.number(count_of(chunk.token_stats.tokens, 'token'))}")
    echo(paint.title(clip(chunk.breadcrumb_line, _WIDTH)))
    lines = chunk.original_text.splitlines()
    for line in lines[:_SHOWN_LINES]:
        echo(f"  {clip(visible(line), _WIDTH)}")
    if len(lines) > _SHOWN_LINES:
        echo(paint.faint(f"  … {count_of(len(lines) - _SHOWN_LINES, 'more line')}"))
    start, end = place.byte_start, place.byte_end
    is_same = file.read_bytes()[start:end].decode() == chunk.original_text
    echo(f"at {lines_of(place.start_line, place.end_line)} of {file}, bytes {start:,} to {end:,}")
    echo(f'{paint.faint(">>>")} Path("{file}").read_bytes()[{start}:{end}].decode() == chunk.original_text')
    echo(paint.number(str(is_same)))


def _verdict(files: Sequence[Path], paths: str, paint: Paint) -> int:
    for strategy in OWN:
        _head(f"$ quire verify {paths}{_option(strategy)}", "the laws, checked on every document", paint)
        found: list[quire.Finding] = []
        for file in files:
            chunks = quire.chunk_file(file, strategy)
            found += quire.verify(chunks.document.text, chunks)
        for violation in found:
            echo(paint.warning(str(violation)))
        if found:
            echo(f"{count_of(len(found), 'violation')} of the laws")
            return 1
        echo(f"{paint.number(count_of(len(files), 'document'))}: nothing lost, nothing altered, every position right")
    return 0


def _deepest(files: Sequence[Path]) -> tuple[Path, quire.Chunk]:
    """A chunk far down in its document and of a size to read."""
    chunks = [(file, chunk) for file in files for chunk in quire.chunk_file(file)]
    return max(chunks, key=lambda each: (len(each[1].header_path), -abs(len(each[1].original_text) - 400)))


def _option(strategy: str) -> str:
    """What the command line needs for ``strategy``; nothing for the default."""
    return "" if strategy == DEFAULT_STRATEGY else f" --strategy {strategy}"


def _head(command: str, what: str, paint: Paint) -> None:
    echo()
    echo(f"{paint.place(command)}   {paint.faint('# ' + what)}")


def main(arguments: Sequence[str]) -> int:
    """Show what quire does with a file and a folder."""
    if len(arguments) != 2:
        note("usage: python -m quire.cli.demo README.md docs")
        return ERROR
    return guarded(partial(show, *arguments))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
