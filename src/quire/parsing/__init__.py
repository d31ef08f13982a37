"""Source to Document: the stage that knows Markdown.

line_scan.py     finds plain blocks, headings among them, by regular expressions over whole lines
events.py        asks the parser for everything else; the only user of pyromark
parser_input.py  the text that both read in place of the source
blocks.py        the blocks of a document: the line scan, confirmed by the parser
containers.py    directives, math, components: joins the blocks between an opening and its closing
titles.py        the plain text of headings
outline.py       headings to sections
slugs.py         titles to slugs
inner.py         the blocks inside a block
links.py         the links in inline text
anchors.py       where a fragment leads: headings by every rule, and ids
"""

from __future__ import annotations

from quire.model import BlockColumns, Document, SectionColumns, Source, findings_at
from quire.parsing import heading_tree
from quire.parsing.anchors import find_anchor
from quire.parsing.blocks import document_blocks
from quire.parsing.inner import container_blocks, inner_blocks
from quire.parsing.titles import shortened

__all__ = ["container_blocks", "document", "find_anchor", "inner_blocks"]


def document(source: Source, title: str | None = None) -> Document:
    """Parse ``source``; ``title`` overrides the document's own."""
    blocks, notes = document_blocks(source)
    headings = [number for number, block in enumerate(blocks) if block[0] == "heading"]
    name, note = shortened(heading_tree.document_title(source, [blocks[number] for number in headings], title), 0)
    notes += note
    sections = heading_tree.sections(source, blocks, headings, name)
    notes += heading_tree.empty_headings(sections)
    return Document(
        source=source,
        title=name,
        findings=(*source.findings, *findings_at(source, sorted(notes))) if notes else source.findings,
        block_columns=BlockColumns(
            [block.kind for block in blocks],
            [block.start for block in blocks],
            [block.end for block in blocks],
            {number: block.info for number, block in enumerate(blocks) if block.kind == "directive"},
        ),
        section_columns=SectionColumns(
            [each.start for each in sections],
            [each.depth for each in sections],
            [-1 if each.parent is None else each.parent for each in sections],
            [each.end for each in sections],
            [each.body_start for each in sections],
            [each.text_start for each in sections],
            [each.text_end for each in sections],
            [-1 if each.position is None else each.position for each in sections],
            [each.title for each in sections],
            ["", *(blocks[number].id for number in headings)],
            [each.slug for each in sections],
            [each.anchor for each in sections],
            [-1, *headings],
        ),
    )
