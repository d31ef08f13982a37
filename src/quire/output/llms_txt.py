"""llms.txt and llms-full.txt: the documents of trees with the addresses of their published pages."""

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from quire.model.dialects import INDEX_NAMES
from quire.model.document import Document


class PublishedPage(NamedTuple):
    """A document and the address of its page."""

    document: Document
    tree: str
    url: str

    @property
    def description(self) -> str:
        """What its front matter says about it, on one line."""
        return " ".join(str(self.document.frontmatter.get("description") or "").split())


def llms_txt(title: str, pages: Sequence[PublishedPage]) -> str:
    """The list of all pages, grouped by folder; a page that introduces everything gives the title and the summary."""
    paths = [page.document.path or "" for page in pages]
    is_first = [posixpath.splitext(path)[0].lower() in INDEX_NAMES for path in paths]
    first = pages[is_first.index(True)] if any(is_first) else None
    groups: dict[str, list[str]] = {}
    for page, path in zip(pages, paths, strict=True):
        about = f": {page.description}" if page.description else ""
        name = path.split("/")[0] if "/" in path else page.tree
        link_text = re.sub(r"([\[\]\\])", r"\\\1", page.document.title)
        groups.setdefault(name, []).append(f"- [{link_text}]({page.url}){about}")
    head = [f"# {first.document.title if first else title}"]
    head += [f"> {first.description}"] if first and first.description else []
    return "\n\n".join([*head, *(f"## {name}\n\n" + "\n".join(lines) for name, lines in groups.items())]) + "\n"


def llms_full_txt(pages: Iterable[PublishedPage]) -> Iterator[str]:
    """The texts of all pages without their front matter, each below its title and its address."""
    for page in pages:
        title, source = f"# {page.document.title}", page.document.source
        text = source.text[source.body_start :].strip("\r\n")
        text = text.removeprefix(title).lstrip("\r\n")
        yield f"{title}\n\nSource: {page.url}\n\n{text}\n\n"
