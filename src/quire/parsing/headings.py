r"""Headings: their levels, their titles as plain text, the ids that authors give them, and the tree of sections.

    ## Title {#id .class key=value}  Hugo, VitePress, Docusaurus 2, Pandoc
    ## Title { #id }                 MkDocs with attribute lists
    ## Title {: #id }                Python-Markdown, kramdown (Jekyll)
    ## Title {/* #id */}             Docusaurus 3 with MDX
    ## <a id="id"></a>Title          HTML; also name="id", and on a line of its own above the heading
    (id)=                            MyST, on a line of its own above the heading
    ## Title [id]                    Elastic docs-builder; elsewhere only if most headings of a document have one

Attributes, comments and shortcodes are not part of a title. Most titles have no markup but code; the parser reads the
others.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from html import unescape
from itertools import accumulate, repeat
from operator import lt, sub
from typing import NamedTuple

from quire.model.dialects import COMMONMARK, DOCS_BUILDER
from quire.model.document import BlockColumns, Note, SectionColumns, Source, doc_name
from quire.model.offsets import BLANK, LINE_END, trimmed, utf8_length
from quire.model.substitutions import substitute, title_text
from quire.parsing.parser import definitions, encodable, events_of, footnotes, opened, plain_lines, plain_text
from quire.parsing.slugs import unique_slugs

MAX_TITLE = 1000  # a title is cut at this many characters, because many records repeat it
_HTML_TAG = r"</?[A-Za-z][A-Za-z0-9-]*+>"
_NO_MARKUP = rf"(?:[^\r\n\\`*_\[\]<&~]++|&(?=[ ])|(?<=[^\W_])_(?=[^\W_])|{_HTML_TAG})*+"
_PLAIN = re.compile(rf"{_NO_MARKUP}(?:`[^`\r\n]++`{_NO_MARKUP})*+")
_CODE_OR_TAG = re.compile(rf"`([^`]+)`|{_HTML_TAG}")
_CLOSING_HASHES = re.compile(r"(?:\A|[ \t])#+\Z")
_SPECIAL = re.compile(r"[\\`*_\[\]<&~{\t\x0b\x0c\r\n]|#(?:\0|\Z)")
_WHITE = re.compile(r"[\t\x0b\x0c]")
_SPACES = re.compile(r"\s\s+")
_FEED = re.compile(r"[\x0b\x0c]")  # white space everywhere but in Markdown; titles have a space instead
_INERT = "\ufdd0"  # a noncharacter, which has no meaning to the parser

_VALUE = r"""(?:"[^"\n]*+"|'[^'\n]*+'|[^\s{}"']++)"""
_ATTRIBUTE = rf"(?:[#.][^\s{{}}]++|[\w:.-]++={_VALUE})"
_ATTRIBUTE_LIST = rf"{_ATTRIBUTE}(?:[ \t]++{_ATTRIBUTE})*+"
_WORD = rf"(?:{_ATTRIBUTE}|[\w-]++)"  # only behind a colon
_WORD_LIST = rf"{_WORD}(?:[ \t]++{_WORD})*+"
_ATTRIBUTES = re.compile(rf"\{{(?::[ \t]*+({_WORD_LIST})|[ \t]*+({_ATTRIBUTE_LIST}))[ \t]*+\}}[ \t]*+\Z")
_ID = re.compile(r"(?:\A|(?<=\s))#([^\s#]+)|(?:\A|(?<=\s))id=[\"']?([^\s\"']+)")
_COMMENT = re.compile(r"[ \t]*(?:\{/\*[ \t]*(.*?)[ \t]*\*/\}|<!--[ \t]*(.*?)[ \t]*-->)")
_ANCHOR = re.compile(
    r"""<a[ \t][^<>]*?\b(?:id|name)[ \t]*=[ \t]*["']?([^\s"'<>]+)["']?[^<>]*>(?:[ \t]*</a>)?""", re.IGNORECASE
)
BRACKETED_ID = re.compile(r"(?<=[^\]\s])[ \t]*+\[#?([^\s\[\]^]++)\][ \t]*+\Z")
_SHOWN_ID = re.compile(r"[^\]\s][ \t]++\[#?([a-z_][a-z0-9_.-]*+)\]\Z")
_SHORTCODE = re.compile(r"(?P<ticks>`++).+?(?<!`)(?P=ticks)(?!`)|\{\{[<%][^{}\n]*+(?<=[>%])\}\}")
_PARAMETER = re.compile(r"""[<%]-?[ \t]*param[ \t]+["'`]?(?:[\w-]+\.)*([\w-]+)""")
"""Hugo's parameter without a value: its last word."""
_MAX_CONTENT = 2000  # a longer heading is taken as it is: its title is cut anyway, and no pattern has to be linear
_SHOWN_TEXT = re.compile(r'\btext="([^"\n]*)"')
_QUOTED = re.compile(r'"([^"\n]+)"')
_ANCHOR_LINE = rf"{_ANCHOR.pattern}[ \t]*+(?:</a>)?"
_ID_ABOVE = re.compile(
    rf"(?:\A|(?<=[\r\n]))[ ]{{0,3}}(?:\(([^()\s][^()\r\n]*)\)=|{_ANCHOR_LINE})[ \t]*\Z", re.IGNORECASE
)
_ID_LINE = rf"[ \t]*+(?:\([^()\s][^()\r\n]*+\)=|{_ANCHOR_LINE})[ \t]*+(?:\r\n|\r|\n|\Z)"
_ID_LINES = re.compile(rf"(?:{_ID_LINE}|[ \t]*+(?:\r\n|\r|\n))++", re.IGNORECASE)

