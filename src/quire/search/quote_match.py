"""Text as quotations are compared: without white space, marks of Markdown and soft hyphens.

What a reader of the page does not see, such as a link target, is left out of a document if the quotation has nothing of
its kind, and never of a quotation: with another target it is no quotation.
"""

import re
from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher
from functools import cached_property, lru_cache
from html import unescape
from itertools import chain, islice

from quire.index.engine.analysis import ALONE, CLUSTERS
from quire.model.document import Span
from quire.model.patterns import pattern

_PAD = "\u00ad"  # takes the place of what is left out, so that positions stay; it is left out itself
_MARKS = "*`|[]"
_INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_IGNORED = pattern(rf"[\s{re.escape(_MARKS)}{_INVISIBLE}]+")
_UNDERSCORES = pattern(r"(?<![^\W_])_+|_+(?![^\W_])")  # around words; those in names stay
_ESCAPES = pattern(r"\\(?=[!-/:-@\[-`{-~‘’“”])|~~")
_OMISSION = pattern(r"\[(?:…|\.\.\.)\]|\((?:…|\.\.\.)\)|…")
_ENTITY = pattern(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_TARGET = (
    r"""\((?:<[^<>\n]{0,999}>|[^()\s]{0,999}(?:\([^()\s]{0,199}\)[^()\s]{0,199})?)(?:\s+["'][^"']{0,199}["'])?\s?\)"""
)
_TAGS = (
    "a|abbr|b|br|center|code|dd|del|details|div|dl|dt|em|figure|figcaption|font|h[1-6]|hr|i|img|ins|kbd|li|mark|ol|p|"
    "picture|pre|s|section|small|source|span|strong|sub|summary|sup|svg|table|tbody|td|th|thead|tr|u|ul|var|video"
)
_HIDDEN = pattern(
    rf"[!\[\]<{{](?:(?P<image>(?<=!)\[[^\[\]]{{0,999}}\]{_TARGET})|(?P<link>(?<=\]){_TARGET})"
    r"|(?P<reference>(?<=\])\[[^\[\]]{0,199}\])|(?P<footnote>(?<=\[)\^[^\]\s]{1,99}\])"
    r"|(?P<comment>(?<=<)!--.{0,999}?-->)|(?P<shortcode>(?<=\{)\{[<%].{0,499}?[%>]\}\})"
    rf"|(?P<tag>(?<=<)/?(?:(?:{_TAGS})\b|[A-Z]\w*)[^<>]{{0,999}}>)"
    r"|(?P<attribute>(?<=\{) ?[:#.][^{}\n]{0,199}\}))",
    re.DOTALL,
)
_LINE_MARKS = pattern(
    r"^[ \t]*+(?:`{3,}[^`\n]*$|~{3,}.*$|:{3,}|(?=[-|:=* \t]*(?:--|==|\*\*\*))[-|:=* \t]+$"
    r"|(?:(?:>|[-+*][ \t]|[0-9]{1,9}[.)][ \t]|\#{1,6}[ \t]|\[[ xX]\][ \t])[ \t]*+)+)",
    re.MULTILINE,
)
_LIKE_LINE_MARKS = pattern(r"(?:^|\s)(?:[-+>#]|[0-9]+[.)]\s)|```|~~~|:::|--|==")
Form = frozenset[str]  # the kinds of hidden text that a document keeps
_LINE_MARK = "line mark"
_AS_IT_IS: Form = frozenset({_LINE_MARK, "any"})
_QUOTES, _DASHES = "“”„‟«»‘’‚‛‹›", "\u2010\u2011\u2012–—\u2212"
_LETTER = rf"[^\W_{ALONE}{CLUSTERS}]"
_INSIDE_WORD = pattern(
    rf"(?<={_LETTER})_*(?={_LETTER})|(?<={_LETTER}_){_LETTER}|(?<=[0-9][.,])(?=[0-9])|(?<=\s-)(?=[0-9])"
    r"|(?<=[0-9])(?=[.,][0-9])"
)
"""``able`` is no quotation of *unable*, ``5`` none of *-5*, *0.5* or *5.1*."""
_MAX_TRIED = 1_000  # how many occurrences of a quotation are looked at in one document
_ENDS = ".,;:!?'"
LONGEST = 3_000  # so many characters of a quotation are compared with similar passages
_SEED, _SEED_STEP, _MAX_SEEDS = 12, 6, 8  # characters that are looked for, at each step, so many times in a document


class ComparedText:
    """A text in one of its forms."""

    def __init__(self, text: str, form: Form) -> None:
        if form != _AS_IT_IS:
            text = _HIDDEN.sub(lambda match: match[0] if match.lastgroup in form else _padded(match), text)
        self.source = _same_length(text if _LINE_MARK in form else _LINE_MARKS.sub(_padded, text))
        self.text = _compared(self.source)

    @cached_property
    def _positions(self) -> list[int]:
        edges = [0, *[edge for ignored in _IGNORED.finditer(self.source) for edge in ignored.span()], len(self.source)]
        return [*chain.from_iterable(map(range, edges[::2], edges[1::2]))]

    def span(self, start: int, end: int) -> Span:
        """A part of ``text`` as a span of the source."""
        start, end = max(start, 0), min(end, len(self._positions))
        return Span(self._positions[start], self._positions[end - 1] + 1) if start < end else Span(0, 0)

    def occurrences(self, quote: str, start: int = 0) -> Iterator[tuple[Span, int]]:
        """The spans of the source that are a quotation, in whole words, and where each ends in ``text``."""
        for _ in range(_MAX_TRIED):
            at = self.text.find(quote, start)
            if at < 0 or not quote:
                return
            span = self.span(at, at + len(quote))
            if not _INSIDE_WORD.match(self.source, span.start) and not _INSIDE_WORD.match(self.source, span.end):
                yield span, at + len(quote)
            start = at + 1


@lru_cache(maxsize=1_024)
def compared_quote(text: str) -> str:
    """A quotation as it is looked for."""
    quote = _compared(_same_length(text))
    return quote.lstrip("…'").rstrip("…" + _ENDS) or quote


@lru_cache(maxsize=1_024)
def forms_of(quote: str) -> list[Form]:
    """The forms of a document that may have a quotation: as it is, without hidden text, with marks at line starts."""
    kinds = frozenset(str(match.lastgroup) for match in _HIDDEN.finditer(quote))
    return [_AS_IT_IS, kinds, kinds | {_LINE_MARK}] if _LIKE_LINE_MARKS.search(quote) else [_AS_IT_IS, kinds]


def fragments(text: str) -> list[str]:
    """The parts of a quotation between its ``…`` or ``[...]``, else between dots; one if nothing is left out."""
    parts = _OMISSION.split(text)
    return list(filter(None, map(compared_quote, parts if len(parts) > 1 else text.split("..."))))


def nearest_passage(text: ComparedText, quote: str) -> tuple[float, Span, str]:
    """The passage of a text that is most like a quotation: the share of the words, the span, and what differs."""
    # The difference is the quotation with ``[-words of the document-]`` and ``{+its own words+}``.
    window = _window(text.text, compared_quote(quote[:LONGEST]))
    span = text.span(*window)
    words = [match for match in re.finditer(r"\S+", text.source[span.start : span.end]) if _key(match[0])]
    quoted = [word for word in quote[:LONGEST].split() if _key(word)]
    matcher = SequenceMatcher(None, [_key(word[0]) for word in words], [_key(word) for word in quoted], autojunk=False)
    changes = matcher.get_opcodes()
    equal = [change for change in changes if change[0] == "equal"]
    if not equal:
        return 0.0, span, ""
    # As many words around what is alike as the quotation has there.
    first, last = max(equal[0][1] - equal[0][3], 0), min(equal[-1][2] + len(quoted) - equal[-1][4], len(words))
    pieces: list[str] = []
    for kind, start, end, quote_start, quote_end in changes:
        if kind == "equal":
            pieces += quoted[quote_start:quote_end]
            continue
        if old := [word[0] for word in words[max(start, first) : min(end, last)]]:
            pieces.append(f"[-{' '.join(old).replace(_PAD, '')}-]")
        if quote_start < quote_end:
            pieces.append(f"{{+{' '.join(quoted[quote_start:quote_end])}+}}")
    score = sum(end - start for _, start, end, _, _ in equal) / len(quoted)
    return score, Span(span.start + words[first].start(), span.start + words[last - 1].end()), " ".join(pieces)


def _key(word: str) -> str:
    return compared_quote(word).strip(_ENDS)


def _window(text: str, quote: str) -> tuple[int, int]:
    """Where in a text most parts of a quotation are at about the right distance; empty if none is anywhere."""
    size, seen = max(len(quote), 60), Counter[int]()
    for start in range(0, max(len(quote) - _SEED, 0) + 1, _SEED_STEP):
        seeds = re.finditer(re.escape(quote[start : start + _SEED]), text)
        seen.update((seed.start() - start) // size for seed in islice(seeds, _MAX_SEEDS))
    best = max(list(seen), key=lambda place: seen[place] + seen[place + 1], default=None)
    return (0, 0) if best is None else (best * size, (best + 2) * size + len(quote))


def _compared(text: str) -> str:
    """A text without white space and marks, with one kind of quotes and dashes; faster than a pattern."""
    text = "".join(text.split()).replace('"', "'")
    for mark in _MARKS + _INVISIBLE:
        text = text.replace(mark, "")
    for character in _QUOTES + _DASHES:
        text = text.replace(character, "'" if character in _QUOTES else "-")
    return text


def _same_length(text: str) -> str:
    """A text of the same length without marks that depend on what is beside them, with one spelling of characters."""
    text = _ESCAPES.sub(_padded, _ENTITY.sub(_character, text.replace("...", f"…{_PAD}{_PAD}")))
    return _UNDERSCORES.sub(_padded, text) if "_" in text else text


def _padded(match: re.Match[str]) -> str:
    return _PAD * len(match[0])


def _character(match: re.Match[str]) -> str:
    character = unescape(match[0])
    return character.ljust(len(match[0]), _PAD) if len(character) == 1 else match[0]
