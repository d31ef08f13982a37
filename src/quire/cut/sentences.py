r"""Where sentences end: the first choice for a cut inside prose; a sentence is also the unit of overlap.

The rules are our own (docs/decisions/sentences.md). One pattern finds the stops with what belongs to them; a few
questions then decide whether a sentence ends there. In doubt it goes on: a sentence torn is nonsense.
"""

import re

from quire.cut.words import between_graphemes, block_starts, inline_atoms, outside

# Stops that mean nothing else, with or without a space behind them.
_ALWAYS = "。｡！？．।॥։።፧။។؟۔"
STOPS = ".!?…‥⁇⁈⁉‼" + _ALWAYS

_EMPHASIS = "*_~"
# A link's address and the mark of a footnote close what stands before them.
_BEHIND = r"\]\([^()\s]*+\)|\[\^[^\[\]\s]*+\]"
_CLOSERS = rf"""(?:{_BEHIND}|["')\]}}{_EMPHASIS}])*+"""
# Marks that open in one language close in another: what follows tells.
_EITHER_WAY = r"(?:[“‘«‹]|[ \xa0\u202f]»)(?=[\s,.;:!?]|\Z)"
_WIDE_CLOSERS = rf"""(?:{_BEHIND}|["')\]}}{_EMPHASIS}”’»›」』）】〕》〉｝］]|{_EITHER_WAY})*+"""
_SHORTCODE = r"(?::[a-z0-9_+-]++:\s++)*+"
_EMOJI = "\u2600-\u27bf\u2b50\u2b55\U0001f000-\U0001faff\ufe0f\u200d"

# The first character stands alone: so the search for it is quick.
_ASCII_STOP = re.compile(rf"[.!?][.!?]*+({_CLOSERS})(\s*+){_SHORTCODE}")
_WIDE_STOP = re.compile(rf"[{STOPS}][{STOPS}]*+({_WIDE_CLOSERS})(\s*+)(?:[{_EMOJI}]++\s++)*+{_SHORTCODE}")

# What may stand before the first word of a sentence, quotes' marks at the start of lines among it.
_OPENERS = re.compile(r"""[>\s"'({*_~“‘«»‹›„‚「『（¿¡—–-]*+""")
# What cannot start a sentence.
_GOES_ON = frozenset(",;:.!?)]}…=+&/|%、，；：）」』")
# Small letters that start a sentence nevertheless: iOS, gRPC, an address.
_NAME = re.compile(r"[a-z]{1,5}[A-Z]|https?://")
# An item in running text: "a. One thing. b. Another."
_LETTERED = re.compile(r"[a-z][.)]\s")
_FIRST_WORD = re.compile(r"([^\W\d_]{1,12})(?!\w)(\.?)")
# Japanese and Chinese: what was quoted is part of a sentence that goes on.
_QUOTED = re.compile(r"[とっはがをのにも、，]|[\u4e00-\u9fff]{1,3}[说說问問道喊叫答]")

# Thai and Lao have no stops; a space separates phrases. The marks of repetition and abbreviation are followed by one.
_LETTER = "\u0e01-\u0e2e\u0e30-\u0e3a\u0e40-\u0e45\u0e47-\u0e4e\u0e81-\u0eae\u0eb0-\u0ebd\u0ec0-\u0ec4\u0ec8-\u0ecd"
_CONJUNCTION = "และ|หรือ|แต่|ที่|ซึ่ง|โดย|เพื่อ|เพราะ|ว่า"
_PHRASE = re.compile(rf"(?<=[{_LETTER}])\s++(?=[{_LETTER}])(?!{_CONJUNCTION})")
_PHRASED = re.compile(rf"[{_LETTER}]")


def _words_in(lines: str) -> frozenset[str]:
    return frozenset(lines.split())


