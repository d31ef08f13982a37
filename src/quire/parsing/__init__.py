"""Source to Document: the stage that knows Markdown.

headings.py  the headings, by the few lines that tell; titles.py has their plain text
outline.py   headings to sections, with slugs.py
blocks.py    the blocks of a section, when somebody asks; skeleton.py sees most of them
inside.py    what is inside a block, when somebody asks
scan.py      the parser's events, walked over where lines do not tell
events.py    those events, in quire's words; the only user of the parser
standin.py   the text that the parser reads in place of the source
formulas.py  display math, which may look like headings
tables.py    tables that the parser does not see
group.py     directives, math and components: blocks that Markdown knows only in parts
"""

from __future__ import annotations

from collections.abc import Sequence

from quire.model import Document, Source
from quire.parsing import outline
from quire.parsing.blocks import Blocks
from quire.parsing.headings import plain_headings
from quire.parsing.scan import Top, scanned
from quire.parsing.standin import stand_in


def document(source: Source, title: str | None = None) -> Document:
    """Parse ``source``; ``title`` overrides what the document says of itself."""
    headings, tops = _headings(source)
    headings, name, shortened = outline.short_titles(source, headings, title)
    sections = outline.build(source, headings, name)
    return Document(
        source=source,
        title=name,
        sections=sections,
        findings=(*source.findings, *shortened, *outline.findings(source, sections)),
        open_blocks=Blocks(source, headings, tops),
    )


def _headings(source: Source) -> tuple[Sequence[outline.Heading], Sequence[Top] | None]:
    """The headings, and what stands at document level, if that had to be found for them."""
    if source.syntax != "markdown":
        return (), None
    headings = plain_headings(source)
    if headings is not None:
        return headings, None
    found = scanned(source, stand_in(source.text[source.markdown_start :]))
    return found.headings, found.tops