_HTML_H1 = re.compile(r"<h1(?:\s[^<>]*)?>(.{1,2000}?)</h1\s*>", re.IGNORECASE | re.DOTALL)
_HTML_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_IMAGE_OR_TAG = re.compile(r"""<img\b[^<>]*?\balt\s*=\s*(?:"([^"<>]*)"|'([^'<>]*)')[^<>]*>|<[^<>]*>""", re.IGNORECASE)


class Headings(NamedTuple):
    """The headings of a document as parallel lists, in order."""

    blocks: list[int]  # the numbers of their blocks
    levels: list[int]
    titles: list[str]
    ids: list[str]  # the ids that the author gave them; empty where there is none
    texts: list[str]  # their titles with every space, of which GitHub makes anchors


def read_headings(source: Source, blocks: BlockColumns) -> tuple[Headings, list[Note]]:
    """The headings among ``blocks``, and a note for each title that was cut."""
    text = source.text
    kinds, starts, ends, _ = blocks
    if "heading" not in kinds:
        return Headings([], [], [], [], []), []
    numbers = [number for number, kind in enumerate(kinds) if kind == "heading"]
    lines = [text[starts[number] : ends[number]].lstrip(" \t") for number in numbers]
    contents = list(map(str.lstrip, lines, repeat("#")))  # faster than comprehensions
    levels = list(map(sub, map(len, lines), map(len, contents)))
    titles = list(map(str.strip, contents, repeat(BLANK)))
    headings = Headings(numbers, levels, titles, [""] * len(numbers), [])
    joined = "\0".join(titles)
    if _SPECIAL.search(joined):
        marked = [index for index, content in enumerate(titles) if _SPECIAL.search(content)]
        _read_markup(source, blocks, headings, lines, marked)
        joined = "\0".join(titles)
    headings.texts[:] = titles
    if "  " in joined or not joined.isascii():
        titles[:] = [_SPACES.sub(" ", title) for title in titles]
    notes: list[Note] = []
    for index, title in enumerate(titles) if max(map(len, titles)) > MAX_TITLE else ():
        short, note = shortened(title, starts[numbers[index]])
        if note:
            titles[index] = headings.texts[index] = short
            notes += note
    return headings, notes