# Never the end of a sentence.
_NEVER = _words_in(
    """
    mr mrs ms dr prof e.g eg i.e ie vs cf viz approx resp incl excl
    z.b d.h u.a o.ä bzw vgl ca evtl ggf inkl exkl sog bzgl hr fr dipl ing
    mme mlle p.ex c.-à-d av env sig sig.ra sigg dott
    sr sra srta dra ud uds ee p.ej pág págs núm
    dhr mevr mw bijv o.a d.w.z ul np tzn tj św t.ex bl.a např tzv
    т.е т.к см ср напр им ул डॉ प्रो
    """
)
# Not before a number.
_NUMBERED = _words_in(
    """
    no nos nr n° nº art arts p pp s v vol vols ch chap sec sect pt pts ver rev fig figs eq eqs tab ref refs ex max min
    jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thurs fri sat sun
    abb kap bd aufl zl rn abs t стр рис табл гл п д
    """
)
# The end of a sentence only before a word that often starts one.
_SELDOM = _words_in(
    """
    inc ltd co corp llc bros jr sr st mt ft ave blvd rd al gen col sgt capt lt cmdr rev hon sen rep gov pres dept univ
    est ph.d b.sc m.sc b.a m.a fig figs eq eqs ver ed eds min max str tel abb
    тыс млн млрд руб
    """
)
_STARTERS = _words_in(
    """
    the this that these those it its he she they we you i there here in on at if when while after before for but and or
    so as to however then also a an our my his her their what why how who where each every all some most many no not
    both another since because although from with without by is are was do does did let please
    der die das es er sie wir ich dies diese dieser im am auf für und oder aber wenn dann
    il elle le les une ce cette ces nous vous ils el los las la un una en se por para con sin
    он она они это мы вы в на но и а как что
    """
)
# Often followed by a small letter, as all the others are.
_ALSO = _words_in("etc usw usf ecc env e.o т.д т.п др")
_ANY = _NEVER | _NUMBERED | _SELDOM | _ALSO
# German: a number with a dot before one of these is an ordinal.
_COUNTED = _words_in(
    """
    januar februar märz april mai juni juli august september oktober november dezember jahrhundert jahrhunderts auflage
    kapitel klasse platz tag woche monat jahr stock mal weltkrieg teil band schritt version
    """
)
_LONGEST_ABBREVIATION = 10
_BEFORE = "\"'([{*_~“‘«„¿¡—–/"
_BLANKS = re.compile(r"\s*+")
_ACRONYM = re.compile(r"(?:[^\W\d_]\.)++[^\W\d_]")


def sentence_ends(text: str, start: int, end: int) -> list[int]:
    """Where sentences of the prose ``text[start:end]`` end, with the white space behind them; ``end`` is the last."""
    is_ascii, begin, cuts = text.isascii(), start, list[int]()
    for match in (_ASCII_STOP if is_ascii else _WIDE_STOP).finditer(text, start, end):
        cut = match.end()
        if cut < end and _is_end(text, match, begin, end):
            cuts.append(cut)
            begin = cut
    if not is_ascii:
        if _PHRASED.search(text, start, end):
            cuts = sorted({*cuts, *(match.end() for match in _PHRASE.finditer(text, start + 1, end))})
        cuts = between_graphemes(text, cuts, end)
    cuts.append(end)
    return outside(outside(cuts, inline_atoms(text, start, end)), block_starts(text, start, end))


def stop_ends(text: str, start: int, end: int) -> list[int]:
    """Where prose without capitals may have its sentence ends, in the sentence ``text[start:end]``; then ``end``."""
    stop = _ASCII_STOP if text.isascii() else _WIDE_STOP
    cuts = [match.end() for match in stop.finditer(text, start, end) if _may_be_end(text, match, start, end)]
    if not cuts:
        return [end]
    return outside(between_graphemes(text, [*cuts, end], end), inline_atoms(text, start, end))


def _may_be_end(text: str, match: re.Match[str], begin: int, end: int) -> bool:
    """Whether a sentence may end at a stop if it may start with a small letter."""
    stop, cut = match.start(), match.end()
    if match.end(1) == cut or cut >= end or not text[cut].islower():
        return False
    words = text[max(begin, stop - 24) : stop].split()
    word = words[-1].lstrip(_BEFORE).lower() if words else ""
    return len(word) > 1 and not word.isdigit() and word not in _ANY and not _ACRONYM.fullmatch(word)


