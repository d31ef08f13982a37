r"""Where words and graphemes end, and what in a line should not be torn: cuts for sentences that are too long.

Positions are ascending; the last one is the end of the text asked for. Code spans, links, images, autolinks and tags
are not torn (``inline_atoms``). The parser reads the prose by itself: it does not know which labels are defined
elsewhere, so ``[a][b]`` and a short ``[a]`` count as links. A mistake costs a better position for a cut.
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import cache
from operator import itemgetter
from typing import TypeAlias

from quire.model.offsets import BLANK, line_start
from quire.parsing.line_scan import HTML_BLOCK_TAGS
from quire.parsing.parser import inline_spans

# Scripts that are written without spaces. Between ideographs and kana a cut is possible almost anywhere; the scripts of
# South East Asia have clusters of letters and marks.
_IDEOGRAPHS = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3041-\u3096\u309d-\u309f\u3105-\u312f\u31a0-\u31bf\u3400-\u4dbf"
    "\u4e00-\u9fff\ua000-\ua4cf\uf900-\ufaff\U00020000-\U0003ffff"
)
_KATAKANA = "\u30a1-\u30fa\u30fc-\u30fe\u31f0-\u31ff\uff66-\uff9f"
_CLUSTERED = "\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aad\ua9e0-\ua9ff\uaa60-\uaadf"
# Vowels that are written before the letter they follow in speech.
_LEADING = "\u0e40-\u0e44\u0ec0-\u0ec4"
# A line does not end with the first, nor start with the second.
_OPENING = "「『（【〔《〈｛［“‘"
_CLOSING = "、。，．！？：；」』）】〕》〉｝］”’…‥・々ゝゞぁぃぅぇぉっゃゅょゎゕゖ"

# Spaces, the zero-width one, and the mark between Tibetan syllables; a no-break space is meant not to be broken at.
_BREAKING = " \t\n\r\x0b\x0c\x85\u1680\u2000-\u2006\u2008-\u200b\u2028\u2029\u205f\u3000\u0f0b"
_NO_BREAK = "\xa0\u2007\u202f"
# What opens a quote or an item at the start of a line.
_MARKERS = r"(?<![^\r\n])(?:[ \t]*+(?:>|(?:[-*+]|[0-9]{1,9}+[.)])(?=[ \t]))[ \t]*+)++"

_BLANKS = re.compile(rf"[{_BREAKING}{_NO_BREAK}]*+")
_MARKED = re.compile(_MARKERS)
_CLUSTERS = re.compile(rf"[{_CLUSTERED}]")
_DENSE = re.compile(rf"[{_IDEOGRAPHS}{_KATAKANA}{_CLUSTERED}]")

# What should not be torn
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_MARK = re.compile(r"[`\[<]")
_LABEL = re.compile(r"(?<!\\)!?+\[[^\[\]\\`]{0,100}+\](?:\[[^\[\]]*+\])?+")
"""The text of a link that is nothing but a label; a longer text in brackets is taken for prose."""
# What opens a fence or an HTML block at the start of a line, and makes that of the blocks which follow.
_BLOCK_MARK = re.compile(r"<|`{3,}+|~{3,}+")
_BLOCK = re.compile(
    rf"""~~~|`{{3,}}+[^`\r\n]*+(?:[\r\n]|\Z)|<(?:[?]|![A-Za-z\[-]|(?:script|pre|style|textarea)(?=[\s>]|\Z)"""
    rf"""|/?(?:{HTML_BLOCK_TAGS})(?=[\s>]|/>|\Z)"""
    r"""|/?[A-Za-z][A-Za-z0-9-]*+(?:[^<>"'\r\n]++|"[^"\r\n]*+"|'[^'\r\n]*+')*+>[ \t]*+(?:[\r\n]|\Z))""",
    re.IGNORECASE,
)

Atom: TypeAlias = tuple[int, int]  # start and end of what should not be torn

_MORE_MARKS = "\u200c\u200d\u0e33\u0eb3\uff9e\uff9f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f\U000e0100-\U000e01ef"
"""Marks though not by their category: joiners, two vowels, skin tones, tags, variation selectors."""
_HANGUL = "\u1160-\u11ff\ud7b0-\ud7fb"  # vowels and last consonants of a syllable, which belong to its first one
_PREPENDED = "\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u1100-\u115f\ua960-\ua97c\U000110bd\U000110cd"
"""Signs around the number that follows them, and the first consonants of a syllable of Hangul."""
_VIRAMAS = "\u094d\u09cd\u0acd\u0b4d\u0c4d\u0d4d\u1039\u17d2\u1a60\u1b44\u1bab\ua9c0\uaaf6"
"""Signs that join two consonants."""
_CONSONANTS = "\u0904-\u0939\u0958-\u0d3a\u1000-\u102a\u1780-\u17b3\u1a20-\u1a54\u1b05-\u1b33\ua984-\ua9b2\uaae0-\uaaea"
_CONTROL = "\x00-\x1f\x7f-\x9f\u200b\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff"
_FLAG = "\U0001f1e6-\U0001f1ff"
_LAST_MARK = 0x20000


def word_ends(text: str, start: int, end: int) -> list[int]:
    """Where words of ``text[start:end]`` end, with the white space behind them; not in code, a link or an image."""
    cuts = outside(_word_cuts(text, start, end, _BREAKING), inline_atoms(text, start, end))
    return outside(cuts, block_starts(text, start, end))


def inner_word_ends(text: str, start: int, end: int) -> list[int]:
    """Where words end, inside of code, links and images and at no-break spaces too: if one of those is too long."""
    return outside(_word_cuts(text, start, end, _BREAKING + _NO_BREAK), block_starts(text, start, end))


def _word_cuts(text: str, start: int, end: int, blank: str) -> list[int]:
    dense = _DENSE.search(text, start, end) is not None
    begin = _BLANKS.match(text, start, end).end()  # type: ignore[union-attr]  # it matches the empty text too
    line = line_start(text, begin, start)
    if _MARKED.match(text, line, end):
        begin = line  # from where the marker is seen as one
    cuts = [match.end() for match in _word(blank, dense=dense).finditer(text, begin, end)] or [end]
    if text.isascii():
        return cuts
    if dense and _CLUSTERS.search(text, start, end):
        return sorted({*cuts} & {*grapheme_ends(text, start, end)})
    return between_graphemes(text, cuts, end)


@cache
def _word(blank: str, *, dense: bool) -> re.Pattern[str]:
    """A word with the blanks behind it; where a script has no spaces, a grapheme or a run of katakana."""
    marked = rf"(?:{_MARKERS}(?=[^{blank}]))?+"  # they stay with the first word
    gap = rf"(?:[{blank}][{_BREAKING}{_NO_BREAK}]*+)?+"
    if not dense:
        return re.compile(rf"{marked}[^{blank}]++{gap}")
    plain = rf"[^{blank}{_IDEOGRAPHS}{_KATAKANA}{_CLUSTERED}{_OPENING}]++"
    letters = rf"[{_KATAKANA}]++|[{_LEADING}]++[{_CLUSTERED}]?+|[{_IDEOGRAPHS}{_CLUSTERED}]|{plain}"
    return re.compile(rf"{marked}(?:[{_OPENING}]++(?:{letters})?+|{letters})[{_CLOSING}]*+{gap}")


def inline_atoms(text: str, start: int, end: int) -> list[Atom]:
    """The spans that should not be torn in the prose ``text[start:end]``: ascending, disjoint, the outermost ones."""
    if not _MARK.search(text, start, end):
        return []
    prose = text[start:end]
    lines = prose if prose.isascii() else _NOT_ASCII.sub("x", prose)
    spans = [*inline_spans(lines), *(match.span() for match in _LABEL.finditer(lines))]
    atoms: list[Atom] = []
    last = 0
    for first, stop in sorted(spans, key=lambda span: (span[0], -span[1])):
        if first >= last:
            atoms.append((first + start, stop + start))
        last = max(last, stop)
    return atoms


def outside(cuts: list[int], atoms: Sequence[Atom]) -> list[int]:
    """Those of the ascending ``cuts`` that tear none of ``atoms``."""
    if not (atoms and cuts):
        return cuts
    kept: list[int] = []
    at, count = bisect_left(atoms, cuts[0], key=itemgetter(1)), len(atoms)
    for cut in cuts:
        while at < count and atoms[at][1] <= cut:
            at += 1
        if at == count or cut <= atoms[at][0]:
            kept.append(cut)
    return kept


def block_starts(text: str, start: int, end: int) -> list[Atom]:
    """Where ``text[start:end]`` should not be cut: before what would open a fence or an HTML block."""
    atoms: list[Atom] = []
    for mark in _BLOCK_MARK.finditer(text, start, end):
        first = at = mark.start()
        if _BLOCK.match(text, at, end):
            while first > start and text[first - 1] in f"{BLANK}>":
                first -= 1
            atoms.append((first - 1, at + 1))
    return atoms


def grapheme_ends(text: str, start: int, end: int) -> list[int]:
    """Where graphemes of ``text[start:end]`` end."""
    if text[start:end].isascii() and "\r" not in text[start:end]:
        return list(range(start + 1, end + 1))
    return [match.end() for match in _grapheme().finditer(text, start, end)]


def between_graphemes(text: str, cuts: Iterable[int], end: int) -> list[int]:
    """Those of ``cuts`` that tear no grapheme, if each follows a space, punctuation or an ideograph."""
    joined = _joined()
    return [cut for cut in cuts if cut == end or text[cut] < "\u0300" or not joined.match(text, cut - 1)]


@cache
def _joined() -> re.Pattern[str]:
    """Two characters between which nothing is cut."""
    return re.compile(rf"[\s\S][{_marks()}]|[{_PREPENDED}][^{_CONTROL}]")


@cache
def _grapheme() -> re.Pattern[str]:
    """The pattern of a grapheme; it matches every character."""
    consonant = rf"(?<=[{_VIRAMAS}])[{_CONSONANTS}]"
    more = rf"(?:[{_marks()}{_HANGUL}]|(?<=\u200d)[\u2190-\uffff\U0001f000-\U0001faff]|{consonant})*+"
    return re.compile(
        rf"\r\n|[{_CONTROL}]|[{_FLAG}]{{2}}|[{_PREPENDED}]*+[^{_CONTROL}{_PREPENDED}]{more}|[{_PREPENDED}]++"
    )


@cache
def _marks() -> str:
    """The marks as ranges of a character class."""
    codes = [code for code in range(0x300, _LAST_MARK) if unicodedata.category(chr(code))[0] == "M"]
    firsts = [code for code, before in zip(codes, [0, *codes], strict=False) if code != before + 1]
    lasts = [code for code, after in zip(codes, [*codes[1:], 0], strict=True) if code != after - 1]
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in zip(firsts, lasts, strict=True)) + _MORE_MARKS
