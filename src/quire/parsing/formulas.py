r"""Display math, ``$$`` to ``$$``: what opens it, and what looks like a heading inside it. Pure.

Used by headings.py, scan.py and group.py. The parser takes math for text: to it ``=`` below a line makes a heading, and
so does ``# a``. Math opens with ``$$`` at the start of a line of a paragraph and closes with the next ``$$`` that is no
part of a pair within its line. What is never closed is text. Nor is there a blank line in math that holds what looks
like a heading: ``$$`` may be a price, or the number of a process, and the next one may stand pages below.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

MARK = "$$"
_OPENING = re.compile(r" {0,3}\$\$")
_WITHOUT_MARKS = frozenset({"CodeBlock", "Rule", "Table"})
"""What the parser calls the blocks in which ``$$`` is nothing."""
_OPENING_TAGS = ("Paragraph", "Heading")

# Math that is one paragraph for sure: a blank line above it, and in it only lines that open no block, underline no
# heading and close no comment. If it stands in a fence or a comment, it does so as a whole.
_PLAIN_LINE = r"[ \t]*+(?:[A-Za-z\\{}()&^,.;:'\"/!%]|[^\x00-\x7f]|[0-9]++[^0-9.)$\n])(?:[^$\n-]++|-(?!->))*+\n"
_PLAIN_MATH = rf"\$\$[^$\n]*+\n(?:{_PLAIN_LINE})*+\$\$[ \t]*+(?=\n)"
_MARKED = re.compile(rf"\n[ \t]*+\n{_PLAIN_MATH}|\n( {{0,3}}\$\$[^\n]*+)")


def opens(paragraph: str) -> bool:
    """Whether math is open at the end of a paragraph."""
    odd = _odd_lines(paragraph)
    return len(odd) % 2 == 1 and _begins(odd)


def first_doubt(text: str) -> int:
    """Where the first line starts that may open math with a heading in it; the end of ``text`` if there is none.

    The lines of ``text`` end with line feeds.
    """
    for match in _MARKED.finditer(f"\n\n{text}\n"):
        line = match[1]
        if line is not None and line.count(MARK) % 2:
            return match.start(1) - 2
    return len(text)


def hidden(tops: Iterable[tuple[str, str, bool]]) -> Iterator[int]:
    """The numbers of headings that stand inside math.

    Blocks have the parser's name, their lines, and whether a blank line is above them.
    """
    is_open = False
    inside: list[int] = []
    for number, (tag, text, is_apart) in enumerate(tops):
        if is_apart:
            is_open, inside = False, []
        odd = _odd_lines(text) if MARK in text and tag not in _WITHOUT_MARKS else []
        if is_open:
            closes = len(odd) % 2 == 1
        elif tag in _OPENING_TAGS and _begins(odd):
            is_open, closes = True, len(odd) % 2 == 0
        else:
            continue
        if tag == "Heading":
            inside.append(number)
        if closes:
            if _is_closing(odd[0]):
                yield from inside
            is_open, inside = False, []


def _begins(odd: list[str]) -> bool:
    """Whether math begins in a block with these odd lines: with the last of them, or with the first of a pair."""
    return bool(odd) and _OPENING.match(odd[-1 if len(odd) % 2 else 0]) is not None


def _is_closing(line: str) -> bool:
    """Whether ``$$`` starts or ends a line: amid text it closes no math that holds a heading."""
    return _OPENING.match(line) is not None or line.rstrip(" \t").endswith(MARK)


def _odd_lines(text: str) -> list[str]:
    """The lines with an odd number of ``$$``; in all others they are pairs."""
    return [line for line in text.replace("\r", "\n").split("\n") if line.count(MARK) % 2]
