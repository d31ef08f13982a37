r"""The headings of a document, seen without a look at what stands between them. Before: read/. After: outline.py.

A heading that starts in the first column ends every paragraph, list, quote and table above it. Only a fence, HTML or
math can hide one, and a line of its own opens each: so the few lines that start like a heading, a fence, HTML, math or
an underline tell where the headings are. Where they do not, for it depends on what is open there, nothing is guessed:
the parser is asked (scan.py). It is the judge in the tests, too.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from quire.model import Source
from quire.parsing import formulas
from quire.parsing.outline import Heading
from quire.parsing.titles import parsed_titles, plain_titles

_HASHES, _HTML, _MATH = 1, 4, 5
_UNDERLINE = r"(?:=++|-++)[ \t]*+(?=\n)"
# The look ahead at the first character passes over most lines at once.
_TELLING = re.compile(
    r"\n[ ]{0,3}+(?=[\#`~<=$-])"
    r"(?:(\#{1,6}(?:[ \t][^\n]*+)?+(?=\n))|(?:(`{3,}+)[^`\n]*+|(~{3,}+)[^\n]*+)(?=\n)|(<)|(\$\$)"
    rf"|{_UNDERLINE})"
)
# A paragraph of one line above an underline; nothing else starts with such a character.
_UNDERLINED = re.compile(rf"""\n[ \t]*+\n([A-Za-z("'$!/.%;,][^\n|\#\t]*+)\n{_UNDERLINE}""")
_BLANK_LINE = re.compile(r"\n[ \t]*+(?=\n)")
# HTML that a blank line does not end; of comments only those that are plain are taken for one.
_OPEN_HTML = re.compile(r"<(?:[?]|!(?!--[^>-])|(?:script|pre|style|textarea)(?![A-Za-z]))", re.IGNORECASE)


def _indented_fence(indent: int) -> re.Pattern[str]:
    """A fence whose lines are indented so far, all of them: it ends with them, whether it stands in an item or not."""
    opening = rf"[ ]{{{indent}}}(?:(`{{3,}})[^`\n]*+|(~{{3,}})[^\n]*+)\n"
    lines = rf"(?:(?![ \t]*+(?:```|~~~))(?:[ ]{{{indent}}}[^\n]*+|[ \t]*+)\n)*+"
    return re.compile(rf"{opening}{lines}[ ]{{{indent},3}}(?:\1`*+|\2~*+)[ \t]*+(?=\n)")


_INDENTED_FENCES = {indent: _indented_fence(indent) for indent in (1, 2, 3)}


class _Line(NamedTuple):
    """A heading as it stands in the text."""

    level: int
    start: int
    end: int
    content: str
    """What stands behind its opening hashes, or above its underline."""


class _UnclearError(Exception):
    """What a line is depends on more than was looked at."""


def plain_headings(source: Source) -> list[Heading] | None:
    """The headings of the Markdown of ``source``; None if it takes the parser to find them."""
    base = source.markdown_start
    text = source.text[base:] if base else source.text
    if "\r" in text:
        text = text.replace("\r\n", " \n").replace("\r", "\n")
    try:
        lines, has_math = _found(text)
    except _UnclearError:
        return None
    if has_math and _may_be_math(text, lines):
        return None
    if lines and lines[-1].end > len(text):  # no line end follows it
        lines[-1] = lines[-1]._replace(end=len(text))
    titles, marked = plain_titles([line[3] for line in lines])
    if marked:
        alone = [text[lines[index].start : lines[index].end] for index in marked]
        for index, title in zip(marked, parsed_titles(text, alone), strict=True):
            titles[index] = title
    new = tuple.__new__  # twice as fast as the class itself
    return [
        new(Heading, (level, title, base + start, base + end))
        for (level, start, end, _), title in zip(lines, titles, strict=True)
    ]


def _found(text: str) -> tuple[list[_Line], bool]:
    """The headings of ``text``, whose lines end with line feeds, and whether a line may open display math."""
    padded = f"\n\n{text}\n"  # its first line follows a blank one, its last one has an end
    lines: list[_Line] = []
    append = lines.append
    fence = ""  # the marks of the one that is open
    passed = html_end = 0
    has_math = False
    # What hides a line is asked first: an open fence hides everything, as does an indented one that was passed over.
    # HTML hides neither HTML nor math; of all else in it nothing is sure.
    for match in _TELLING.finditer(padded):
        start, end = match.span()
        kind = match.lastindex
        if fence:
            closes = kind and match[kind].startswith(fence) and not padded[match.end(kind) : end].strip(" \t")
            fence = "" if closes else fence
        elif start < passed:
            continue
        elif kind == _HASHES and start >= html_end:
            append(_hashed(padded, start, end))
        elif kind == _HTML:
            html_end = _html_end(padded, end - 1, html_end)
        elif kind == _MATH:
            has_math = True
        elif start < html_end:
            raise _UnclearError
        elif not kind:
            lines += _underlined(padded, match, html_end)
        elif padded[start + 1] == " ":
            passed = _end_of_indented(padded, start + 1, match.start(kind))
        else:
            fence = match[kind]
    return lines, has_math


def _may_be_math(text: str, lines: list[_Line]) -> bool:
    """Whether one of the headings may stand inside display math."""
    first, last = formulas.first_doubt(text), text.rfind(formulas.MARK)
    return any(first < line.end and line.start <= last for line in lines)


def _hashed(padded: str, start: int, end: int) -> _Line:
    line = padded[start + 1 : end]
    content = line.lstrip("#")
    if content == line:
        raise _UnclearError  # it is indented: an item may hold it
    new = tuple.__new__  # twice as fast as the class itself
    return new(_Line, (len(line) - len(content), start - 1, end - 1, content))


def _end_of_indented(padded: str, start: int, marks: int) -> int:
    """Where a fence ends that is indented."""
    fence = _INDENTED_FENCES[marks - start].match(padded, start)
    if fence is None:
        raise _UnclearError
    return fence.end()


def _html_end(padded: str, start: int, known: int) -> int:
    """How far HTML that starts here may go on; ``known`` is how far some that was met before may."""
    if _OPEN_HTML.match(padded, start):
        raise _UnclearError
    if padded.startswith("<!--", start):
        # One that is inside other HTML may end with it, unless it ends with its line.
        comment_end = padded.find("-->", start + 4, padded.find("\n", start) if start < known else len(padded))
        if comment_end < 0:
            raise _UnclearError
        return max(known, comment_end)
    if start < known:
        return known
    blank = _BLANK_LINE.search(padded, start)
    return blank.start() if blank else len(padded)


def _underlined(padded: str, match: re.Match[str], html_end: int) -> list[_Line]:
    """The heading that an underline makes of the line above it; none below a blank line."""
    above = padded.rfind("\n", 0, match.start())
    if not padded[above + 1 : match.start()].strip(" \t"):
        return []
    heading = _UNDERLINED.match(padded, padded.rfind("\n", 0, above))
    if heading is None or above < html_end:  # a line in which a comment ends is none to underline
        raise _UnclearError
    level = 1 if padded[match.start() + 1] == "=" else 2
    return [_Line(level, above - 1, match.end() - 1, heading[1])]
