"""The title of a document: the caller's, else front matter's, else the first H1, else the file name, else empty.

If there is no H1 in Markdown, the first one in HTML counts: ``<h1 align="center">Title</h1>`` is common on GitHub.
"""

import re
from bisect import bisect_right
from html import unescape

from quire.model.document import BlockColumns, Source, doc_name
from quire.model.substitutions import title_text
from quire.parsing.headings import Headings

_HTML_H1 = re.compile(r"<h1(?:\s[^<>]*)?>(.{1,2000}?)</h1\s*>", re.IGNORECASE | re.DOTALL)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_TAG = re.compile(r"""<img\b[^<>]*?\balt\s*=\s*(?:"([^"<>]*)"|'([^'<>]*)')[^<>]*>|<[^<>]*>""", re.IGNORECASE)


def document_title(source: Source, blocks: BlockColumns, headings: Headings, title: str | None) -> str:
    """The first of these that there is; ``title`` is the caller's."""
    if title is not None:
        return title
    stated = source.frontmatter.get("title")
    if type(stated) in (str, int, float) and (words := str(stated).split()):
        return title_text(" ".join(words), source.substitutions)
    first = headings.titles[headings.levels.index(1)] if 1 in headings.levels else _html_title(source, blocks)
    return first if first or source.path is None else doc_name(source.path.rstrip("/").rpartition("/")[2])


def _html_title(source: Source, blocks: BlockColumns) -> str:
    """The text of the first ``<h1>`` that has any, with the texts of images; empty if there is none."""
    text = source.text
    if source.syntax != "markdown" or not ("<h1" in text or "<H1" in text):
        return ""
    without_comments = _COMMENT.sub(lambda comment: " " * len(comment[0]), text)
    for heading in _HTML_H1.finditer(without_comments, source.body_start):
        block = bisect_right(blocks.starts, heading.start()) - 1
        # Code may show HTML; a paragraph may begin with a tag that is no block: <a href="…"><h1>Title</h1></a>.
        is_html = blocks.kinds[block] in ("html", "directive") or text.startswith("<", blocks.starts[block])
        plain = _TAG.sub(lambda tag: tag[1] or tag[2] or " ", heading[1])
        if is_html and (words := unescape(plain).split()):
            return " ".join(words)
    return ""
