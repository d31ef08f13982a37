"""The command line. ``main`` is the entry point; each command is a module of its own, loaded when it is called."""

import gc
import sys
from collections.abc import Sequence

from quire import __version__

_GC_THRESHOLD = 50_000  # objects before Python looks for cycles; most commands make fewer


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    gc.set_threshold(_GC_THRESHOLD)
    try:
        if words in (["--version"], ["-V"]) and sys.stdout:  # scripts ask for it often, and it needs nothing else
            sys.stdout.write(f"quire {__version__}\n")
            sys.stdout.flush()
            return 0
    except OSError:
        pass  # the output is full or closed; ``run`` explains it
    try:
        from quire.cli.command_group import run  # noqa: PLC0415  loading click takes as long as Python itself

        return run(words)
    except BaseException as error:  # while loading
        if not is_interrupt(error):
            raise
        sys.stderr.write("quire: interrupted\n")
        return 130  # INTERRUPTED of exit_codes, which may not be loaded
    finally:
        if arguments is None:
            gc.freeze()  # the process ends: nothing is collected again


def is_interrupt(error: BaseException | None) -> bool:
    """Whether Ctrl-C caused an error. While modules load, it may arrive as a RuntimeError or an ImportError."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None