def _read_markup(source: Source, blocks: BlockColumns, headings: Headings, lines: list[str], marked: list[int]) -> None:
    """Set the titles and the ids of the ``marked`` headings, whose content is not plain text."""
    _, levels, titles, ids, _ = headings
    bracketed = [
        match[1] for index in marked if titles[index][-1] == "]" and (match := _SHOWN_ID.search(titles[index]))
    ]
    # Words in brackets behind most headings are no text if all are different, some are not marks such as [beta], and
    # none is the label of a link.
    are_ids = len({*bracketed}) == len(bracketed) >= max(len(titles) / 2, 2) and (
        any("-" in each or "_" in each for each in bracketed)
        and not any(f"[{each}]:" in source.text for each in bracketed)
    )
    dialect = source.dialect or (DOCS_BUILDER if are_ids else None)
    parsed: dict[int, str] = {}
    for index in marked:
        content = bare = titles[index]
        if "\n" in content or "\r" in content:  # underlined
            levels[index] = 1 if content[-1] == "=" else 2
        if "{" in content or "<" in content or content[-1] == "]":
            above_line = content.rpartition("\n")[0].replace("\n", " ") if "\n" in content else ""
            bare, ids[index] = split_id(above_line or content, source.substitutions, dialect)
            bare = content if bare == above_line else bare  # a line below the title makes it a heading
        if not _SPECIAL.search(bare):
            titles[index] = bare
        elif _PLAIN.fullmatch(bare):
            titles[index] = _plain_title(bare)
        else:
            parsed[index] = lines[index] if bare == content else f"{'#' * levels[index]} {bare}"
    if parsed:
        for index, title in zip(parsed, _parsed_titles(source, blocks, [*parsed.values()]), strict=True):
            titles[index] = title


def shortened(title: str, start: int) -> tuple[str, list[Note]]:
    """A title of at most ``MAX_TITLE`` characters; with a note if it was longer."""
    if len(title) <= MAX_TITLE:
        return title, []
    message = f"title of {len(title):,} characters; records have the first {MAX_TITLE:,}"
    return f"{title[: MAX_TITLE - 1].rstrip()}…", [(start, "title-shortened", message)]


def _plain_title(content: str) -> str:
    """The text of a heading without markup but code and simple tags."""
    if content.endswith("#"):
        content = _CLOSING_HASHES.sub("", content)
    return _CODE_OR_TAG.sub(_code_text, _WHITE.sub(" ", content).strip(BLANK)).strip(BLANK)


def _code_text(match: re.Match[str]) -> str:
    code = match[1] or ""
    is_padded = code.startswith(" ") and code.endswith(" ") and not code.isspace()
    return code[1:-1] if is_padded else code


def _parsed_titles(source: Source, blocks: BlockColumns, headings: Sequence[str]) -> Iterator[str]:
    """The plain text of each of ``headings``, parsed together above the definitions in ``blocks``."""
    text = source.text
    joined = encodable(_FEED.sub(_INERT, plain_lines("\n\n".join(headings))))
    below = ""
    if "[" in joined:  # the blocks that may define links and footnotes: not a copy of the whole text
        rows = zip(*blocks[:3], strict=True)
        parts = (text[start:end] for kind, start, end in rows if kind not in ("paragraph", "heading", "code"))
        defining = plain_lines("\n\n".join(part for part in parts if "]:" in part))
        below = definitions(defining)
        below += f"\n\n{footnotes(defining)}" if "[^" in joined else ""
    events = events_of(f"{joined}\n\n{below}")
    title_at: dict[int, str] = {}
    for event, place in events:
        if opened(event)[0] == "Heading":
            title_at[place["start"]] = plain_text(events).replace(_INERT, " ").strip(BLANK)
    start = start_byte = 0
    for heading in headings:
        alone = joined[start : start + len(heading)]
        # A line that is a heading only because of the lines above it is not found: its text is taken as it is.
        yield title_at[start_byte] if start_byte in title_at else alone.rpartition("\n")[0].strip(BLANK)
        start += len(heading) + 2
        start_byte += utf8_length(alone) + 2


