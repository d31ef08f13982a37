"""Source to Document: the stage that knows Markdown.

standin.py   the text that the parser reads in place of the source
events.py    the parser's events, in quire's words; the only user of the parser
blocks.py    one walk over the events: blocks at document level, headings
inside.py    what is inside a block, when somebody asks
group.py     directives, math and components: blocks that Markdown knows only in parts
outline.py   headings to sections, with slugs.py
"""

from __future__ import annotations

from quire.model import Document, Source
from quire.parsing import outline
from quire.parsing.blocks import Blocks
from quire.parsing.scan import Scan, scanned
from quire.parsing.standin import stand_in


def document(source: Source, title: str | None = None) -> Document:
    """Parse ``source``; ``title`` overrides what the document says of itself."""
    text, found = "", Scan((), ())  # a text that is not Markdown is one paragraph
    if source.syntax == "markdown":
        text = stand_in(source)
        found = scanned(source, text)
    name = outline.title_of(source, found.headings, title)
    sections = outline.build(source, found.headings, name)
    return Document(
        source=source,
        title=name,
        sections=sections,
        findings=(*source.findings, *outline.findings(source, sections)),
        open_blocks=Blocks(source, text, found),
    )
