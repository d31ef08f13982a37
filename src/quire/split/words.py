r"""Where words end: cuts inside prose for sentences that are too long. Before: sentences.py. After: graphemes.py.

Positions are ascending and the last one is the end of the text asked for, so that consecutive ones are spans and
``bisect`` finds the last cut before a position. Neighbour: inline.py, which knows what should not be torn.
"""

from __future__ import annotations

import re
from functools import cache

from quire.offsets import line_start
from quire.split.graphemes import between_graphemes, grapheme_ends
from quire.split.inline import block_starts, inline_atoms, outside

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


def word_ends(text: str, start: int, end: int) -> list[int]:
    """Where words of ``text[start:end]`` end, with the white space behind them.

    Where a script has no spaces, a word is a grapheme, or a run of katakana. Never inside a code span, a link or an
    image, and not at a no-break space.
    """
    cuts = outside(_word_cuts(text, start, end, _BREAKING), inline_atoms(text, start, end))
    return outside(cuts, block_starts(text, start, end, end))


def inner_word_ends(text: str, start: int, end: int) -> list[int]:
    """Where words end, inside of code, links and images and at no-break spaces too: if one of those is too long."""
    return outside(_word_cuts(text, start, end, _BREAKING + _NO_BREAK), block_starts(text, start, end, end))


def _word_cuts(text: str, start: int, end: int, blank: str) -> list[int]:
    if start >= end:
        return []
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
    """The pattern of a word with the blanks behind it."""
    marked = rf"(?:{_MARKERS}(?=[^{blank}]))?+"  # they stay with the first word
    gap = rf"(?:[{blank}][{_BREAKING}{_NO_BREAK}]*+)?+"
    if not dense:
        return re.compile(rf"{marked}[^{blank}]++{gap}")
    plain = rf"[^{blank}{_IDEOGRAPHS}{_KATAKANA}{_CLUSTERED}{_OPENING}]++"
    letters = rf"[{_KATAKANA}]++|[{_LEADING}]++[{_CLUSTERED}]?+|[{_IDEOGRAPHS}{_CLUSTERED}]|{plain}"
    return re.compile(rf"{marked}(?:[{_OPENING}]++(?:{letters})?+|{letters})[{_CLOSING}]*+{gap}")