def split_id(content: str, variables: Mapping[str, str], dialect: str | None = None) -> tuple[str, str]:
    """The content of a heading without what is not its title, variables replaced; and its id, empty if it has none."""
    if len(content) > _MAX_CONTENT or dialect == COMMONMARK:
        return substitute(content, variables), ""
    heading_id = ""
    if dialect == DOCS_BUILDER and (brackets := BRACKETED_ID.search(content)):
        content, heading_id = content[: brackets.start()], brackets[1]
    if "{" in content:
        content = title_text(content, variables).strip(" \t") or content.strip("{}% \t")
        if attributes := _ATTRIBUTES.search(content):
            ids = _ID.search(attributes[1] or attributes[2])
            heading_id = (ids[1] or ids[2]) if ids else ""
            content = content[: attributes.start()]
    if "{/*" in content or "<!--" in content:
        for comment in _COMMENT.finditer(content):
            said = comment[1] or comment[2] or ""
            heading_id = heading_id or (said[1:] if said.startswith("#") and " " not in said else "")
        content = _COMMENT.sub("", content)
    if ("<a" in content or "<A" in content) and (anchor := _ANCHOR.search(content)):
        heading_id = heading_id or anchor[1]
        content = content[: anchor.start()] + content[anchor.end() :]
    if "{{" in content:
        shown = _SHORTCODE.sub(_shortcode_text, content).strip(" \t")
        content = shown or " ".join(_QUOTED.findall(content)) or content.strip("{}<>% \t")
    return content.strip(" \t"), heading_id


def _shortcode_text(shortcode: re.Match[str]) -> str:
    """The text that a shortcode is known to show; code as it is."""
    if shortcode[0].startswith("`"):
        return shortcode[0]
    text = _SHOWN_TEXT.search(shortcode[0]) or _PARAMETER.search(shortcode[0])
    return text[1] if text else ""


def ids_end(text: str, start: int, end: int) -> int:
    """Where lines end that only give ids, and blank lines, from ``start`` on; ``start`` if there are none."""
    lines = _ID_LINES.match(text, start, min(end, start + _MAX_CONTENT))
    return lines.end() if lines else start


def take_ids_above(text: str, blocks: BlockColumns, headings: Headings) -> set[int]:
    """Give headings the ids in the lines above them, and these lines. Returns the blocks that were nothing else."""
    kinds, starts, ends, _ = blocks
    taken: set[int] = set()
    for index, number in enumerate(headings.blocks):
        above = number - 1
        if above < 0 or text[ends[above] - 1] not in ">=" or kinds[above] not in ("paragraph", "html"):
            continue
        start, end = starts[above], ends[above]
        lines = text[max(start, end - 200) : end]
        if lines.endswith(")=") or "<a" in lines or "<A" in lines:
            match = _ID_ABOVE.search(lines)
            headings.ids[index] = headings.ids[index] or (match[1] or match[2] if match else "")
            if match and ids_end(text, start, end) == end:
                starts[number] = start
                taken.add(above)
    return taken