def _is_end(text: str, match: re.Match[str], begin: int, end: int) -> bool:
    """Whether the stop ends a sentence that starts at ``begin``."""
    stop, cut, closers = match.start(), match.end(), match[1]
    marks = text[stop : match.start(1)]
    if match.end(1) == cut:
        return _is_end_without_space(text, match, begin, end)
    first = _OPENERS.match(text, cut, end).end()  # type: ignore[union-attr]  # it matches the empty text too
    if first == end or not _may_start(text, first, end):
        return False
    if marks[-1] in _ALWAYS:
        return not closers or not _QUOTED.match(text, first, end)
    is_closed = closers.strip(_EMPHASIS) != ""
    if is_closed and _is_aside(text, begin, stop):
        return False
    if text[first].islower() and not _NAME.match(text, first, end):
        is_question = marks[-1] == "?" and not closers and first == cut
        are_items = _LETTERED.match(text, begin, end) and _LETTERED.match(text, first, end)
        return is_question or are_items is not None
    return is_closed or marks != "." or not _is_abbreviated(text, begin, stop, first, end)


def _is_aside(text: str, begin: int, stop: int) -> bool:
    """Whether a stop before a closing bracket is a doubt, "(?)", or numbers an item, "1.)"."""
    return stop > begin and (text[stop - 1] in "([" or (stop - begin <= 3 and text[begin:stop].isdecimal()))


def _is_end_without_space(text: str, match: re.Match[str], begin: int, end: int) -> bool:
    """Whether a stop ends a sentence if the next one follows directly, as in Chinese and Japanese."""
    stop, cut, closers = match.start(), match.end(), match[1]
    last, following = text[match.start(1) - 1], text[cut]
    if last in _ALWAYS:
        in_number = last == "．" and following.isdigit()
        return not in_number and following not in _GOES_ON and (not closers or not _QUOTED.match(text, cut, end))
    return last in "!?" and _is_ideographic(following) and _is_ideographic(text[max(begin, stop - 1) : stop])


def _is_ideographic(char: str) -> bool:
    return "\u2e80" <= char <= "\uffef"


def _may_start(text: str, at: int, end: int) -> bool:
    """Whether a sentence may start with the character at ``at``: .NET may."""
    char = text[at]
    if char not in _GOES_ON:
        return True
    following = text[at + 1 : min(at + 2, end)]
    return (char == "." and following.isalnum()) or (char == "!" and following == "[")


def _is_abbreviated(text: str, begin: int, dot: int, first: int, end: int) -> bool:
    """Whether the dot belongs to the word before it, and the sentence goes on with the word at ``first``."""
    before = text[max(begin, dot - 24) : dot]
    words = before.split()
    if not words or before[-1].isspace():
        return False
    word = words[-1].lstrip(_BEFORE)
    if word.isdigit():
        is_first = _BLANKS.match(text, begin).end() >= dot - len(words[-1])  # type: ignore[union-attr]  # it always matches
        following = _FIRST_WORD.match(text, first, end)
        return is_first or (len(word) <= 2 and following is not None and following[1].lower() in _COUNTED)
    if len(word) > _LONGEST_ABBREVIATION:
        return False
    return _is_known(word.lower(), text, first, end) or (
        len(word) == 1 and word.isalpha() and not _is_letter_at_end(word, words[:-1], text, first, end)
    )


def _is_known(word: str, text: str, first: int, end: int) -> bool:
    """Whether ``word`` is an abbreviation with which no sentence ends, as it goes on at ``first``."""
    if word in _NEVER or (word in _NUMBERED and text[first].isdigit()):
        return True
    return (word in _SELDOM or _ACRONYM.fullmatch(word) is not None) and not _is_starter(text, first, end)


def _is_letter_at_end(letter: str, words: list[str], text: str, first: int, end: int) -> bool:
    """Whether a sentence ends with a single letter ("plan B."), which is no initial and no part of "z. B."."""
    if not words or words[-1][0].isupper() or (letter.isascii() and words[-1].endswith(".")):
        return False
    return _is_starter(text, first, end)


def _is_starter(text: str, first: int, end: int) -> bool:
    """Whether a word that often starts a sentence stands at ``first``; "I." is an initial."""
    match = _FIRST_WORD.match(text, first, end)
    return match is not None and not match[2] and match[1].lower() in _STARTERS
