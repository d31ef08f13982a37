"""A parsed document to the nodes that the index stores.

A node's text ends where the next node starts, so the texts in order are the whole source. A heading without text is no
node: it is part of the text of the node before it, and its title is searchable through its parent.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate, chain, pairwise

from quire.breadcrumbs import joined, one_line
from quire.counter import TokenCounter
from quire.index.file_records import storable
from quire.index.node import Node, PassageSpan
from quire.model import UNTITLED, Document, Source
from quire.offsets import BLANK, bytes_at, line_start, lines_at
from quire.substitutions import substitute
from quire.wire.forms import front_matter_tags

_MAX_TAGS = 100
_MAX_DESCRIPTION = 1_000  # in characters; all sections of a document repeat it


def build_nodes(document: Document, tree: str, counter: TokenCounter) -> tuple[Node, ...]:
    """The nodes of a document in order; the first is the document itself."""
    sections, text = document.nodes, document.text
    starts = [section.start for section in sections]
    edges = [*starts, len(text)]
    texts = [text[start:end] for start, end in pairwise(edges)]
    counts = [
        _count(own_text, _passage_starts(document, start, end), counter)
        for own_text, (start, end) in zip(texts, pairwise(edges), strict=True)
    ]
    parents = [
        None if section.parent is None else document.sections[section.parent].position or 0 for section in sections
    ]
    children, last = Counter(parents), _last_below(parents)
    full_tokens = _full_tokens(text, edges, [tokens for tokens, _ in counts], last, counter)
    in_bytes = bytes_at(text, edges)
    lasts = [
        start + max(len(text_of_node.rstrip(BLANK)) - 1, 0) for start, text_of_node in zip(starts, texts, strict=True)
    ]
    lines = lines_at(text, chain.from_iterable(zip(starts, lasts, strict=True)))  # of first and last characters
    path = storable(document.path or UNTITLED)
    tags = tuple([storable(tag) for tag in front_matter_tags(document.source.metadata)[:_MAX_TAGS]])
    titles = _titles_without_node(document)
    nodes: list[Node] = []
    for position, section in enumerate(sections):
        parent = None if (above := parents[position]) is None else nodes[above]
        ancestors = () if parent is None else (*parent.ancestors, parent.position)
        start, end, below = section.start, edges[position + 1], last[position]
        title, slug, anchor = storable(section.title), section.slug, section.anchor
        breadcrumb = _breadcrumb(title, parent, is_first=section.number == 1)
        tokens, passages = counts[position]
        body = section.body_start - start if ancestors else document.source.body_start
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
                description="" if ancestors else _description(document.source),
                anchor="" if anchor == slug else storable(anchor),
                words=_words(document, start + min(body, end - start), min(section.body_end, end)),
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
    titles: dict[int, list[str]] = {}
    for section in document.sections:
        if section.position is None and section.title:
            above = section
            while above.position is None and above.parent is not None:
                above = document.sections[above.parent]
            titles.setdefault(above.number, []).append(section.title)
    return titles


def _description(source: Source) -> str:
    description = source.metadata.get("description")
    if not isinstance(description, str):
        return ""
    return storable(one_line(substitute(description, source.substitutions))[:_MAX_DESCRIPTION])


def _words(document: Document, start: int, end: int) -> str:
    """A text with the values of its variables; empty if it has none."""
    text, variables = document.text[start:end], document.source.substitutions
    words = substitute(text, variables) if variables else text
    return storable(words) if words != text else ""


def _count(text: str, starts: Sequence[int], counter: TokenCounter) -> tuple[int, tuple[PassageSpan, ...]]:
    """The tokens of a node's text, and its passages if it has several. Counts are added up where that is exact."""
    if not starts:
        return counter.count(text), ()
    spans = pairwise((0, *starts, len(text)))
    passages = tuple([PassageSpan(start, end, counter.count(text[start:end])) for start, end in spans])
    if all(counter.cuts_cleanly(text, start) for start in starts):
        return sum([passage.tokens for passage in passages]), passages
    return counter.count(text), passages


# Passages: a long node is cut before a block that does not follow a heading, once enough text is before it. A long
# block is cut below a blank line, else at a line end. Sizes are in characters.

_LONG = 800  # a longer node, of some 200 tokens, has passages
_SHORTEST = 250  # about how long a passage is at least: a single sentence is a poor answer
_LONG_BLOCK = 500  # about how much of a block that must be cut goes into one passage
_BELOW_BLANK_LINE = re.compile(r"\n[ \t\r]*+\n(?=\S)")


def _passage_starts(document: Document, start: int, end: int) -> list[int]:
    """Where the passages of a node start, relative to its start; without the first."""
    if end - start <= _LONG:
        return []
    text, (kinds, block_starts, block_ends, _) = document.text, document.block_columns
    cuts = [start]
    for number in range(bisect_left(block_starts, start), bisect_left(block_starts, end)):
        block_start, block_end = line_start(text, block_starts[number]), block_ends[number]
        if block_start - cuts[-1] >= _SHORTEST and (not number or kinds[number - 1] != "heading"):
            cuts.append(block_start)
        is_long = block_end - block_start > _LONG
        while is_long and block_end - cuts[-1] > _LONG_BLOCK and (cut := _cut_in_block(text, cuts[-1], block_end)):
            cuts.append(cut)
    return [cut - start for cut in cuts[1:]]


def _cut_in_block(text: str, start: int, end: int) -> int:
    """Where the next passage starts in a block that is too long; 0 if it has no more lines."""
    if below := _BELOW_BLANK_LINE.search(text, start + _SHORTEST, min(start + _LONG, end)):
        return below.end()
    cut = text.rfind("\n", start + _SHORTEST, start + _LONG_BLOCK) + 1
    return cut or text.find("\n", start + _LONG_BLOCK, end) + 1
