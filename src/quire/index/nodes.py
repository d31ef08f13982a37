"""A parsed document to the nodes that the index keeps. Called by ``reading``. Before: ``parsing``. After: ``fields``.

Everything is measured once, in one pass over the text. A node's text goes up to the next node, so that the texts in
order are the whole source; a heading that makes no node stands in the text of the node before it, and is found by
its title on its parent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, islice, pairwise
from typing import Any, NamedTuple

from quire.blank import BLANK
from quire.breadcrumbs import joined, one_line
from quire.counter import TokenCounter
from quire.index.node import Ancestor, Node, Part
from quire.index.parts import LONG, cuts_in
from quire.index.paths import storable
from quire.model import UNTITLED, Document, Section
from quire.offsets import bytes_at, lines_at

_MOST_TAGS = 100
_TAG_KEYS = ("tags", "tag", "keywords")


def cuts_of(document: Document) -> list[list[int]]:
    """Where the parts of each node's text begin but for the first; a short one has none."""
    text, front = document.text, document.source.body_start
    edges = [*(section.start for section in document.nodes), len(text)]
    return [
        cuts_in(text[start:end], max(front - start, 0)) if end - start > LONG else [] for start, end in pairwise(edges)
    ]


def nodes_of(document: Document, tree: str, counter: TokenCounter, cuts: Sequence[list[int]]) -> tuple[Node, ...]:
    """The nodes of a document, in order; the first is the document itself. ``cuts`` is what ``cuts_of`` says of it."""
    whole = _Whole(
        document=document,
        tree=tree,
        path=storable(document.path or UNTITLED),
        tags=_tags(document.source.metadata),
        titles=_titles_without_node(document),
        sizes=_measured(document, counter, cuts),
    )
    made: list[Node] = []
    down: dict[int, tuple[Ancestor, ...]] = {}
    for position, section in enumerate(document.nodes):
        above = None if section.parent is None else made[document.sections[section.parent].position or 0]
        ancestors = () if above is None else down.get(above.position) or _down_to(above, down)
        title = storable(section.title)
        breadcrumb = _breadcrumb(title, above, is_first=section.number == 1)
        crumb_tokens = counter.count(joined(breadcrumb))
        node = whole.node(
            position, section, title=title, ancestors=ancestors, breadcrumb=breadcrumb, crumb_tokens=crumb_tokens
        )
        made.append(node)
    return tuple(made)


class _Sizes(NamedTuple):
    """What is measured of all nodes, each by its position."""

    edges: Sequence[int]
    """Where they start; after them, where the document ends."""
    in_bytes: Sequence[int]
    """The same in bytes of UTF-8."""
    lines: Sequence[int]
    """For each two of them: the line where it starts and its last one that is not blank."""
    texts: Sequence[str]
    counts: Sequence[tuple[int, tuple[Part, ...]]]
    """The tokens of their own texts, and their parts."""
    full_tokens: Sequence[int]
    last: Sequence[int]
    children: Sequence[int]


def _measured(document: Document, counter: TokenCounter, cuts: Sequence[list[int]]) -> _Sizes:
    sections, text = document.nodes, document.text
    starts = [section.start for section in sections]
    edges = [*starts, len(text)]
    texts = [text[start:end] for start, end in pairwise(edges)]
    counts = [_counted(each, inside, counter) for each, inside in zip(texts, cuts, strict=True)]
    before = [0, *accumulate(tokens for tokens, _ in counts)]
    seams = [0, *accumulate(not counter.cuts_cleanly(text, start) for start in starts[1:])]
    last = _last_below(sections)
    return _Sizes(
        edges=edges,
        in_bytes=bytes_at(text, edges),
        lines=lines_at(text, _ascending(starts, texts)),
        texts=texts,
        counts=counts,
        full_tokens=[
            before[below + 1] - before[position]
            if seams[below] == seams[position]
            else counter.count(text[edges[position] : edges[below + 1]])
            for position, below in enumerate(last)
        ],
        last=last,
        children=_children(sections),
    )


