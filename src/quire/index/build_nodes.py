"""A parsed document to the nodes that the index stores.

A node's text ends where the next node starts, so the texts in order are the whole source. A heading without text is no
node: it is part of the text of the node before it, and its title is searchable through its parent.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, islice, pairwise
from typing import Any

from quire.breadcrumbs import joined, one_line
from quire.counter import TokenCounter
from quire.index.file_records import storable
from quire.index.node import Node, PassageSpan
from quire.model import UNTITLED, Document
from quire.offsets import BLANK, bytes_at, lines_at

_MAX_TAGS = 100
_MAX_DESCRIPTION = 1_000  # in characters; all sections of a document repeat it
_TAG_KEYS = ("tags", "tag", "keywords")


def build_nodes(document: Document, tree: str, counter: TokenCounter) -> tuple[Node, ...]:
    """The nodes of a document in order; the first is the document itself."""
    sections, text = document.nodes, document.text
    starts = [section.start for section in sections]
    edges = [*starts, len(text)]
    texts = [text[start:end] for start, end in pairwise(edges)]
    front = document.source.body_start
    counts = [_count(each, max(front - start, 0), counter) for start, each in zip(starts, texts, strict=True)]
    parents = [None if each.parent is None else document.sections[each.parent].position or 0 for each in sections]
    children, last = Counter(parents), _last_below(parents)
    full_tokens = _full_tokens(text, edges, [tokens for tokens, _ in counts], last, counter)
    in_bytes = bytes_at(text, edges)
    lasts = [start + max(len(each.rstrip(BLANK)) - 1, 0) for start, each in zip(starts, texts, strict=True)]
    lines = lines_at(text, chain.from_iterable(zip(starts, lasts, strict=True)))  # of first and last characters
    path, tags = storable(document.path or UNTITLED), _tags(document.source.metadata)
    titles = _titles_without_node(document)
    nodes: list[Node] = []
    for position, section in enumerate(sections):
        parent = None if (above := parents[position]) is None else nodes[above]
        ancestors = () if parent is None else (*parent.ancestors, parent.as_ancestor())
        start, end, below = section.start, edges[position + 1], last[position]
        title, slug, anchor = storable(section.title), section.slug, section.anchor
        breadcrumb = _breadcrumb(title, parent, is_first=section.number == 1)
        tokens, passages = counts[position]
        body = section.body_start - start if ancestors else front
        nodes.append(
            Node(
                tree=tree,
                path=path,
                slug=slug,
                title=title,
                depth=section.depth,
                position=position,
                last=below,
                children=children[position],
                ancestors=ancestors,
                breadcrumb=breadcrumb,
                start=start,
                end=end,
                full_end=edges[below + 1],
                byte_start=in_bytes[position],
                byte_full_end=in_bytes[below + 1],
                line=lines[2 * position],
                last_line=lines[2 * position + 1],
                full_last_line=lines[2 * below + 1],
                body=min(body, end - start),
                text=texts[position],
                tokens=tokens,
                full_tokens=full_tokens[position],
                crumb_tokens=counter.count(joined(breadcrumb)),
                passages=passages,
                tags=tags,
                body_end=min(section.body_end, end) - start,
                titles=tuple(map(storable, titles.get(section.number, ()))),
                description="" if ancestors else _description(document.source.metadata),
                anchor="" if anchor == slug else storable(anchor),
            )
        )
    return tuple(nodes)


def _full_tokens(
    text: str, edges: Sequence[int], tokens: Sequence[int], last: Sequence[int], counter: TokenCounter
) -> list[int]:
    """The tokens of each node with all below it: a sum, unless a token may span the start of a node between them."""
    before = [0, *accumulate(tokens)]
    unclean = [0, *accumulate(not counter.cuts_cleanly(text, start) for start in edges[1:-1])]
    return [
        before[below + 1] - before[position]
        if unclean[below] == unclean[position]
        else counter.count(text[edges[position] : edges[below + 1]])
        for position, below in enumerate(last)
    ]


def _last_below(parents: Sequence[int | None]) -> list[int]:
    """The position of the last node below each node, or its own."""
    last = list(range(len(parents)))
    for position in range(len(parents) - 1, -1, -1):
        parent = parents[position]
        if parent is not None:
            last[parent] = max(last[parent], last[position])
    return last


def _breadcrumb(title: str, parent: Node | None, *, is_first: bool) -> tuple[str, ...]:
    """The titles down to a node, without the document's first heading if it repeats the document's title."""
    if parent is not None and is_first and title == parent.title:
        return parent.breadcrumb
    line = one_line(title)
    return (*(parent.breadcrumb if parent is not None else ()), *((line,) if line else ()))


def _titles_without_node(document: Document) -> dict[int, list[str]]:
    """The titles of headings that are no nodes, by the number of the nearest section above that is one."""
    found: dict[int, list[str]] = {}
    for section in document.sections:
        if section.position is None and section.title:
            above = section
            while above.position is None and above.parent is not None:
                above = document.sections[above.parent]
            found.setdefault(above.number, []).append(section.title)
    return found


def _tags(metadata: Any) -> tuple[str, ...]:
    """The tags in front matter, a list or a text with commas, without duplicates; every node has them."""
    named = (each for key in _TAG_KEYS for each in _listed(metadata.get(key)))
    tags = (storable(one_line(each)) for each in islice(named, _MAX_TAGS))
    return tuple(dict.fromkeys(tag for tag in tags if tag))


def _description(metadata: Mapping[str, Any]) -> str:
    found = metadata.get("description")
    return storable(one_line(found)[:_MAX_DESCRIPTION]) if isinstance(found, str) else ""


def _listed(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        return value.split(",")
    values = value if isinstance(value, list) else [value]
    return [str(each) for each in values if isinstance(each, str | int | float) and not isinstance(each, bool)]


def _count(text: str, front: int, counter: TokenCounter) -> tuple[int, tuple[PassageSpan, ...]]:
    """The tokens of a node's text, and its passages if it is long. Counts are added up where that is exact."""
    cuts = _passage_cuts(text, front) if len(text) > _LONG else []
    if not cuts:
        return counter.count(text), ()
    spans = pairwise((0, *cuts, len(text)))
    passages = tuple([PassageSpan(start, end, counter.count(text[start:end])) for start, end in spans])
    if all(counter.cuts_cleanly(text, at) for at in cuts):
        return sum(each.tokens for each in passages), passages
    return counter.count(text), passages


