"""Containers that Markdown does not know: directives, display math, ``<details>`` and MDX components.

The parser sees ``:::note`` as a paragraph, ``$$`` as inline text, ``<details>`` as HTML up to the next blank line, and
a tag with JavaScript in it as text. All blocks from the opening to the closing become one block, unless there is a
heading between them: headings make sections, whatever surrounds them. Text directly above an opening or directly below
a closing, without a blank line, is in the same block and so in the container.

Display math opens with ``$$`` at the start of a line of a paragraph and closes with the next ``$$`` that is not one of
a pair within its line. To the parser, ``=`` below a line of math makes a heading, and so does ``# a``; such headings
are text. Math with a heading in it has no blank line: ``$$`` may be a price, and the next one may be pages below.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from quire.model import BlockColumns, Kind
from quire.parsing.site_generators import TEMPLATE_TAG, Openings

_LINE_START = r"(?:\A|(?<=[\r\n]))[ \t]*+"
_DIRECTIVE = re.compile(rf"{_LINE_START}(:{{3,}}+)[ \t]*+(?:\{{?[ \t]*+([^\s{{}}\[\]:]++)|(?=[\r\n]|\Z))")
"""A line that opens a directive, with a name, or closes one."""


def _braces(depth: int) -> str:
    """JavaScript in braces, nested up to ``depth``."""
    inner = rf"|{_braces(depth - 1)}" if depth else ""
    return rf"\{{(?:[^{{}}]++{inner})*+\}}"


_NAME = r"(?:(?i:details)|[A-Z][\w.]*+)"
_ATTRIBUTES = rf"""(?:[^<>{{}}"']++|"[^"]*+"|'[^']*+'|["']|{_braces(3)})*+"""
# An unfinished tag is matched as a whole, so that no text is read again from each of many tags on.
_TAG = re.compile(rf"<(/?)({_NAME})(?=[\s/>]|\Z)({_ATTRIBUTES})(>?)")
_TAG_START = re.compile(rf"<{_NAME}")
_TAG_LINE = re.compile(rf"{_LINE_START}<{_NAME}(?:[\s/>]|\Z)")
_CLOSING_TAG = re.compile(r"</(?:(?i:details)|[A-Z])")
_TAG_END_BELOW = re.compile(r"[ \t]*+(?:\r\n|\r|\n)[ \t]*+>")
"""The last line of a tag over several lines, which the parser takes for a quote."""
SKIPPED = frozenset({"code", "rule", "reference"})
"""The kinds of block in which nothing opens or closes."""
SKIPPED_INSIDE = SKIPPED | {"list", "quote", "footnote"}
"""The same inside another block: without those that hold blocks, which may be nested a thousand deep."""
MATH = "$$"
_MATH_LINE = re.compile(r" {0,3}\$\$")


class _Mark(NamedTuple):
    """An opening or a closing."""

    kind: Kind
    opens: bool
    name: str = ""
    colons: int = 0
    block: int = 0
    """The number of the block that has it."""


def _matches(opening: _Mark, closing: _Mark) -> bool:
    if opening.kind == "directive" and opening.colons:
        return closing.kind == "directive" and 0 < opening.colons <= closing.colons
    return (opening.kind, opening.name) == (closing.kind, closing.name)


def container_marks(text: str, rest: str, kinds: Sequence[Kind], closed_tags: Iterable[str]) -> tuple[str, ...]:
    """What a block that opens or closes a container has in it; empty if there is no container in ``text``.

    Plain blocks, which ``rest`` is without, open none but in HTML. Of shortcodes only the ``closed_tags`` count.
    """
    marks = [*closed_tags, *(mark for mark in (":::", MATH) if mark in rest)]
    if (rest or "html" in kinds) and _CLOSING_TAG.search(text):
        marks.append("<")
    return tuple(marks)


def containers(  # noqa: PLR0917
    text: str,
    marks: Sequence[str],
    kinds: Sequence[Kind],
    starts: Sequence[int],
    ends: Sequence[int],
    skipped: frozenset[str] = SKIPPED,
) -> Iterator[tuple[int, int, Kind, str]]:
    """The outermost containers, in order: the numbers of the first and the last block, kind and name.

    ``marks`` are those of ``container_marks``; nothing opens or closes in blocks of the kinds ``skipped``.
    """
    waiting = Openings[_Mark]()
    joined: list[tuple[_Mark, int]] = []
    for number, kind in enumerate(kinds):
        if kind == "heading":
            waiting.clear()
        elif kind not in skipped:
            lines = text[starts[number] : ends[number]]
            for needed in marks:
                if needed in lines:
                    break
            else:
                continue  # the usual case
            tag_end = ">" if kind == "paragraph" and _TAG_END_BELOW.match(text, ends[number]) else ""
            for mark in _marks(kind, lines, tag_end, waiting):
                if mark.opens:
                    waiting.open(_Mark(*mark[:4], number))
                else:
                    _close(waiting, joined, mark, number)
    return ((mark.block, last, mark.kind, mark.name.lstrip("{<%")) for mark, last in joined)


def _close(waiting: Openings[_Mark], joined: list[tuple[_Mark, int]], mark: _Mark, number: int) -> None:
    opening = waiting.closed_by(mark, _matches)
    if opening is None or (opening.block == number and opening.kind == "html"):
        return  # it closes nothing, or is one block already
    while joined and joined[-1][0].block >= opening.block:
        joined.pop()
    # A block that closes one container and opens the next belongs to both, so the two become one.
    first = joined.pop()[0] if joined and joined[-1][1] >= opening.block else opening
    joined.append((first, number))


def _marks(kind: Kind, lines: str, tag_end: str, waiting: Sequence[_Mark]) -> Iterator[_Mark]:
    """The openings and closings in a block; ``tag_end`` ends the last of its tags."""
    is_text = kind == "paragraph"
    if kind == "table":  # to the parser, text directly below a table is a row of it
        lines = "\n".join([line for line in lines.replace("\r", "\n").split("\n") if "|" not in line])
    if waiting and waiting[-1].kind == "math":
        if lines.count(MATH) % 2:
            yield _Mark("math", opens=False)
        return
    if is_text and MATH in lines:
        yield from _math(lines)
    if ":::" in lines:
        yield from _directives(lines, is_text=is_text)
    if "{{" in lines or "{%" in lines:
        yield from _template_tags(lines)
    has_tags = kind == "html" or (is_text and _TAG_START.search(lines) and _TAG_LINE.search(lines))
    if has_tags or any(opening.kind == "html" for opening in waiting):
        yield from _tags(lines + tag_end)


def _tags(text: str) -> Iterator[_Mark]:
    for closing, name, attributes, end in _TAG.findall(text):
        if end and not attributes.endswith("/"):
            yield _Mark("html", not closing, "details" if name.lower() == "details" else name)


def _template_tags(text: str) -> Iterator[_Mark]:
    """Shortcodes and Liquid tags that start a line; a shortcode in the middle of a sentence is inline."""
    for tag in TEMPLATE_TAG.finditer(text):
        closes = bool(tag["closes"] or tag["end"])
        is_alone = (tag["rest"] or "").rstrip().endswith("/")
        if closes or (not is_alone and not text[text.rfind("\n", 0, tag.start()) + 1 : tag.start()].strip()):
            name = f"{{{{{tag['kind']}{tag['name']}" if tag["kind"] else f"{{%{tag['word']}"
            yield _Mark("directive", not closes, name)


def _math(text: str) -> Iterator[_Mark]:
    if _opens_math(text):
        yield _Mark("math", opens=True)
    elif text.lstrip(" ").startswith("$$") and text.endswith("$$") and text.count("$$") % 2 == 0:
        yield _Mark("math", opens=True)
        yield _Mark("math", opens=False)


def _directives(text: str, *, is_text: bool) -> Iterator[_Mark]:
    """Only text opens directives; those that open inside a list or a quote close there."""
    inside: list[int] = []
    for colons, name in _DIRECTIVE.findall(text):
        if name and is_text:
            yield _Mark("directive", True, name, len(colons))
        elif name:
            inside.append(len(colons))
        elif inside and inside[-1] <= len(colons):
            inside.pop()
        else:
            yield _Mark("directive", opens=False, colons=len(colons))


def _opens_math(paragraph: str) -> bool:
    """Whether math is open at the end of a paragraph."""
    odd = _odd_lines(paragraph)
    return len(odd) % 2 == 1 and _starts_math(odd)


def hidden_headings(text: str, blocks: BlockColumns) -> Iterator[int]:
    """The numbers of the headings that are part of display math."""
    is_open = False
    inside: list[int] = []
    for number, (kind, start, end) in enumerate(zip(*blocks[:3], strict=True)):
        if kind == "reference":
            continue
        if _is_below_blank_line(text, start):
            is_open, inside = False, []
        has_marks = kind not in ("code", "rule", "table") and text.find(MATH, start, end) >= 0
        odd = _odd_lines(text[start:end]) if has_marks else []
        if is_open:
            closes = len(odd) % 2 == 1
        elif kind in ("paragraph", "heading") and _starts_math(odd):
            is_open, closes = True, len(odd) % 2 == 0
        else:
            continue
        if kind == "heading":
            inside.append(number)
        if closes:
            if _is_closing(odd[0]):
                yield from inside
            is_open, inside = False, []


def _is_below_blank_line(text: str, line: int) -> bool:
    """Whether the line above the one that starts at ``line`` is blank, or there is none."""
    above = line - 2 if text[max(line - 2, 0) : line] == "\r\n" else line - 1
    while above > 0 and text[above - 1] in " \t":
        above -= 1
    return above <= 0 or text[above - 1] in "\r\n"


def _starts_math(odd: list[str]) -> bool:
    """Whether math starts in a block with these odd lines: with the last of them, or with the first of a pair."""
    return bool(odd) and _MATH_LINE.match(odd[-1 if len(odd) % 2 else 0]) is not None


def _is_closing(line: str) -> bool:
    """Whether ``$$`` starts or ends a line: within text it closes no math that has a heading in it."""
    return _MATH_LINE.match(line) is not None or line.rstrip(" \t").endswith(MATH)


def _odd_lines(text: str) -> list[str]:
    """The lines with an odd number of ``$$``; the marks of other lines are pairs."""
    return [line for line in text.replace("\r", "\n").split("\n") if line.count(MATH) % 2]
