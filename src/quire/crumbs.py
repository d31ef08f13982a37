"""The breadcrumb: one line that says where a chunk stands. Pure text, no neighbours but the headings.

Splitting reserves the tokens of the full line, finishing writes it; both ask here, so they cannot disagree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

SEPARATOR = " > "
LIMIT = 160
"""The longest breadcrumb line, in characters."""
ELLIPSIS = "…"
_LEAST = 10
"""A line with fewer characters says nothing."""


def full_line(title: str, header_path: Sequence[str], limit: int = LIMIT) -> str:
    """``Title > Parent > Section``; the title is left out where it says what the first heading says."""
    segments = [title, *header_path] if title and (not header_path or header_path[0] != title) else [*header_path]
    line = SEPARATOR.join(segments)
    if len(line) <= limit and line.isprintable() and "  " not in line and line == line.strip():
        return line  # as almost always; a blank segment would leave two spaces, or one at an end
    return shorten(_lines(segments), limit)


def fitted(title: str, header_path: Sequence[str], most: int, count: Callable[[str], int]) -> tuple[str, int]:
    """The full line, or as much of it as has at most ``most`` tokens, and how many it has with the blank line below it.

    Nothing if there is no room for any.
    """
    limit = LIMIT
    while limit >= _LEAST:
        line = full_line(title, header_path, limit)
        tokens = count(f"{line}\n\n") if line else 0
        if tokens <= most:
            return line, tokens
        limit //= 2
    return "", 0


def reader_line(title: str, header_path: Sequence[str], *, from_first: bool = True) -> str:
    """``> Title › Parent › Section``: the line that readers see above a section.

    The document's first heading is left out where it says what the title says; ``from_first`` says whether the path
    starts with that one.
    """
    below = header_path[1:] if from_first and header_path and header_path[0] == title else header_path
    return joined(_lines((title, *below)))


def joined(titles: Iterable[str]) -> str:
    """Titles that are in one line each, as the line that readers see."""
    return f"> {' › '.join(titles)}"


def one_line(text: str) -> str:
    """A title in one line; of one that is longer than any breadcrumb, as much as can be of use."""
    return " ".join(text[: 4 * LIMIT].split())


def shorten(segments: Sequence[str], limit: int = LIMIT) -> str:
    """The segments in one line of at most ``limit`` characters: the middle gives way, first and last stay."""
    line = SEPARATOR.join(segments)
    if len(line) <= limit or not segments:
        return line
    if len(segments) == 1:
        return _cut(segments[0], limit)
    first, last = segments[0], segments[-1]
    for dropped in range(1, len(segments) - 1):
        line = SEPARATOR.join((first, ELLIPSIS, *segments[dropped + 1 :]))
        if len(line) <= limit:
            return line
    joint = SEPARATOR + ELLIPSIS + SEPARATOR if len(segments) > 2 else SEPARATOR
    return _fit_pair(first, last, joint, limit)


def _fit_pair(first: str, last: str, joint: str, limit: int) -> str:
    """First and last around ``joint``; what is too long is cut, the shorter one keeps all it can."""
    if len(first) + len(joint) + len(last) <= limit:
        return first + joint + last
    room = limit - len(joint)
    half = room // 2
    for_last = max(room - len(first), half)
    last = _cut(last, for_last)
    return _cut(first, room - len(last)) + joint + last


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1].rstrip() + ELLIPSIS


def _lines(segments: Iterable[str]) -> list[str]:
    """Each segment in one line; those without anything to read are left out."""
    return [line for segment in segments if (line := one_line(segment))]