# Passages: a long node is cut before a line that follows a blank line, is not indented, is in no fence and does not
# follow a heading. A passage therefore consists of whole paragraphs, list items, tables and fences. A longer block is
# cut at line ends. Sizes are in characters, and no parser is needed.

_LONG = 800  # a longer node, of some 200 tokens, has passages
_LONG_BLOCK = 500  # about how much of a block that must be cut goes into one passage
_SHORTEST = 250  # about how long a passage is at least: a single sentence is a poor answer

_AFTER_BLANK_LINE = re.compile(r"\n[ \t\r]*+\n(?=\S)")
_BLANK_LINES = re.compile(r"(?:[ \t\r]*+\n)*+")
_FENCE = re.compile(r"\n[ ]{0,3}+(?=[`~])(`{3,}|~{3,})([^\n]*)")


def _passage_cuts(text: str, front: int) -> list[int]:
    """Where the passages of ``text`` start, without the first. Front matter, up to ``front``, is not cut."""
    cuts: list[int] = []
    fences = list(_fences(text, front))
    start = front if front < _SHORTEST else 0
    at = front if front >= _SHORTEST else _next_cut(text, start, fences)
    while 0 < at < len(text):
        cuts.append(at)
        at = _next_cut(text, at, fences)
    return cuts


def _next_cut(text: str, start: int, fences: list[int]) -> int:
    """Where the next passage starts; 0 if this is the last one."""
    for match in _AFTER_BLANK_LINE.finditer(text, start + _SHORTEST - 1, min(start + _SHORTEST + _LONG, len(text))):
        in_fence = bisect_right(fences, match.start()) % 2
        if not in_fence and not _follows_heading(text, start, match.start()):
            return match.end()
    if len(text) - start <= _LONG:
        return 0
    at = text.rfind("\n", start + _SHORTEST, start + _LONG_BLOCK) + 1 or text.find("\n", start + _LONG_BLOCK) + 1
    return _BLANK_LINES.match(text, at).end() if at else 0  # type: ignore[union-attr]  # it matches the empty text too


def _follows_heading(text: str, start: int, end: int) -> bool:
    above = text[max(start, end - _SHORTEST) : end].rstrip()
    return above.startswith("#", above.rfind("\n") + 1)


def _fences(text: str, front: int) -> Iterator[int]:
    """Where fences open and close, in turn."""
    opened = ""
    for match in _FENCE.finditer(text, max(front - 1, 0)):
        marks, rest = match.groups()
        if not opened:
            opened = marks
            yield match.start() + 1
        elif marks.startswith(opened) and not rest.strip():
            opened = ""
            yield match.start() + 1
