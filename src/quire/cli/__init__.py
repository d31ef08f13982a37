"""The command line. ``main`` is the entry point; commands are loaded when they are called.

commands.py    the group of commands, errors to exit codes
documents.py   the documents that a command was given, one by one
interrupts.py  Ctrl-C, whatever it looks like
arguments.py   paths on the command line that are not empty
jobs.py        documents on several cores; encoded.py and measured.py are what workers send back
options.py, index_options.py   the options that commands share
advice.py      commands that messages advise
output.py      what goes out: JSON, readable lines, colours, progress
shown.py       text that is safe and well aligned on a terminal
indexes.py, places.py      the index a command works on; paths as trees, and back
refusals.py    what is refused before an index is written
chunk_files.py the chunk files that migrate reads
hits.py, highlighted.py    sections as JSON and as text; matches marked, long texts shortened
chunk.py, config.py, get.py, index.py, init.py, links.py, ls.py, migrate.py, outline.py, search.py,
stats.py, status.py, verify.py
               one file a command
picture.py     a document with its chunks drawn beside it, for docs/strategies.md
demo.py        quire at work on its own documentation
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from quire import __version__


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the result is the exit code."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given in (["--version"], ["-V"]) and _is_said(f"quire {__version__}\n"):
        return 0  # asked by scripts all the time; needs none of what follows
    try:
        from quire.cli.commands import run  # noqa: PLC0415  loading click takes as long as Python itself

        return run(given)
    except BaseException as error:  # while loading
        from quire.cli.interrupts import is_interrupt  # noqa: PLC0415  needed only here

        if not is_interrupt(error):
            raise
        sys.stderr.write("quire: interrupted\n")
        return 130


def _is_said(text: str) -> bool:
    """Whether standard output has taken a text; if not, the other way to say it knows what to do."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except (AttributeError, OSError):  # there may be no standard output
        return False
    return True
