"""quire on its own documentation: ``python -m quire.cli.demo README.md docs``, behind ``make demo``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import quire
from quire.cli import main as run_command
from quire.cli.command_group import ERROR, guarded
from quire.cli.output import Paint, clip, echo, lines_of, message, visible
from quire.options import OWN

_WIDTH = 118
_SHOWN_LINES = 8


def show(readme: str, folder: str) -> int:
    """Print the demonstration and return the exit code."""
    files = sorted(Path(folder).rglob("*.md"))
    if not Path(readme).is_file() or not files:
        message(f"the demo needs {readme} and Markdown files in {folder}; run `make demo` in quire's repository")
        return ERROR
    echo(Paint(sys.stdout).title(f"quire {quire.__version__} on its own documentation"))
    _run("the heading tree, with tokens and lines", "outline", readme, "--depth", "2")
    _run("what each strategy makes of the documents", "stats", folder)
    _show_chunk(files)
    codes = [_run("check every document", "verify", readme, folder, "--strategy", strategy) for strategy in OWN]
    return max(codes)


def _run(comment: str, *arguments: str) -> int:
    _show_heading(f"$ quire {' '.join(arguments)}", comment)
    sys.stdout.flush()
    return run_command(arguments)


def _show_chunk(files: Sequence[Path]) -> None:
    """Print a deep chunk of a readable size, and that its position is exact."""
    chunks = [(file, chunk) for file in files for chunk in quire.chunk_file(file)]
    file, chunk = max(chunks, key=lambda each: (len(each[1].header_path), -abs(len(each[1].original_text) - 400)))
    _show_heading(f'>>> chunk = quire.chunk_file("{file}")[{chunk.chunk_number}]', "one chunk and its position")
    position = chunk.source_position
    echo(f"{chunk.id}  {lines_of(position.start_line, position.end_line)}")
    echo(Paint(sys.stdout).title(clip(chunk.breadcrumb_line, _WIDTH)))
    for line in chunk.original_text.splitlines()[:_SHOWN_LINES]:
        echo(f"  {clip(visible(line), _WIDTH)}")
    start, end = position.byte_start, position.byte_end
    echo(f'>>> Path("{file}").read_bytes()[{start}:{end}].decode() == chunk.original_text')
    echo(str(file.read_bytes()[start:end].decode() == chunk.original_text))


def _show_heading(command: str, comment: str) -> None:
    paint = Paint(sys.stdout)
    echo()
    echo(f"{paint.path(command)}   {paint.faint('# ' + comment)}")


def main(arguments: Sequence[str]) -> int:
    """Show what quire does with a file and a folder."""
    if len(arguments) != 2:
        message("usage: python -m quire.cli.demo README.md docs")
        return ERROR
    return guarded(partial(show, *arguments))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
