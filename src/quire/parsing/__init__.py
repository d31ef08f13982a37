"""Source to Document: the stage that knows Markdown.

line_scan.py     finds plain blocks, headings among them, by regular expressions over whole lines
events.py        asks the parser for everything else; the only user of pyromark
parser_input.py  the text that both read in place of the source
blocks.py        the blocks of a document: the line scan, confirmed by the parser
containers.py    directives, math, components: joins the blocks between an opening and its closing
titles.py        the plain text of headings
heading_tree.py  headings to sections
slugs.py         titles to slugs
inner.py         the blocks inside a block
links.py         the links in inline text
site_generators.py, heading_ids.py  what documentation generators add to Markdown
anchors.py       where a fragment leads: headings by every rule, and ids
"""

from __future__ import annotations

from quire.model import Document, Source, findings_at
from quire.parsing import heading_tree
from quire.parsing.blocks import document_blocks
from quire.parsing.inner import directive_content, inner_blocks, item_content, list_items
from quire.parsing.titles import shortened

__all__ = ["directive_content", "document", "inner_blocks", "item_content", "list_items"]


def document(source: Source, title: str | None = None) -> Document:
    """Parse ``source``; ``title`` overrides the document's own."""
    blocks, headings, notes = document_blocks(source)
    name, note = shortened(heading_tree.document_title(source, headings, title), 0)
    sections = heading_tree.section_columns(source, blocks, headings, name)
    notes += note + heading_tree.empty_headings(sections)
    findings = (*source.findings, *findings_at(source, sorted(notes))) if notes else source.findings
    return Document(source=source, title=name, findings=findings, block_columns=blocks, section_columns=sections)
