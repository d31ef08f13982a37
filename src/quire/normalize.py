"""Regular white space, for `flow`: line ends, trailing spaces, runs of blank lines. Used by split/, finish/, check/.

Code, tables and HTML are left as they are, also inside lists and quotes. A hard break of two spaces stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from quire.blank import BLANK
from quire.config import Options
from quire.counter import TokenCounter, adds_up
from quire.model import VERBATIM, Block, Document, Span, between, is_verbatim

_IRREGULAR = ("\r", " \n", "\t\n", "\n\n\n")
_SPACE = (" ", "\t")
_FENCES = ("```", "~~~")
_SPACES = re.compile(r"[ \t]*")
_BLANK_LINES = re.compile(r"\n{3,}")


def normalized(document: Document, start: int, end: int) -> str:
    """The text of a span with regular white space."""
    inner = document.text[start:end]
    if _is_regular(inner):  # most text is; where code stands is not asked
        return inner.strip("\n").rstrip(BLANK)
    parts = _parts(document, start, end)
    whole = "".join(parts).strip("\r\n")
    return whole.rstrip(BLANK) if parts[-1] else whole


class RegularText:
    """The text of a document as it is embedded: a slice of it has regular white space. Blank lines around it stay."""

    def __init__(self, document: Document) -> None:
        self._document = document

    def __getitem__(self, span: slice) -> str:
        inner = self._document.text[span]
        return (
            inner
            if _is_regular(inner)
            else "".join(_parts(self._document, *span.indices(len(self._document.text))[:2]))
        )


def embedded_text(document: Document, counter: TokenCounter, options: Options) -> str | RegularText:
    """The text whose slices are counted: the document's own, unless white space that is made regular may count more.

    Where counts add up it never does.
    """
    is_as_it_is = not options.normalize or adds_up(counter) or _is_regular(document.text)
    return document.text if is_as_it_is else RegularText(document)


def _parts(document: Document, start: int, end: int) -> list[str]:
    """The text of a span with regular white space, in parts: every other one is verbatim."""
    text = document.text
    parts: list[str] = []
    seen = start
    for first, last in _verbatim(document, start, end):
        parts += (_regular(text[seen:first]), text[first:last])
        seen = last
    return [*parts, _regular(text[seen:end])]


def _regular(text: str) -> str:
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if " \n" in text or "\t\n" in text:
        text = "\n".join(_trimmed(text.split("\n")))
    return _BLANK_LINES.sub("\n\n", text) if "\n\n\n" in text else text


def _trimmed(lines: list[str]) -> list[str]:
    """Lines without white space at their ends; the last one goes on after ``text``, so it stays as it is.

    Two or more spaces before a line that goes on are a hard break.
    """
    for number, following in enumerate(lines[1:]):
        line = lines[number]
        if line.endswith(_SPACE):
            bare = line.rstrip(" \t")
            is_break = bare and line.endswith("  ") and following.strip(" \t")
            lines[number] = f"{bare}  " if is_break else bare
    return lines


def _is_regular(text: str) -> bool:
    return not any(map(text.__contains__, _IRREGULAR))


def _verbatim(document: Document, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The spans of code, tables and HTML between ``start`` and ``end``, as far as they matter."""
    seen = 0  # two blocks may share one: where the first ends, the next one starts
    for block, stop in _irregular(document.blocks_between(start, end), document.text, start, end):
        is_cut = block.start < start or block.end > end
        spans: Iterable[Span]
        if is_cut and not is_verbatim(block):  # it is not looked into for each of its pieces
            spans = between(document.verbatim, max(block.start, start), min(block.end, end))
        else:
            spans = _inside(block, document.text, stop)
        for span in spans:
            if span.start >= seen:
                yield max(span.start, start), _line_end(document.text, span, end)
                seen = span.end


def _line_end(text: str, span: Span, end: int) -> int:
    """Where a verbatim span ends, up to ``end``: blanks behind its last line belong to it, unless that is a fence."""
    spaces = _SPACES.match(text, span.end, end)
    if spaces is None:
        return end
    return span.end if text.endswith(_FENCES, span.start, span.end) else spaces.end()


def _irregular(blocks: Sequence[Block], text: str, start: int, end: int) -> Iterator[tuple[Block, int]]:
    """The blocks with irregular white space in them or next to them, each with where the next one starts.

    What is inside the others does not matter, and to look into a block is dear. The last one matters also where blank
    text ends it, which stays if it is verbatim.
    """
    seen = start
    for number, block in enumerate(blocks, 1):
        if block.inner or block.kind in VERBATIM:  # no paragraph and no heading
            stop = blocks[number].start if number < len(blocks) else end
            around = text[max(min(seen, block.start), start) : min(max(stop, block.end), end)]  # blocks may share one
            if not _is_regular(around) or (stop == end and text[end - 1] in BLANK):
                yield block, stop
        seen = block.end


def _inside(block: Block, text: str, stop: int) -> Iterator[Span]:
    """The spans of a block, which may be all of it; of a list those in items that matter."""
    if is_verbatim(block):  # it may have thousands of rows, and many pieces
        yield block.span
        return
    parts = _irregular(block.children, text, block.start, stop) if block.kind == "list" else [(block, stop)]
    for part, _ in parts:
        for inner in part.walk():
            if is_verbatim(inner):
                yield inner.span