class _Whole(NamedTuple):
    """A document, with what its nodes are made of."""

    document: Document
    tree: str
    path: str
    tags: tuple[str, ...]
    titles: Mapping[int, Sequence[str]]
    """Those of headings that make no node, by the number of the section that is found by them."""
    sizes: _Sizes

    def node(
        self,
        position: int,
        section: Section,
        *,
        title: str,
        ancestors: tuple[Ancestor, ...],
        breadcrumb: tuple[str, ...],
        crumb_tokens: int,
    ) -> Node:
        sizes = self.sizes
        below, start, end = sizes.last[position], section.start, sizes.edges[position + 1]
        body = section.body_start - start if ancestors else self.document.source.body_start
        slug, anchor = section.slug, section.anchor
        tokens, parts = sizes.counts[position]
        return Node(
            tree=self.tree,
            path=self.path,
            slug=slug,
            title=title,
            depth=section.depth,
            position=position,
            last=below,
            children=sizes.children[position],
            ancestors=ancestors,
            breadcrumb=breadcrumb,
            start=start,
            end=end,
            full_end=sizes.edges[below + 1],
            byte_start=sizes.in_bytes[position],
            byte_full_end=sizes.in_bytes[below + 1],
            line=sizes.lines[2 * position],
            last_line=sizes.lines[2 * position + 1],
            full_last_line=sizes.lines[2 * below + 1],
            body=min(body, end - start),
            text=sizes.texts[position],
            tokens=tokens,
            full_tokens=sizes.full_tokens[position],
            crumb_tokens=crumb_tokens,
            parts=parts,
            tags=self.tags,
            body_end=min(section.body_end, end) - start,
            titles=tuple(map(storable, self.titles.get(section.number, ()))),
            anchor="" if anchor == slug else storable(anchor),
        )


def _last_below(sections: Sequence[Section]) -> list[int]:
    """For each node, the position of the last one below it, or its own."""
    last = list(range(len(sections)))
    waiting: list[int] = []
    for position, section in enumerate(sections):
        while waiting and sections[waiting[-1]].depth >= section.depth:
            last[waiting.pop()] = position - 1
        waiting.append(position)
    for position in waiting:
        last[position] = len(sections) - 1
    return last


def _children(sections: Sequence[Section]) -> list[int]:
    places = {section.number: position for position, section in enumerate(sections)}
    children = [0] * len(sections)
    for section in sections:
        if section.parent is not None:
            children[places[section.parent]] += 1
    return children


def _ascending(starts: Sequence[int], texts: Sequence[str]) -> Iterator[int]:
    """For each node its first character and its last one that is not blank."""
    for start, text in zip(starts, texts, strict=True):
        yield start
        yield start + max(len(text.rstrip(BLANK)) - 1, 0)


def _down_to(node: Node, known: dict[int, tuple[Ancestor, ...]]) -> tuple[Ancestor, ...]:
    """From the document down to a node, made once for all the nodes below it."""
    made = (*node.ancestors, Ancestor(position=node.position, depth=node.depth, children=node.children))
    known[node.position] = made
    return made


def _breadcrumb(title: str, above: Node | None, *, is_first: bool) -> tuple[str, ...]:
    """The titles down to a node; the document's first heading is left out where it says what the title says."""
    if above is not None and is_first and title == above.title:
        return above.breadcrumb
    line = one_line(title)
    return (*(above.breadcrumb if above is not None else ()), *((line,) if line else ()))


def _titles_without_node(document: Document) -> dict[int, list[str]]:
    """The titles of headings that make no node, by the number of the nearest node above."""
    found: dict[int, list[str]] = {}
    for section in document.sections:
        if section.position is None and section.title:
            above = section
            while above.position is None and above.parent is not None:
                above = document.sections[above.parent]
            found.setdefault(above.number, []).append(section.title)
    return found


def _tags(metadata: Any) -> tuple[str, ...]:
    """The tags that front matter names, each once, as a list or as one text with commas; every node has them."""
    named = (each for key in _TAG_KEYS for each in _listed(metadata.get(key)))
    tags = (storable(one_line(each)) for each in islice(named, _MOST_TAGS))
    return tuple(dict.fromkeys(tag for tag in tags if tag))


def _listed(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        return value.split(",")
    if isinstance(value, list):
        return [str(each) for each in value if isinstance(each, str | int | float) and not isinstance(each, bool)]
    return [str(value)] if isinstance(value, int | float) and not isinstance(value, bool) else ()


def _counted(text: str, cuts: list[int], counter: TokenCounter) -> tuple[int, tuple[Part, ...]]:
    """How many tokens a node's text has, and its parts if it is cut; what can be added up is not counted twice."""
    if not cuts:
        return counter.count(text), ()
    spans = pairwise((0, *cuts, len(text)))
    parts = tuple([Part(start, end, counter.count(text[start:end])) for start, end in spans])
    if all(counter.cuts_cleanly(text, at) for at in cuts):
        return sum(part.tokens for part in parts), parts
    return counter.count(text), parts
