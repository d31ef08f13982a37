"""The quotations of a text, or of JSON, with their sources: docs/guides/cite.md lists the forms."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from quire.errors import InputError
from quire.model.offsets import lines_at
from quire.model.page_markers import FENCED
from quire.model.patterns import pattern

_MIN_WORDS = 5  # a shorter quotation without a source is a name or a word that the author distances himself from
_FORM = 'write [{"quote": "…", "source": "…"}]'
_BLOCK = pattern(r"(?:^[ ]{0,3}>[^\n]*\n?)+|(?:^(?![ ]{0,3}>)[^\n]*\S[^\n]*\n?)+", re.MULTILINE)
_QUOTED_LINE = pattern(r"^[ ]{0,3}>[ \t]?", re.MULTILINE)
_MARK = pattern('["“”„«»]')
_NAME = r"[^\s\[\]()<>|]{0,300}[^\s\[\]()<>|.,;:]"
_PLACE = rf"{_NAME}(?:[#:/]{_NAME}|\.(?:md|mdx|markdown|txt|ipynb))"
_NAMED = (
    rf"\[\^(?P<note>[^\]\s]+)\]|\(?[ ]?!?\[[^\[\]]{{0,300}}\]\(<?(?P<link>{_NAME})[^()]{{0,300}}\)"
    rf"|\]\(<?(?P<inside>{_NAME})[^()]{{0,300}}\)|[\[(](?P<name>{_PLACE})[\])]"
)
_SOURCE = pattern(rf"[\s.,;:—–-]*(?:{_NAMED})")
_LAST_SOURCE = pattern(rf"(?<!\s)(?:[\s—–-]*+(?:{_NAMED})|(?=\s*\n)[\s—–-]*+(?P<line>{_PLACE}))[\s.)]*\Z")
_NOTE = pattern(r"^[ ]{0,3}\[\^([^\]\s]+)\]:[ \t]*(.*)$", re.MULTILINE)
_LINK = pattern(rf"\]\(<?({_NAME})|({_PLACE})")


class Quotation(msgspec.Struct, frozen=True):
    """A quotation and what it names as its source, both as they are in the text."""

    quote: str
    source: str = ""  # empty if it has none
    line: int = 0  # the line of the text, or its number in a list of quotations


def quotations(text: str) -> list[Quotation]:
    """The quotations of a Markdown text, or of JSON."""
    if text.lstrip().startswith(("[{", "[\n", "{")) or text.strip() == "[]":
        try:
            return listed_quotations(msgspec.json.decode(text))
        except (msgspec.DecodeError, RecursionError) as error:
            if text.lstrip().startswith("[{"):
                raise InputError("quotations", f"not JSON: {error}", _FORM) from None
    found = _in_markdown(FENCED.sub(lambda fence: "\n" * fence[0].count("\n"), text))
    return [quotation for quotation in found if quotation.source or len(quotation.quote.split()) >= _MIN_WORDS]


def listed_quotations(values: Any) -> list[Quotation]:
    """Quotations from a list of objects with ``quote`` and ``source``."""
    found = []
    for number, row in enumerate([values] if isinstance(values, Mapping | str) else values, 1):
        quote, source = (row.get("quote"), row.get("source") or "") if isinstance(row, Mapping) else (None, "")
        if not (isinstance(quote, str) and isinstance(source, str)):
            raise InputError("quotations", f"number {number} has no quote", _FORM)
        found.append(Quotation(quote, source, number))
    return found


def _in_markdown(text: str) -> Iterator[Quotation]:
    notes = dict(_NOTE.findall(text))
    text = _NOTE.sub(lambda note: " " * len(note[0]), text)
    blocks = list(_BLOCK.finditer(text))
    lines = lines_at(text, [block.start() for block in blocks])
    for block, line, after in zip(blocks, lines, [*(block[0] for block in blocks[1:]), ""], strict=False):
        if not _QUOTED_LINE.match(block[0]):
            yield from _in_paragraph(block[0], line, notes)
            continue
        quote = _QUOTED_LINE.sub("", block[0]).strip()
        end = _LAST_SOURCE.search(quote)
        source = end or _LAST_SOURCE.match("\n" + after.partition("\n")[0])
        yield Quotation(quote[: end.start()] if end else quote, _name(source, notes), line)


def _in_paragraph(text: str, line: int, notes: Mapping[str, str]) -> Iterator[Quotation]:
    """Quotations between quotation marks; an inner pair belongs to the outer one."""
    starts: list[int] = []
    for mark in _MARK.finditer(text):
        at = mark.start()
        before, after = text[at - 1 : at] if at else "", text[at + 1 : at + 2]
        opens = mark[0] == "«" or (mark[0] != "»" and (not before or not before.isalnum()) and bool(after.strip()))
        closes = mark[0] == "»" or (mark[0] != "«" and bool(before.strip()) and not after.isalnum())
        if starts and closes and (not opens or mark[0] in "”»" or before not in "([{"):
            start = starts.pop()
            if not starts:
                source = _name(_SOURCE.match(text, at + 1), notes)
                yield Quotation(text[start:at], source, line + text.count("\n", 0, start))
        elif opens:
            starts.append(at + 1)


def _name(match: re.Match[str] | None, notes: Mapping[str, str]) -> str:
    """The source that a match names; of a footnote, the link or the first name in it."""
    if match and match["note"]:
        match = _LINK.search(notes.get(match["note"], ""))
    return next(filter(None, match.groups()), "") if match else ""
