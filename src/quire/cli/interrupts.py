"""Ctrl-C, whatever it looks like by the time it is caught. Used by ``main`` and commands.py."""

from __future__ import annotations


def is_interrupt(error: BaseException | None) -> bool:
    """Whether Ctrl-C is behind an error: while modules load, it may come as a RuntimeError or an ImportError."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None
