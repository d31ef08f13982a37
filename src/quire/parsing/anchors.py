"""Where a fragment such as ``#install`` leads in a document: to a section, or to an HTML anchor in one."""

from __future__ import annotations

import re

from quire.model import Document
from quire.parsing.slugs import RULES, anchors, heading_ids

_HTML_ID = r"""<[^<>]*\b(?:id|name)[ \t]*=[ \t]*["']?{}["'\s>/]"""


def find_anchor(document: Document, fragment: str, rule: str = "github") -> int | None:
    """The position of the section or HTML anchor that ``fragment`` leads to; ``rule`` is tried before other rules."""
    for section in document.sections[1:]:
        if fragment in (section.anchor, section.slug):
            return section.start
    titles = [section.title for section in document.sections[1:]]
    for given in (heading_ids(document), [""] * len(titles)):  # the slug that a title would make finds its section, too
        for name in dict.fromkeys((rule, *RULES)):
            made = anchors(name, titles, given)
            if fragment in made:
                return document.sections[made.index(fragment) + 1].start
    found = re.search(_HTML_ID.format(re.escape(fragment)), document.text)
    return found.start() if found else None
