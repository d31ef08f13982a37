"""The command line. ``main`` is the entry point; commands are loaded when they are called.

commands.py    the group of commands, errors to exit codes
documents.py   the documents that a command was given, one by one
jobs.py        documents on several cores; encoded.py and measured.py are what workers send back
options.py     the options that commands share
output.py      what goes out: JSON, readable lines, colours, progress
shown.py       text that is safe and well aligned on a terminal
indexes.py, places.py      the index a command works on; paths as trees, and back
refusals.py    what is refused before an index is written
hits.py, highlighted.py    sections as JSON and as text; matches marked, long texts shortened
chunk.py, config.py, get.py, index.py, init.py, ls.py, migrate.py, outline.py, search.py, stats.py, status.py, verify.py
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
    if given in (["--version"], ["-V"]):
        # Asked by scripts all the time; needs none of what follows.
        sys.stdout.write(f"quire {__version__}\n")
        return 0
    try:
        from quire.cli.commands import run  # noqa: PLC0415  loading click takes as long as Python itself

        return run(given)
    except KeyboardInterrupt:  # while loading
        sys.stderr.write("quire: interrupted\n")
        return 130