def section_columns(
    source: Source, blocks: BlockColumns, headings: Headings, title: str
) -> tuple[SectionColumns, list[Note]]:
    """The document's own section, then one for each heading; and a note for each heading that makes no node."""
    text, size = source.text, len(source.text)
    _, block_starts, block_ends, _ = blocks
    numbers = [-1, *headings.blocks]
    starts = [0, *[block_starts[number] for number in headings.blocks]]
    depths = [0, *headings.levels]
    parents, ends = [-1], [size] * len(starts)
    if "\r" in text:
        line_ends = (LINE_END.search(text, block_ends[number]) for number in headings.blocks)
        body_starts = [0, *(match.end() if match else size for match in line_ends)]
    else:
        body_starts = [0, *[text.find("\n", block_ends[number]) + 1 or size for number in headings.blocks]]
    text_starts, text_ends = body_starts[:], body_starts[:]
    pasts = [*headings.blocks[1:], len(block_starts)] if headings.blocks else []
    above = [0]
    for section, (depth, number, past) in enumerate(zip(headings.levels, headings.blocks, pasts, strict=True), 1):
        while depths[above[-1]] >= depth:
            ends[above.pop()] = starts[section]
        parents.append(above[-1])
        above.append(section)
        if past - number > 1:
            text_starts[section], text_ends[section] = block_starts[number + 1], block_ends[past - 1]
    text_ends[0] = 1  # the document is always a node
    positions = _positions(text_starts, text_ends, ends)
    first = source.text_start
    text_starts[0], text_ends[0] = trimmed(text, first, max(first, starts[1] if max(positions) else size))
    slugs, anchors = unique_slugs(headings.texts, headings.ids)
    columns = SectionColumns(
        starts, depths, parents, ends, body_starts, text_starts, text_ends, positions,
        [title, *headings.titles], ["", *headings.ids], ["", *slugs], ["", *anchors], numbers,
    )  # fmt: skip
    message = "heading {!r} has no text below it; it makes no node of its own"
    rows = zip(starts, columns.titles, positions, strict=True) if -1 in positions else ()
    return columns, [(at, "heading-without-text", message.format(words)) for at, words, node in rows if node < 0]


def _positions(text_starts: list[int], text_ends: list[int], ends: list[int]) -> list[int]:
    """The position of each section among the nodes: the document, and each heading with text anywhere below it."""
    has_text = list(map(lt, text_starts, text_ends))
    if all(has_text):
        return list(range(len(ends)))
    next_text = ends[0] + 1
    for section in range(len(ends) - 1, 0, -1):
        if has_text[section]:
            next_text = text_starts[section]
        else:
            has_text[section] = next_text < ends[section]
    return [count - 1 if is_node else -1 for count, is_node in zip(accumulate(has_text), has_text, strict=True)]


def document_title(
    source: Source, blocks: BlockColumns, headings: Headings, title: str | None
) -> tuple[str, list[Note]]:
    """The caller's ``title``, else front matter's, else the first H1, else the file name, else empty."""
    stated = source.frontmatter.get("title")
    if title is None and type(stated) in (str, int, float) and (words := str(stated).split()):
        title = title_text(" ".join(words), source.substitutions)
    if title is None:
        title = headings.titles[headings.levels.index(1)] if 1 in headings.levels else _html_title(source, blocks)
        title = title or doc_name((source.path or "/").rstrip("/").rpartition("/")[2])
    return shortened(title, 0)


def _html_title(source: Source, blocks: BlockColumns) -> str:
    """The text of the first ``<h1 align="center">`` that has any, with those of images, as is common on GitHub."""
    text = source.text
    if source.syntax != "markdown" or not ("<h1" in text or "<H1" in text):
        return ""
    without_comments = _HTML_COMMENT.sub(lambda comment: " " * len(comment[0]), text)
    for heading in _HTML_H1.finditer(without_comments, source.body_start):
        block = bisect_right(blocks.starts, heading.start()) - 1
        # Code may show HTML; a paragraph may begin with a tag that is no block: <a href="…"><h1>Title</h1></a>.
        is_html = blocks.kinds[block] in ("html", "directive") or text.startswith("<", blocks.starts[block])
        plain = _IMAGE_OR_TAG.sub(lambda tag: tag[1] or tag[2] or " ", heading[1])
        if is_html and (words := unescape(plain).split()):
            return " ".join(words)
    return ""
