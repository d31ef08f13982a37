"""Containers that Markdown does not know: directives, shortcodes, display math, ``<details>`` and MDX components.

All blocks from the opening to the closing become one block, unless there is a heading between them. Text directly above
an opening or directly below a closing, without a blank line, is in the same block and so in the container.

    {{< tab >}} … {{< /tab >}}            Hugo: raw text, so no heading inside; the parser sees one paragraph
    {% highlight %} … {% endhighlight %}  Liquid (Jekyll): the same for highlight, comment and code
    {{% tab %}} … {{% /tab %}}            other shortcodes and tags have Markdown inside
    !!! note, === "Tab"                   MkDocs, with indented content: the parser sees list items
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from quire.model.dialects import is_raw_shortcode
from quire.model.document import Block, BlockColumns, Kind
from quire.model.offsets import LINE_END, line_start

_TEMPLATE_TAG = re.compile(
    r"\{(?:\{([<%])-?+[ \t]*+(/?+)[ \t]*+([\w./-]*+)([^{}\n]*+)(?<=[>%])\}\}|%-?+[ \t]*+(end)?+(\w++)[^{}\n]*+(?<=%)\})"
)
_CLOSING_TEMPLATE_TAG = re.compile(r"\{(?:\{[<%]-?[ \t]*/|%-?[ \t]*end)")
_INDENT = re.compile(r"(?:[ \t>]|[-*+][ \t]|[0-9]{1,9}[.)][ \t])*\Z")
_LINE_START = r"(?:\A|(?<=[\r\n]))[ \t]*+"
_DIRECTIVE = re.compile(rf"{_LINE_START}(:{{3,}}+)[ \t]*+(?:\{{?[ \t]*+([^\s{{}}\[\]:]++)|(?=[\r\n]|\Z))")
"""A line that opens a directive, with a name, or closes one."""
_BRACES = r"\{[^{}]*+\}"  # JavaScript in braces, nested up to four deep
for _ in range(3):
    _BRACES = rf"\{{(?:[^{{}}]++|{_BRACES})*+\}}"
_NAME = r"(?:(?i:details)|[A-Z][\w.]*+)"
_ATTRIBUTES = rf"""(?:[^<>{{}}"']++|"[^"]*+"|'[^']*+'|["']|{_BRACES})*+"""
# An unfinished tag is matched as a whole, so that no text is read again from each of many tags on.
_TAG = re.compile(rf"<(/?)({_NAME})(?=[\s/>]|\Z)({_ATTRIBUTES})(>?)")
_TAG_LINE = re.compile(rf"{_LINE_START}<{_NAME}(?:[\s/>]|\Z)")
_CLOSING_TAG = re.compile(r"</(?:(?i:details)|[A-Z])")
_TAG_END_BELOW = re.compile(r"[ \t]*+(?:\r\n|\r|\n)[ \t]*+>")
"""The last line of a tag over several lines, which the parser takes for a quote."""
_TAG_MARK = re.compile(r"</?(?:[A-Z]|d(?i:etails))")
_SKIPPED = frozenset({"heading", "code", "rule", "reference"})  # the kinds of block in which nothing opens or closes
MATH = "$$"
_MARKS = {mark: re.compile(re.escape(mark)) for mark in (":::", MATH)}
_MATH_LINE = re.compile(r" {0,3}\$\$")
_INDENTED = re.compile(
    r"\n(?P<indent>[ ]*+)(?P<mark>!!!|\?\?\?\+?|===[!+]?)[ ]++(?=[\w\"':])[^\n]*+(?=\n++(?P=indent)[ ]{4}[ ]*+[^ \n])"
)
"""The first line of an admonition or a tab of MkDocs, above indented content."""
ADMONITION_MARKS = ("!!!", "???", "===")
_MAX_OPEN = 64  # how many openings may wait for their closing; keeps hostile input linear

TemplateTag: TypeAlias = tuple[int, int, str, bool]
"""A shortcode of Hugo or a tag of Liquid that opens or closes something: its span, its name with what is in front of it
(``{{<tab``, ``{%hint``), and whether it closes."""


class Marks(NamedTuple):
    """Where containers may open and close, and the template tags among these places, in order."""

    positions: list[int]
    tags: list[TemplateTag]


class _Mark(NamedTuple):
    """An opening or a closing."""

    kind: Kind
    opens: bool
    name: str = ""
    colons: int = 0
    place: int = 0  # the number of its block; for raw text its position


class _Waiting(list[_Mark]):
    """The openings that wait for their closings, the innermost last."""

    def open(self, opening: _Mark) -> None:
        del self[_MAX_OPEN:]
        self.append(opening)

    def close(self, closing: _Mark) -> _Mark | None:
        """Take the last opening that matches, and those inside it, off the list."""
        for index in range(len(self) - 1, -1, -1):
            opening = self[index]
            is_same = (opening.kind, opening.name) == (closing.kind, closing.name)
            if opening.colons <= closing.colons if opening.colons else is_same:
                del self[index:]
                return opening
        return None


def template_tags(lines: str) -> list[TemplateTag]:
    """The shortcodes of Hugo and the tags of Liquid in ``lines``; none if none of them closes anything."""
    if "{" not in lines or not _CLOSING_TEMPLATE_TAG.search(lines):
        return []
    tags: list[TemplateTag] = []
    for tag in _TEMPLATE_TAG.finditer(lines):
        kind, slash, name, rest, end, word = tag.groups()
        if slash or end or not (rest or "").rstrip("-<>% \t").endswith("/"):
            name = f"{{{{{kind}{name}" if kind else f"{{%{word}"
            tags.append((tag.start(), tag.end(), name, bool(slash or end)))
    return tags


def raw_spans(lines: str, tags: Iterable[TemplateTag]) -> list[tuple[int, int]]:
    """The outermost constructs that have raw text over several lines."""
    waiting = _Waiting()
    spans: list[tuple[int, int]] = []
    for start, end, name, closes in tags:
        mark = _Mark("directive", not closes, name, 0, start)
        if not closes:
            waiting.open(mark)
        elif opening := waiting.close(mark):
            if not is_raw_shortcode(name):
                # The openings around it have Markdown inside, so they are not raw.
                waiting[:] = [outer._replace(place=-1) for outer in waiting]
                continue
            place = opening.place
            line = lines.rfind("\n", 0, place) + 1
            if place >= 0 and lines.find("\n", place, end) >= 0 and _INDENT.match(lines, line, place):
                while spans and spans[-1][0] > place:
                    spans.pop()
                spans.append((place, end))
    return spans


def container_marks(text: str, start: int, end: int, rest: str, tags: Iterable[TemplateTag]) -> Marks:
    """Where containers may open and close; plain blocks, which ``rest`` is without, open none but in HTML."""
    closed = {name for _, _, name, closes in tags if closes}
    tags = [(at + start, past + start, name, closes) for at, past, name, closes in tags if name in closed]
    marks = [pattern for mark, pattern in _MARKS.items() if mark in rest]
    marks += [_TAG_MARK] if _CLOSING_TAG.search(text, start, end) else []
    positions = [match.start() for mark in marks for match in mark.finditer(text, start, end)]
    return Marks(sorted([*positions, *(tag[0] for tag in tags)]), tags)


def containers(text: str, marks: Marks, blocks: BlockColumns) -> list[tuple[int, int, Kind, str]]:
    """The outermost containers, in order: the numbers of their first and their last block, kind and name."""
    kinds, starts, ends, _ = blocks
    waiting = _Waiting()
    joined: list[tuple[_Mark, int]] = []
    done = 0
    for number in dict.fromkeys([bisect_right(starts, position) - 1 for position in marks.positions]):
        if "heading" in kinds[done:number]:
            waiting.clear()
        done = number
        if kinds[number] in _SKIPPED:
            continue
        for mark in _marks(text, Block(kinds[number], starts[number], ends[number]), marks.tags, waiting):
            if mark.opens:
                waiting.open(mark._replace(place=number))
                continue
            opening = waiting.close(mark)
            if opening is None or (opening.place == number and opening.kind == "html"):
                continue  # it closes nothing, or is one block already
            while joined and joined[-1][0].place >= opening.place:
                joined.pop()
            # A block that closes one container and opens the next belongs to both, so the two become one.
            first = joined.pop()[0] if joined and joined[-1][1] >= opening.place else opening
            joined.append((first, number))
    return [(mark.place, last, mark.kind, mark.name.lstrip("{<%")) for mark, last in joined]


def _marks(text: str, block: Block, tags: Sequence[TemplateTag], waiting: Sequence[_Mark]) -> Iterator[_Mark]:
    kind, start, end = block[:3]
    if kind == "table":  # to the parser, text directly below a table is a row of it
        line_end = LINE_END.search(text, text.rfind("|", start, end), end)
        start = line_end.end() if line_end else end
    lines = text[start:end]
    is_text = kind == "paragraph"
    if waiting and waiting[-1].kind == "math":
        if lines.count(MATH) % 2:
            yield _Mark("math", opens=False)
        return
    if is_text and MATH in lines:
        yield from _math(lines)
    if ":::" in lines:
        yield from _directives(lines, is_text=is_text)
    for position, _, name, closes in tags[bisect_left(tags, (start,)) : bisect_left(tags, (end,))]:
        # A shortcode opens something at the start of a line; in the middle of a sentence it is inline.
        if closes or not text[line_start(text, position, start) : position].strip():
            yield _Mark("directive", not closes, name)
    if _TAG_MARK.search(lines):
        is_first = kind == "html" or (is_text and _TAG_LINE.search(lines))
        if is_first or any(opening.kind == "html" for opening in waiting):
            yield from _tags(lines + ">" if is_text and _TAG_END_BELOW.match(text, end) else lines)


def _tags(text: str) -> Iterator[_Mark]:
    for closing, name, attributes, end in _TAG.findall(text):
        if end and not attributes.endswith("/"):
            yield _Mark("html", not closing, "details" if name.lower() == "details" else name)


def _math(text: str) -> Iterator[_Mark]:
    odd = [line for line in text.replace("\r", "\n").split("\n") if line.count(MATH) % 2]  # others have pairs
    if len(odd) % 2 and _MATH_LINE.match(odd[-1]):
        yield _Mark("math", opens=True)
    elif text.lstrip(" ").startswith(MATH) and text.endswith(MATH) and text.count(MATH) % 2 == 0:
        yield from (_Mark("math", opens=True), _Mark("math", opens=False))


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


def with_items(lines: str) -> str:
    """``lines`` with a bullet in place of the mark of each admonition and tab; tabs in a row are one list."""
    parts: list[str] = []
    done = 0
    bullet, other, was_tab = "*", "+", False
    for line in _INDENTED.finditer(f"\n{lines}"):
        start, end = line.start("mark") - 1, line.end("mark")  # with the space behind it
        is_tab = line["mark"].startswith("===")
        if not (is_tab and was_tab):
            bullet, other = other, bullet
        was_tab = is_tab
        parts += (lines[done:start], f"{bullet}   ".ljust(end - start, "x"))
        done = end
    return "".join(parts) + lines[done:] if parts else lines


def name_admonitions(text: str, blocks: BlockColumns) -> None:
    """Make directives of the admonitions and tabs of MkDocs, which the parser has seen as lists."""
    kinds, starts, ends, names = blocks
    for number, kind in enumerate(kinds):
        if kind == "list" and text.startswith(ADMONITION_MARKS, starts[number]):
            mark, *words = text[starts[number] : ends[number]].partition("\n")[0].split()
            kinds[number], names[number] = "directive", words[0] if words and mark != "===" else "tab"
