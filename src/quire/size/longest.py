"""The longest that fits: the one search behind cuts, groups of units, lists and answers with a token limit."""

from __future__ import annotations

from collections.abc import Callable


def longest_that_fits(first: int, stop: int, fits: Callable[[int], bool], guess: int | None = None) -> int:
    """The last number from ``first`` to before ``stop`` that fits; ``first - 1`` if none does.

    Anything before a number that fits also fits. Looks at ``guess`` first, then in steps that grow: counting is
    expensive. Without a guess it starts in the middle.
    """
    low, high = first - 1, stop  # fits, does not fit
    at, step = (first + stop) // 2 if guess is None else min(max(guess, first), high - 1), 1
    while low + 1 < high:
        if fits(at):
            low, at = at, at + step
        else:
            high, at = at, at - step
        step *= 2
        at = (low + high) // 2 if not low < at < high else at
    return low
